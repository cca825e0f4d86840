"""validate (L6): code decides what a proposal may do. Pure; it pauses only on a request it has already written."""

from collections.abc import Mapping, Sequence
from functools import cache, partial

from nodes.validate.answer import answer_verdict, plan_verdict
from nodes.validate.case import offered
from nodes.validate.echoes import Echoes
from nodes.validate.edit import edited_before
from nodes.validate.lap import Lap
from nodes.validate.opened import opened_effects
from nodes.validate.provenance import disputes, past_of, rows_of, seen_whole, shows_values
from nodes.validate.recheck import lapsed
from nodes.validate.repeats import done_elsewhere, unsettled
from nodes.validate.said import link_verdict
from nodes.validate.secret import masked_verdicts, secret_verdict
from nodes.validate.settling import Pause, answered, first
from state.checks.origin import Shown
from state.context import ContextItem, ContextManifest, Packed
from state.contract import Effect, ToolContract
from state.domain import Holds, Owns
from state.memory_ports import MemoryStore
from state.node import Node
from state.policy import Policy, effective
from state.ports import Artifacts, Clock, DecisionLog, Ledger, Quotas, Secrets
from state.record import DecisionRecord
from state.request import Attempt
from state.run import Edited, RequestContext, Scope
from state.task import TaskState
from state.value import Value
from state.verdict import Denied, NeedsApproval, Verdict
from state.work import PROPOSAL, Act, Answer, Clarify, Decision, DecisionKind, Escalate, Plan, ToolCall


class Reads(Value):
    """The lap's request, decision, proposal and the attempts at it, manifest, the task, and the verdicts so far."""

    request: RequestContext
    decision: Decision
    proposal: str
    manifest: Packed
    task: TaskState
    attempts: tuple[Attempt, ...] | None = None
    verdicts: tuple[Verdict, ...] | None = None


class Writes(Value):
    """One verdict per call of the proposal; none on a lap that was edited from outside."""

    verdicts: tuple[Verdict, ...]


def make_validate(
    *,
    artifacts: Artifacts,
    log: DecisionLog,
    ledger: Ledger,
    quotas: Quotas,
    memory: MemoryStore,
    secrets: Secrets,
    clock: Clock,
    pause: Pause,
    contracts: Mapping[str, ToolContract],
    policies: Sequence[Policy],
    resources: Mapping[str, Owns],
    preconditions: Mapping[str, Holds],
) -> Node:
    """The validate node. `pause(question)` returns a person's answer (LangGraph's interrupt)."""

    echoes = Echoes(log)

    def run(reads: Reads, scope: Scope) -> Writes:
        if reads.request.edited is Edited.LAP:
            return Writes(verdicts=())  # nothing that stands in it is ours to judge
        return Writes(verdicts=_judged(reads, scope))

    def _judged(reads: Reads, scope: Scope) -> tuple[Verdict, ...]:
        now = clock.now()
        policy = effective(policies, now)
        proposal = PROPOSAL.validate_json(artifacts.get(scope.tenant, reads.proposal))
        closing = reads.decision.kind is DecisionKind.CLOSE
        if not closing and reads.attempts and reads.attempts[-1].masked:
            return masked_verdicts(proposal, policy)
        match proposal:
            case Act(calls=calls):
                manifest = _manifest(reads, scope)
                reads = reads.model_copy(update={"decision": offered(reads.decision, manifest)})
                shown = _shown(manifest, scope)
                past, turn = _past(calls, reads, scope, policy), reads.request.turn_index
                rows = ledger.rows(scope.tenant, scope.thread) if _changes(calls) else ()
                body = cache(partial(artifacts.get, scope.tenant))
                opened = opened_effects(past, reads.request.parent, turn, rows, body)
                changed, before = (
                    edited_before(past, turn, body),
                    past_of(past, turn, contracts, body, echoes.of(scope, body) if past else frozenset()),
                )
                rows_shown = rows_of(shown, contracts, scope.principal, before)
                read = seen_whole(manifest, past, turn)
                stale = _changes(calls) and lapsed(memory, manifest, reads.decision, scope, now)
                disputed = disputes(manifest)
                lap = Lap(
                    contracts=contracts,
                    resources=resources,
                    preconditions=preconditions,
                    masked=secrets.masked,
                    quotas=quotas,
                    clock=clock,
                    body=body,
                    calls=calls,
                    request=reads.request,
                    decision=reads.decision,
                    scope=scope,
                    task=reads.task,
                    policy=policy,
                    shown=shown,
                    rows=rows_shown,
                    opened=opened,
                    read=read,
                    changed=changed,
                    before=before,
                    elsewhere=done_elsewhere(rows, past, contracts, body),
                    unsettled=unsettled(rows, past, contracts, body),
                    disputed=disputed,
                    lapsed=stale,
                )
                if any(isinstance(verdict, NeedsApproval) for verdict in reads.verdicts or ()):
                    return answered(lap, reads.verdicts or (), pause, partial(artifacts.put, scope.tenant))
                return tuple(first(lap, call) for call in calls)
            case Answer() | Clarify() | Escalate() if not closing and (held := _unsaid(proposal, reads, scope, policy)):
                return (held,)
            case Answer():
                return (answer_verdict(proposal, _manifest(reads, scope).items, reads.decision, policy),)
            case Plan():
                return (plan_verdict(proposal, reads.decision, reads.task.steps, contracts, scope, policy),)
            case _:
                return ()

    def _unsaid(said: Answer | Clarify | Escalate, reads: Reads, scope: Scope, policy: Policy) -> Denied | None:
        """Why something is not said, whatever it cites. Code's own closing words are not asked about."""

        def request() -> tuple[Sequence[ContextItem], Sequence[Shown]]:
            manifest = _manifest(reads, scope)
            return manifest.items, _shown(manifest, scope)

        return secret_verdict(said, secrets.masked, policy) or link_verdict(said, request, policy)

    def _manifest(reads: Reads, scope: Scope) -> ContextManifest:
        if reads.manifest.ref is None:
            raise ValueError("validate was reached without a manifest; pack routes to log in that case")
        return ContextManifest.model_validate_json(artifacts.get(scope.tenant, reads.manifest.ref))

    def _shown(manifest: ContextManifest, scope: Scope) -> tuple[Shown, ...]:
        """What the request showed as a source of values: no definitions, and none of our own words."""
        items = list(filter(shows_values, manifest.items))
        texts = artifacts.get_all(scope.tenant, [item.ref for item in items])
        return tuple(Shown(item.item_id, item.trust, texts[item.ref], item.source) for item in items)

    def _past(calls: Sequence[ToolCall], reads: Reads, scope: Scope, policy: Policy) -> tuple[DecisionRecord, ...]:
        """The newest records, newest first, as many as two turns can have: the one before may have been cut off. Not
        read where nothing can stand in them: for reads alone in the first lap of a turn."""
        if not _changes(calls) and not reads.task.laps_in_turn:
            return ()
        return log.chain(scope.tenant, scope.thread, reads.request.parent, limit=2 * policy.max_decisions)

    def _changes(calls: Sequence[ToolCall]) -> bool:
        return any(contracts[call.tool].effect is not Effect.READ for call in calls if call.tool in contracts)

    return Node(
        "validate",
        Reads,
        Writes,
        run,
        ports=("artifacts", "decision log", "ledger", "quotas", "memory", "secrets", "clock", "pause"),
        domain=("contracts", "policy", "resources", "preconditions"),
    )
