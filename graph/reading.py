"""From records and the open lap to what a caller sees: everything a turn was given, proposed, was allowed, did."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from langgraph.types import Interrupt
from pydantic import JsonValue, TypeAdapter, ValidationError

from graph.channels import NEXT_STEP, Channels, StateUnreadable
from graph.masking import masked
from graph.result import AnswerShown, DecisionShown, EffectShown, ObservationShown, PendingCall, RunResult
from state.asking import CORRECTABLE
from state.checks.quote import unquoted
from state.context import ContextManifest
from state.policy import Policy
from state.ports import ArtifactGone, Artifacts, Ledger, RecordDamaged
from state.record import DecisionRecord
from state.run import Scope
from state.verdict import Allowed, Denied, Verdict
from state.work import PROPOSAL, Act, Answer, Clarify, Escalate, LapOutcome, Proposal, Status

GONE = "gone"
Body = TypeVar("Body")
_RESULT: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


class Reading:
    """Reads bodies in one tenant's space; a body erased on purpose shows as `gone`, never as an error."""

    def __init__(self, artifacts: Artifacts, ledger: Ledger, scope: Scope) -> None:
        self._artifacts, self._ledger, self._scope = artifacts, ledger, scope

    def body(self, ref: str) -> str | None:
        """The body at an address, or None when it was erased."""
        try:
            return self._artifacts.get(self._scope.tenant, ref)
        except ArtifactGone:
            return None

    def manifest(self, ref: str | None) -> ContextManifest | None:
        """The manifest at an address. Raises RecordDamaged for one of another release, or one that was changed."""
        return self._typed(ref, ContextManifest.model_validate_json)

    def policy(self, ref: str | None) -> Policy | None:
        """The policy record at an address. Raises RecordDamaged as `manifest` does."""
        return self._typed(ref, Policy.model_validate_json)

    def proposal(self, ref: str | None) -> Proposal | None:
        """The proposal at an address. Raises RecordDamaged as `manifest` does."""
        return self._typed(ref, PROPOSAL.validate_json)

    def _typed(self, ref: str | None, read: Callable[[str], Body]) -> Body | None:
        text = self.body(ref) if ref else None
        try:
            return None if text is None else read(text)
        except ValidationError:
            raise RecordDamaged(
                f"thread {self._scope.thread}: the body at {ref} has a shape this version does not know; go on with "
                "the release that wrote it, or run `agent verify` on the thread to see what was changed"
            ) from None

    def shown(self, proposal: Proposal | None, verdicts: Sequence[Verdict]) -> dict[str, JsonValue] | None:
        """A proposal as JSON. Arguments of refused calls stay references: a refused id is repeated nowhere, nor is a
        secret."""
        if proposal is None:
            return None
        plain: dict[str, JsonValue] = proposal.model_dump(mode="json")
        if isinstance(proposal, Act):
            refused = {verdict.call_id for verdict in verdicts if isinstance(verdict, Denied) and not verdict.approval}
            plain["calls"] = [
                {
                    "call_id": call.call_id,
                    "tool": call.tool,
                    "arguments": _without_secrets(call.arguments)
                    if call.call_id in refused
                    else self._arguments(call.arguments),
                }
                for call in proposal.calls
            ]
        elif any(isinstance(verdict, Denied) for verdict in verdicts):
            # What was not said because it holds a secret is shown without it.
            plain = {name: _without_secrets(value) for name, value in plain.items()}
        return plain

    def _arguments(self, stored: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        return unquoted(stored, lambda ref: self.body(ref) or GONE)

    def _read_back(self, verdict: Verdict) -> Verdict:
        """A verdict with the arguments that a person changed as they were carried out."""
        if not isinstance(verdict, Allowed) or verdict.edited is None:
            return verdict
        return verdict.model_copy(update={"edited": self._arguments(verdict.edited)})

    def decision(self, name: str, record: DecisionRecord) -> DecisionShown:
        """One filed decision with its bodies."""
        return DecisionShown(
            record=name,
            index=record.index,
            turn=record.turn_index,
            question=self.body(record.turn_ref),
            kind=record.decision.kind.value if record.decision else "",
            toolset=record.decision.toolset if record.decision else "",
            rule=record.decision.rule if record.decision else "",
            outcome=record.outcome.value,
            manifest=self.manifest(record.manifest_ref),
            missing=(),
            proposal=self.shown(self.proposal(record.proposal_ref), record.verdicts),
            verdicts=tuple(map(self._read_back, record.verdicts)),
            observations=tuple(
                ObservationShown(**seen.model_dump(), body=self._typed(seen.ref, _RESULT.validate_json) or {})
                for seen in record.observations
            ),
            attempts=record.attempts,
            edited=record.edited,
        )

    def open_decision(self, channels: Channels) -> DecisionShown | None:
        """The decision that is still open, from the graph's channels."""
        decision, request, packed = channels.decision, channels.request, channels.manifest
        if decision is None or request is None:
            return None
        return DecisionShown(
            record=None,
            index=decision.index,
            turn=request.turn_index,
            question=self.body(request.turn_ref),
            kind=decision.kind.value,
            toolset=decision.toolset,
            rule=decision.rule,
            outcome=None,
            manifest=self.manifest(packed.ref if packed else None),
            missing=packed.missing if packed else (),
            proposal=self.shown(self.proposal(channels.proposal), channels.verdicts),
            verdicts=tuple(map(self._read_back, channels.verdicts)),
            observations=(),
            attempts=channels.attempts,
            edited=channels.edited or request.edited is not None,
        )

    def effects(self, records: Sequence[DecisionRecord]) -> tuple[EffectShown, ...]:
        """The ledger's effects that belong to these decisions, oldest first. A row whose call ended in an error of the
        tool's is settled, and nothing was done."""
        shown = {(record.parent, record.proposal_ref) for record in records}
        failed = {
            (record.parent, record.proposal_ref, seen.call_id)
            for record in records
            for seen in record.observations
            if seen.outcome == "error"
        }
        edits = {
            verdict.bound: verdict.edited
            for record in records
            for verdict in record.verdicts
            if isinstance(verdict, Allowed) and verdict.edited is not None
        }
        made = []
        for row in self._ledger.rows(self._scope.tenant, self._scope.thread):
            at = (row.claim.parent, row.claim.proposal_ref)
            if at not in shown:
                continue
            proposal = self.proposal(row.claim.proposal_ref)
            arguments: dict[str, JsonValue] = {}
            calls = dict(enumerate(proposal.calls)) if isinstance(proposal, Act) else {}
            if row.claim.key in edits:
                arguments = self._arguments(edits[row.claim.key])
            elif row.claim.ordinal in calls:
                arguments = self._arguments(calls[row.claim.ordinal].arguments)
            made.append(
                EffectShown(
                    tool=row.claim.tool,
                    arguments=arguments,
                    call_id=row.claim.call_id,
                    at=row.at,
                    state="failed" if (*at, row.claim.call_id) in failed and row.state == "done" else row.state,
                )
            )
        return tuple(made)

    def result(
        self,
        filed: Sequence[tuple[str, DecisionRecord]],
        channels: Channels,
        pending: tuple[PendingCall, ...],
    ) -> RunResult:
        """How a thread stands: `filed` are the decisions to show with their names, oldest first, `pending` the calls
        that wait."""
        records = [record for _, record in filed]
        task = channels.task
        status = Status.NEEDS_APPROVAL if pending else (task.status if task else None) or Status.FAILED
        decisions = [self.decision(name, record) for name, record in filed]
        still_open = self.open_decision(channels)
        over = bool(records) and status not in (Status.NEEDS_APPROVAL, Status.FAILED)
        return RunResult(
            thread=self._scope.thread,
            status=status,
            error=why_failed(records) if status is Status.FAILED else None,
            answer=answer_shown(self.proposal(records[-1].proposal_ref)) if over else None,
            pending=pending,
            decisions=(*decisions, *((still_open,) if still_open else ())),
            effects=self.effects(records),
        )


def _without_secrets(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return masked(value)
        case list():
            return [_without_secrets(inner) for inner in value]
        case dict():
            return {masked(name): _without_secrets(inner) for name, inner in value.items()}
        case _:
            return value


def waiting_calls(thread: str, interrupts: Sequence[Interrupt]) -> tuple[tuple[str, PendingCall], ...]:
    """The calls that wait for a person, each with the id of its interrupt. Raises StateUnreadable."""
    try:
        return tuple(
            (one.id, PendingCall.model_validate(call)) for one in interrupts for call in one.value.get("approvals", ())
        )
    except ValidationError:
        raise StateUnreadable(f"thread {thread}: got pending calls unreadable; {NEXT_STEP}") from None


# What an operator can do where a model was told what was wrong and did no better.
_NEXT_OF_A_REPLY = dict.fromkeys(CORRECTABLE, "`agent doctor --model NAME` says what the server can do") | {
    "truncated": "raise EXPEDIENTE_RESERVED_OUTPUT_TOKENS, or ask for less"
}


def why_failed(records: Sequence[DecisionRecord]) -> str:
    """Why a turn brought no answer and what to do: what became of its last model call, or that it was cut off."""
    attempts = records[-1].attempts if records else ()
    if records and records[-1].outcome is LapOutcome.MODEL_FAILED and attempts:
        outcome = attempts[-1].outcome
        told = f"{outcome.name}: {outcome.detail}" if outcome.detail else outcome.name
        next_step = _NEXT_OF_A_REPLY.get(outcome.name)
        return told if next_step is None else f"{told}; {next_step}"
    return "the turn was cut off before it ended; ask again on this thread"


def answer_shown(proposal: Proposal | None) -> AnswerShown | None:
    """What a proposal says to the user."""
    match proposal:
        case Answer():
            sources = tuple(dict.fromkeys(citation.source for citation in proposal.citations))
            return AnswerShown(text=proposal.text, sources=sources, next_steps=proposal.next_steps)
        case Clarify():
            return AnswerShown(text=proposal.question, next_steps=proposal.options)
        case Escalate():
            return AnswerShown(text=proposal.reason, next_steps=proposal.missing)
        case _:
            return None
