"""From records and the open lap to what a caller sees: everything a turn was given, proposed, was allowed, did."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from graph.result import AnswerShown, DecisionShown, EffectShown, ObservationShown, PendingCall, RunResult
from state.checks.quote import unquoted
from state.context import ContextManifest, Packed
from state.ports import ArtifactGone, Artifacts, Ledger
from state.record import DecisionRecord
from state.request import Attempt
from state.run import RequestContext, Scope
from state.verdict import VERDICTS, Denied, Verdict
from state.work import PROPOSAL, Act, Answer, Clarify, Decision, Escalate, LapOutcome, Proposal, Status, TaskState

GONE = "gone"


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
        """The manifest at an address."""
        text = self.body(ref) if ref else None
        return ContextManifest.model_validate_json(text) if text else None

    def proposal(self, ref: str | None) -> Proposal | None:
        """The proposal at an address."""
        text = self.body(ref) if ref else None
        return PROPOSAL.validate_json(text) if text else None

    def shown(self, proposal: Proposal | None, verdicts: Sequence[Verdict]) -> dict[str, JsonValue] | None:
        """A proposal as JSON. Arguments of refused calls stay references: a refused id is repeated nowhere."""
        if proposal is None:
            return None
        plain: dict[str, JsonValue] = proposal.model_dump(mode="json")
        if isinstance(proposal, Act):
            refused = {verdict.call_id for verdict in verdicts if isinstance(verdict, Denied) and not verdict.approval}
            plain["calls"] = [
                {
                    "call_id": call.call_id,
                    "tool": call.tool,
                    "arguments": call.arguments
                    if call.call_id in refused
                    else unquoted(call.arguments, lambda ref: self.body(ref) or GONE),
                }
                for call in proposal.calls
            ]
        return plain

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
            verdicts=record.verdicts,
            observations=tuple(
                ObservationShown(**seen.model_dump(), body=json.loads(self.body(seen.ref) or "{}"))
                for seen in record.observations
            ),
            attempts=record.attempts,
        )

    def open_decision(self, channels: Mapping[str, Any]) -> DecisionShown | None:
        """The decision that is still open, from the graph's channels."""
        if not channels.get("decision"):
            return None
        decision = Decision.model_validate(channels["decision"])
        request = RequestContext.model_validate(channels["request"])
        packed = Packed.model_validate(channels["manifest"]) if channels.get("manifest") else None
        verdicts = VERDICTS.validate_python(channels.get("verdicts") or ())
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
            proposal=self.shown(self.proposal(channels.get("proposal")), verdicts),
            verdicts=verdicts,
            observations=(),
            attempts=tuple(Attempt.model_validate(attempt) for attempt in channels.get("attempts") or ()),
        )

    def effects(self, records: Sequence[DecisionRecord]) -> tuple[EffectShown, ...]:
        """The ledger's effects that belong to these decisions, oldest first."""
        shown = {(record.parent, record.proposal_ref) for record in records}
        made = []
        for row in self._ledger.rows(self._scope.tenant, self._scope.thread):
            if (row.claim.parent, row.claim.proposal_ref) not in shown:
                continue
            proposal = self.proposal(row.claim.proposal_ref)
            arguments: dict[str, JsonValue] = {}
            if isinstance(proposal, Act):
                call = proposal.calls[row.claim.ordinal]
                arguments = unquoted(call.arguments, lambda ref: self.body(ref) or GONE)
            made.append(
                EffectShown(
                    tool=row.claim.tool,
                    arguments=arguments,
                    call_id=row.claim.call_id,
                    at=row.at,
                    state=row.state,
                )
            )
        return tuple(made)

    def result(
        self, names: Sequence[str], records: Sequence[DecisionRecord], channels: Mapping[str, Any], asked: Sequence[Any]
    ) -> RunResult:
        """How a thread stands: `records` are the decisions to show, oldest first, `asked` the interrupts that wait."""
        pending = tuple(
            PendingCall.model_validate(call) for question in asked for call in question.get("approvals", ())
        )
        task = TaskState.model_validate(channels["task"]) if channels.get("task") else None
        status = Status.NEEDS_APPROVAL if pending else (task.status if task else None) or Status.FAILED
        decisions = [self.decision(name, record) for name, record in zip(names, records, strict=True)]
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


def why_failed(records: Sequence[DecisionRecord]) -> str:
    """Why a turn brought no answer: what became of its last model call, or that it was cut off."""
    attempts = records[-1].attempts if records else ()
    if records and records[-1].outcome is LapOutcome.MODEL_FAILED and attempts:
        outcome = attempts[-1].outcome
        return f"{outcome.name}: {outcome.detail}" if outcome.detail else outcome.name
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
