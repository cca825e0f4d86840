"""What all calls of a lap are judged by, and the case of each call that it makes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import JsonValue

from nodes.validate.case import Case
from nodes.validate.deed import Deed, told_apart
from nodes.validate.exceeded import exceeded
from nodes.validate.opened import Opened
from nodes.validate.provenance import Past
from nodes.validate.repeats import Elsewhere, Repeats, repeats
from state.canonical import canonical_json
from state.checks.binding import arguments_digest, call_digest
from state.checks.known import Row
from state.checks.origin import Shown
from state.checks.quote import unquoted
from state.contract import ToolContract
from state.domain import Holds, Owns
from state.policy import Policy
from state.ports import Clock, Quotas
from state.run import RequestContext, Scope
from state.task import TaskState
from state.tools import Observation
from state.verdict import Allowed, Denied, Verdict
from state.work import Decision, ToolCall


@dataclass(frozen=True)
class Lap:
    """One proposal under judgement. `body` reads what is stored under an address; the rest is as in Case."""

    contracts: Mapping[str, ToolContract]
    resources: Mapping[str, Owns]
    preconditions: Mapping[str, Holds]
    masked: Callable[[str], str]
    quotas: Quotas
    clock: Clock
    body: Callable[[str], str]
    calls: tuple[ToolCall, ...]
    request: RequestContext
    decision: Decision
    scope: Scope
    task: TaskState
    policy: Policy
    shown: tuple[Shown, ...]
    rows: tuple[Row, ...]
    opened: Opened
    read: tuple[Observation, ...]
    changed: frozenset[str]
    before: Past
    elsewhere: tuple[Elsewhere, ...]
    unsettled: tuple[Elsewhere, ...]
    disputed: bool
    lapsed: bool

    def case(self, call: ToolCall, verdicts: Sequence[Verdict] = ()) -> Case | None:
        """The case of a call as it was proposed; None for a tool that there is not. `verdicts` say what persons made
        of the calls before it."""
        if (contract := self.contracts.get(call.tool)) is None:
            return None
        arguments = unquoted(call.arguments, self.body)
        earlier = as_edited_before(self.calls[: self.calls.index(call)], verdicts)
        bound, now = self._bound(call, contract, arguments), self.clock.now()
        return Case(
            call=call,
            arguments=arguments,
            contract=contract,
            decision=self.decision,
            request=self.request,
            scope=self.scope,
            task=self.task,
            policy=self.policy,
            shown=self.shown,
            rows=self.rows,
            owns=dict(self.resources),
            holds=dict(self.preconditions),
            masked=self.masked,
            over=self._over(contract, arguments, earlier, now),
            opened=self.opened,
            read=self.read,
            earlier=earlier,
            changed=self.changed,
            disputed=self.disputed,
            lapsed=self.lapsed,
            repeats=self._repeats(contract, arguments, earlier, bound),
            now=now,
            digest=arguments_digest(call.tool, arguments),
            bound=bound,
        )

    def as_edited(self, case: Case, arguments: dict[str, JsonValue], verdicts: Sequence[Verdict] = ()) -> Case:
        """The case with the arguments that a person wrote: another call, under a name of its own.

        What the person changed are the person's own words; what was left keeps its origin. What a person made of the
        other calls of the proposal is settled for it too: one was not asked about the other.
        """
        bound = self._bound(case.call, case.contract, arguments)
        found = self._repeats(case.contract, arguments, case.earlier, bound)
        settled = found.settled or told_apart(case.contract, arguments).among(self._settled(case.call, verdicts))
        return replace(
            case,
            arguments=arguments,
            digest=arguments_digest(case.call.tool, arguments),
            bound=bound,
            over=self._over(case.contract, arguments, case.earlier, case.now),
            repeats=found._replace(settled=settled),
            typed=frozenset(name for name in arguments if not left(case, name, arguments)),
        )

    def _settled(self, call: ToolCall, verdicts: Sequence[Verdict]) -> Iterator[Deed]:
        """What the other calls that a person rejected or edited were to do."""
        persons = {
            one.call_id
            for one in verdicts
            if (isinstance(one, Denied) and one.approval) or (isinstance(one, Allowed) and one.edited is not None)
        } - {call.call_id}
        for other in self.calls:
            if other.call_id in persons:
                yield told_apart(self.contracts[other.tool], unquoted(other.arguments, self.body))

    def _bound(self, call: ToolCall, contract: ToolContract, arguments: dict[str, JsonValue]) -> str:
        parent, version = self.request.parent, self.policy.version
        return call_digest(self.scope, parent, call.call_id, arguments, contract, version)

    def _over(
        self, contract: ToolContract, arguments: Mapping[str, JsonValue], earlier: Sequence[ToolCall], now: datetime
    ) -> tuple[str, ...]:
        before = [unquoted(one.arguments, self.body) for one in earlier if contract.rates and one.tool == contract.name]
        return exceeded(self.quotas, contract, [*before, arguments], self.scope, self.request, self.policy, now)

    def _repeats(
        self, contract: ToolContract, arguments: Mapping[str, JsonValue], earlier: Sequence[ToolCall], bound: str
    ) -> Repeats:
        given = (self.contracts, self.body, self.before.deeds, self.elsewhere, self.unsettled, bound)
        return repeats(contract, arguments, earlier, *given)


def as_edited_before(calls: Sequence[ToolCall], verdicts: Sequence[Verdict]) -> tuple[ToolCall, ...]:
    """Calls as they are to run: those that a person edited with what the person made of them."""
    edits = {one.call_id: one.edited for one in verdicts if isinstance(one, Allowed) and one.edited is not None}
    return tuple(
        call.model_copy(update={"arguments": edits[call.call_id]}) if call.call_id in edits else call for call in calls
    )


def left(case: Case, name: str, arguments: Mapping[str, JsonValue]) -> bool:
    """Whether an argument is as it was proposed, to the byte: True is not 1."""
    return name in case.arguments and canonical_json(arguments[name]) == canonical_json(case.arguments[name])
