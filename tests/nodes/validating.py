"""The validate node with a person who answers from a script, and cases for its rules."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pydantic import JsonValue

from nodes.validate import Reads, Writes, make_validate
from nodes.validate.case import Case
from nodes.validate.opened import Opened
from state.checks.binding import arguments_digest
from state.checks.origin import Shown
from state.context import Packed, Trust
from state.policy import Policy
from state.run import Scope
from state.verdict import Verdict
from state.work import ToolCall
from tests.desk import POLICY, SCOPE, Desk
from tests.fakes import NOW
from tests.nodes.parts import QUESTION, Parts, decision

TURN = (Shown("objective", Trust.USER, QUESTION),)


class Asked(AssertionError):
    """A person was asked though the script has no answer."""


class Validating:
    """validate on one desk. `questions` holds what a person was shown."""

    def __init__(self, parts: Parts, *answers: Any, policy: Policy = POLICY) -> None:
        self.parts, self._answers = parts, list(answers)
        self.questions: list[Any] = []
        self.node = make_validate(
            artifacts=parts.artifacts,
            log=parts.log,
            ledger=parts.ledger,
            quotas=parts.quotas,
            memory=parts.memory,
            secrets=parts.secrets,
            clock=parts.clock,
            pause=self._pause,
            contracts=parts.desk.contracts,
            policies=[policy],
            resources=parts.desk.resources,
            preconditions=parts.desk.preconditions,
        )

    def _pause(self, question: dict[str, JsonValue]) -> Any:
        self.questions.append(question)
        if not self._answers:
            raise Asked
        return self._answers.pop(0)

    def run(
        self,
        proposal: str,
        verdicts: Sequence[Verdict] | None = None,
        scope: Scope = SCOPE,
        manifest: Packed | None = None,
        decided: dict[str, Any] | None = None,
        opened: Sequence[str] = (),
        **reads: Any,
    ) -> tuple[Verdict, ...]:
        """The verdicts. `opened` are the steps of a plan lap before this one, `decided` changes the
        decision."""
        head = self.parts.planned(*opened) if opened else None
        given: dict[str, Any] = {
            "request": self.parts.request(parent=head),
            "decision": decision(**(decided or {})),
            "task": self.parts.task(),
            "manifest": manifest or self.parts.manifest(),
            **reads,
        }
        wrote = self.node.run(
            Reads(proposal=proposal, verdicts=None if verdicts is None else tuple(verdicts), **given), scope
        )
        assert isinstance(wrote, Writes)
        return wrote.verdicts


def case(desk: Desk, tool: str = "refund", arguments: dict[str, JsonValue] | None = None, **changes: Any) -> Case:
    """A call under judgement that every rule lets pass, until a change."""
    given: dict[str, JsonValue] = {"order": "A1", "amount": 50} if arguments is None else arguments
    parts = Parts()
    made: dict[str, Any] = {
        "call": ToolCall(call_id="c1", tool=tool, arguments=given),
        "arguments": given,
        "contract": desk.contracts[tool],
        "decision": decision(),
        "request": parts.request(),
        "scope": SCOPE,
        "task": parts.task(),
        "policy": POLICY,
        "shown": TURN,
        "owns": dict(desk.resources),
        "holds": dict(desk.preconditions),
        "masked": parts.secrets.masked,
        "over": (),
        "opened": Opened("plan", Counter({tool: 1}), {tool: (0,)}),
        "read": (),
        "earlier": (),
        "now": NOW,
        "digest": arguments_digest(tool, given),
        "bound": "this call",
        **changes,
    }
    return Case(**made)
