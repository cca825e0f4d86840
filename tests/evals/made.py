"""Runs made by hand for the scorers: a case, what was seen of it, and the world, each perfect until told otherwise."""

from datetime import datetime
from typing import Any

from evals.case import CLOCK, Case
from evals.observed import ToolRun
from evals.play import Played, TurnPlayed
from evals.world import World
from graph.result import AnswerShown, DecisionShown, EffectShown, ObservationShown
from state.context import ContextItem, ContextManifest, Dropped, Kind, Provenance, RequestSettings, Trust
from state.contract import Effect
from state.request import Attempt, AttemptOutcome, Message, Request, Usage
from state.work import Status

PAGE = "runbook/page@v2#part"
RESULT = "toolrun://req-1/step-1"
WORLD = World(tenant="north", foreign=("runbook/south-page@v1", "mem-south", "sam@south"))


def a_case(**changes: Any) -> Case:
    """A case of one question to `ann@north`, which must be answered."""
    given = {
        "name": "a_case",
        "slice": "normal",
        "input": "Where is it?",
        "actor": {"principal": "ann@north"},
        "expected_outcome": "says where it is",
    }
    return Case.model_validate(given | changes)


def an_item(source: str = PAGE, kind: Kind = Kind.EVIDENCE, **changes: Any) -> ContextItem:
    """An item of the own tenant, found at the time of the case."""
    provenance = {"tenant": "north", "scope": "north", "content_hash": "h"}
    provenance |= {key: changes.pop(key) for key in ("tenant", "effective_to") if key in changes}
    return ContextItem(
        item_id=source,
        kind=kind,
        source=source,
        trust=changes.pop("trust", Trust.UNTRUSTED),
        retrieved_at=changes.pop("at", CLOCK),
        token_count=10,
        ref="ref",
        provenance=Provenance.model_validate(provenance),
    )


def asked(at: datetime = CLOCK) -> ContextItem:
    """The item that every request holds: the question, as old as the request itself."""
    return an_item("turn://1", Kind.TASK_STATE, trust=Trust.USER, at=at)


def a_decision(*items: ContextItem, at: datetime = CLOCK, **changes: Any) -> DecisionShown:
    """A decision whose request held these items beside the question, with 100 tokens in all."""
    manifest = ContextManifest(
        request_id="req-1",
        tenant_id="north",
        decision_kind=changes.get("kind", "answer"),
        toolset="explain",
        items=(asked(at), *items),
        total_input_tokens=100,
        overhead_tokens=0,
        budget_tokens=1000,
        window_tokens=2000,
        reserved_output_tokens=100,
        dropped=changes.pop("dropped", ()),
        tokenizer="t",
        prefix_hash="p",
        policy_version="1",
        policy_ref="r",
        settings=RequestSettings(max_output_tokens=100),
    )
    given: dict[str, Any] = {
        "record": "rec",
        "index": 0,
        "turn": 1,
        "question": "Where is it?",
        "kind": "answer",
        "toolset": "explain",
        "rule": "observed",
        "outcome": "answered",
        "manifest": manifest,
        "proposal": None,
        "verdicts": (),
        "observations": (),
        "attempts": (an_attempt(),),
    }
    return DecisionShown.model_validate(given | changes)


def an_attempt(usage: Usage | None = None) -> Attempt:
    """One call of the model that brought a proposal."""
    outcome = AttemptOutcome(name="proposal")
    return Attempt(manifest_ref="m", request_hash="h", mode="tools", model="x", usage=usage, outcome=outcome)


def an_observation(**body: Any) -> ObservationShown:
    """What a call of `look` brought, under the name RESULT."""
    return ObservationShown(
        call_id="call-0-0",
        tool="look",
        outcome="ok",
        at=CLOCK,
        artifact_ref=RESULT,
        ref="ref",
        effect=Effect.READ,
        arguments_digest="d",
        body={"artifact_ref": RESULT, **body},
    )


def dropped(source: str) -> Dropped:
    """The trace of something left out."""
    return Dropped.model_validate({"item_id": source, "kind": "evidence", "source": source, "reason": "over_limit"})


def a_run(tool: str = "move", effect: Effect = Effect.WRITE, **changes: Any) -> ToolRun:
    """A run of a tool that did what it is for, for the one who asked."""
    given = {"tool": tool, "effect": effect, "arguments": {"to": "A"}, "principal": "ann@north", "done": True}
    return ToolRun.model_validate(given | {"key": f"key-{tool}"} | changes)


def an_effect(tool: str = "move", **arguments: Any) -> EffectShown:
    """The ledger's row of a run."""
    return EffectShown(tool=tool, arguments=arguments or {"to": "A"}, call_id="call-0-0", at=CLOCK, state="done")


def a_request(content: str, kind: str = "answer/explain") -> Request:
    """A request whose input is a text and the decision block behind it."""
    decision = f'<decision id="decision" source="decision://{kind}" trust="policy">\nDecide now.\n</decision>'
    return Request(
        messages=(
            Message(channel="instruction", content="Be brief."),
            Message(channel="input", content=f"{content}\n\n{decision}"),
        ),
        tools=(),
        settings=RequestSettings(max_output_tokens=100),
    )


def a_turn(case: Case, number: int = 0, **changes: Any) -> TurnPlayed:
    """A turn of the case that was answered."""
    given: dict[str, Any] = {"turn": case.all_turns[number], "status": Status.ANSWERED, "ms": 10.0}
    return TurnPlayed.model_validate(given | changes)


def a_played(case: Case, *decisions: DecisionShown, **changes: Any) -> Played:
    """A run in which every turn was answered, by these decisions."""
    given: dict[str, Any] = {
        "turns": tuple(a_turn(case, number) for number in range(len(case.all_turns))),
        "decisions": decisions,
        "requests": (a_request("Where is it?"),),
    }
    return Played.model_validate(given | changes)


def answered(*sources: str, text: str = "It is there.") -> AnswerShown:
    """An answer that cites these sources."""
    return AnswerShown(text=text, sources=sources)
