"""log (L8): file the record of this decision, rewrite the task state, clear the lap. The only way out of the graph."""

from collections.abc import Callable, Sequence
from typing import Any

from nodes.log.outcome import Lap, judged, searched, tools_searched
from nodes.log.task import rewritten
from state.canonical import canonical_json, digest
from state.context import Packed
from state.events import Settled
from state.knowledge import Snapshot
from state.node import Node
from state.policy import Policy, effective
from state.ports import Artifacts, DecisionLog, EventQueue, Seal
from state.record import DecisionRecord, under_seal
from state.request import Attempt
from state.run import Edited, RequestContext, Scope
from state.task import Retrieved, TaskState
from state.tools import Observation
from state.value import Value
from state.verdict import Verdict
from state.work import PROPOSAL, Decision, spoken


class Reads(Value):
    """The refs of this lap, and the last message: a new one may have come while the lap was open."""

    messages: list[Any]
    request: RequestContext
    task: TaskState
    head: str | None = None
    decision: Decision | None = None
    candidates: str | None = None
    manifest: Packed | None = None
    proposal: str | None = None
    attempts: tuple[Attempt, ...] | None = None
    verdicts: tuple[Verdict, ...] | None = None
    observations: tuple[Observation, ...] | None = None


_LAP = ("request", "decision", "candidates", "manifest", "proposal", "attempts", "verdicts", "observations")


class Writes(Value):
    """Head, task, at the end of a turn the view of the conversation; and the lap's channels, cleared."""

    head: str
    task: TaskState
    messages: list[Any] = []
    request: None = None
    decision: None = None
    candidates: None = None
    manifest: None = None
    proposal: None = None
    attempts: None = None
    verdicts: None = None
    observations: None = None


def make_log(
    *, artifacts: Artifacts, log: DecisionLog, events: EventQueue, seal: Seal, policies: Sequence[Policy]
) -> Node:
    """The log node."""

    def run(reads: Reads, scope: Scope) -> Writes:
        known = {done.snapshot_ref for done in reads.task.retrieved}
        new = reads.candidates if reads.candidates not in known else None
        texts = artifacts.get_all(scope.tenant, [ref for ref in (reads.request.turn_ref, reads.proposal, new) if ref])
        proposal = PROPOSAL.validate_json(texts[reads.proposal]) if reads.proposal else None
        lap = Lap(
            decision=reads.decision,
            packed=reads.manifest,
            attempts=reads.attempts or (),
            proposal=proposal,
            verdicts=reads.verdicts,
            observations=reads.observations or (),
            edited=reads.request.edited is Edited.LAP,
        )
        outcome = judged(lap)
        queries = tuple(artifacts.put(scope.tenant, query) for query in searched(proposal, outcome))
        found = Retrieved(key=Snapshot.model_validate_json(texts[new]).key, snapshot_ref=new) if new else None
        tool_queries = tuple(artifacts.put(scope.tenant, query) for query in tools_searched(proposal, outcome))
        task = rewritten(reads.task, lap, outcome, reads.request, queries, found, reads.proposal, tool_queries)
        record = DecisionRecord(
            parent=reads.head,
            tenant=scope.tenant,
            thread=scope.thread,
            principal=scope.principal.name,
            request_id=reads.request.request_id,
            index=reads.task.next_index,
            at=reads.request.now,
            turn_ref=reads.request.turn_ref,
            turn_index=reads.request.turn_index,
            decision=reads.decision,
            manifest_ref=reads.manifest.ref if reads.manifest else None,
            proposal_ref=reads.proposal,
            attempts=reads.attempts or (),
            verdicts=reads.verdicts or (),
            observations=reads.observations or (),
            outcome=outcome,
            status=task.status,
            task_hash="",
            edited=reads.request.edited is not None,
        )
        record = record.model_copy(update={"task_hash": digest(task)})
        record = record.model_copy(update={"seal": seal.sign(under_seal(canonical_json(record)))})
        head = log.append(record)
        events.settle(scope, _told(reads), record.index, reads.request.now)
        cleared: dict[str, Any] = dict.fromkeys(_LAP)
        if _interrupted(reads, texts[reads.request.turn_ref]):
            # The record says how the lap ended, whoever asked meanwhile: a lap whose checkpoint was lost is filed
            # again as it was. The task goes on with the message that came.
            task = task.model_copy(update={"status": None})
        if task.status is None:
            return Writes(head=head, task=task, **cleared)
        shown_turns = effective(policies, reads.request.now).history_turns
        earlier = reads.task.turns[-shown_turns:] if shown_turns else ()
        shown = (*log.get_all(scope.tenant, scope.thread, [turn.record for turn in earlier]), record)
        texts = artifacts.get_all(
            scope.tenant, [ref for one in shown for ref in (one.turn_ref, one.proposal_ref) if ref]
        )
        messages = [message for one in shown for message in view(one, texts.__getitem__)]
        return Writes(head=head, task=task, messages=messages, **cleared)

    return Node("log", Reads, Writes, run, ports=("artifacts", "decision log", "events", "seal"), domain=("policy",))


def _told(reads: Reads) -> tuple[Settled, ...]:
    """The events that this lap settles: those of a request that was sent. Until then nobody was told; and what stands
    in an edited lap is nobody's word."""
    if reads.manifest is None or not reads.attempts or reads.request.edited is Edited.LAP:
        return ()
    return tuple(Settled(event_id=number, dropped=reason) for number, reason in reads.manifest.notices)


def _interrupted(reads: Reads, turn: str) -> bool:
    """Whether a new message came while this lap was open: another id or other words than those the lap is about."""
    last = reads.messages[-1] if reads.messages else {}
    identity, content = (last.get("id"), last.get("content")) if isinstance(last, dict) else (last.id, last.content)
    return (identity, content) != (reads.request.message_id, turn)


def view(record: DecisionRecord, read: Callable[[str], str]) -> list[dict[str, str]]:
    """The messages of one turn: what the user said and what the agent said last."""
    messages = [{"type": "human", "content": read(record.turn_ref), "id": f"turn-{record.turn_index}"}]
    # Without a status the turn was abandoned, and its last proposal may never have passed validate.
    proposal = PROPOSAL.validate_json(read(record.proposal_ref)) if record.proposal_ref and record.status else None
    said = spoken(proposal) if proposal is not None else None
    if said:
        messages.append({"type": "ai", "content": said, "id": f"turn-{record.turn_index}-answer"})
    return messages
