"""validate (L6): code decides what a proposal may do. Pure; it pauses only on a request it has already written."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from typing import Any, NamedTuple

from pydantic import JsonValue

from nodes.validate.answer import answer_verdict, plan_verdict
from nodes.validate.approval import (
    Answered,
    allowed,
    answer_to,
    approval_request,
    asked_again,
    denied,
    not_taken,
    shown_to_person,
)
from nodes.validate.case import Allow, Ask, Case, Deny, offered
from nodes.validate.edit import as_edited, edited_before, refused, stored
from nodes.validate.exceeded import exceeded
from nodes.validate.opened import Opened, opened_effects
from nodes.validate.provenance import Past, disputes, past_of, rows_of, seen_whole, shows_values
from nodes.validate.recheck import lapsed
from nodes.validate.repeats import Elsewhere, done_elsewhere, repeats
from nodes.validate.rules import judge
from nodes.validate.said import link_verdict
from nodes.validate.secret import masked_verdicts, secret_verdict
from state.checks.binding import arguments_digest, call_digest
from state.checks.known import Row
from state.checks.origin import Shown
from state.checks.quote import unquoted
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
from state.tools import Observation
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


Pause = Callable[[dict[str, JsonValue]], Any]


class _Given(NamedTuple):
    """What all calls of a lap are judged by."""

    body: Callable[[str], str]
    shown: tuple[Shown, ...]
    rows: tuple[Row, ...]
    opened: Opened
    read: tuple[Observation, ...]
    changed: frozenset[str]
    before: Past
    elsewhere: tuple[Elsewhere, ...]
    disputed: bool
    lapsed: bool


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
                elsewhere = done_elsewhere(rows, past, contracts, body)
                changed, before = edited_before(past, turn, body), past_of(past, turn, contracts, body)
                rows_shown = rows_of(shown, contracts, scope.principal, before)
                read = seen_whole(manifest, past, turn)
                stale = _changes(calls) and lapsed(memory, manifest, reads.decision, scope, now)
                disputed = disputes(manifest)
                given = _Given(body, shown, rows_shown, opened, read, changed, before, elsewhere, disputed, stale)
                cases = {
                    call.call_id: _case(call, calls[:ordinal], reads, scope, policy, given)
                    for ordinal, call in enumerate(calls)
                }
                pending = [verdict for verdict in reads.verdicts or () if isinstance(verdict, NeedsApproval)]
                if pending:
                    return _answered(reads, pending, cases, scope, policy)
                return tuple(_first(call, cases[call.call_id], policy, now) for call in calls)
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

    def _case(
        call: ToolCall,
        earlier: tuple[ToolCall, ...],
        reads: Reads,
        scope: Scope,
        policy: Policy,
        given: _Given,
    ) -> Case | None:
        if (contract := contracts.get(call.tool)) is None:
            return None
        arguments = unquoted(call.arguments, given.body)
        bound = call_digest(scope, reads.request.parent, call.call_id, arguments, contract, policy.version)
        return Case(
            call=call,
            arguments=arguments,
            contract=contract,
            decision=reads.decision,
            request=reads.request,
            scope=scope,
            task=reads.task,
            policy=policy,
            shown=given.shown,
            rows=given.rows,
            owns=dict(resources),
            holds=dict(preconditions),
            masked=secrets.masked,
            over=exceeded(quotas, contract, earlier, scope, reads.request, policy),
            opened=given.opened,
            read=given.read,
            earlier=earlier,
            changed=given.changed,
            disputed=given.disputed,
            lapsed=given.lapsed,
            repeats=repeats(
                contract, arguments, earlier, contracts, given.body, given.before.deeds, given.elsewhere, bound
            ),
            now=clock.now(),
            digest=arguments_digest(call.tool, arguments),
            bound=bound,
        )

    def _first(call: ToolCall, case: Case | None, policy: Policy, now: datetime) -> Verdict:
        if case is None:
            return Denied(
                call_id=call.call_id, rule="unknown_tool", reason="there is no such tool", policy_version=policy.version
            )
        rule, finding = judge(case)
        match finding:
            case Allow():
                return allowed(case, rule, now)
            case Deny(reason=reason):
                return Denied(
                    call_id=call.call_id, rule=rule, reason=reason, policy_version=policy.version, trace=case.trace
                )
            case Ask(reason=reason):
                asked = approval_request(case, reason, now)
                return NeedsApproval(
                    call_id=call.call_id, rule=rule, policy_version=policy.version, trace=case.trace, request=asked
                )

    def _answered(
        reads: Reads,
        pending: list[NeedsApproval],
        cases: Mapping[str, Case | None],
        scope: Scope,
        policy: Policy,
    ) -> tuple[Verdict, ...]:
        """All pending calls are judged anew, then asked for together. What is to be asked for other reasons than those
        that were written is written first."""
        asked = [(verdict, cases.get(verdict.call_id)) for verdict in pending]
        anew = {verdict.call_id: _judged_anew(verdict, case, policy) for verdict, case in asked}
        if any(anew[verdict.call_id] != verdict for verdict in pending):
            return tuple(anew.get(verdict.call_id, verdict) for verdict in reads.verdicts or ())
        answers = pause({"approvals": [shown_to_person(verdict, case) for verdict, case in asked if case is not None]})
        if not isinstance(answers, Mapping) or answers.keys().isdisjoint(verdict.call_id for verdict in pending):
            answers = {}  # an answer that names no pending call is an answer to none
        now = clock.now()
        settled = {
            verdict.call_id: _settled(verdict, case, answer_to(verdict, case, answers, scope, policy, now), policy)
            for verdict, case in asked
            if case is not None
        }
        return tuple(settled.get(verdict.call_id, verdict) for verdict in reads.verdicts or ())

    def _judged_anew(pending: NeedsApproval, case: Case | None, policy: Policy) -> Verdict:
        """Rights, limits and facts may have changed while the call waited; on another branch it may have been done."""
        if case is None or pending.request.digest != case.bound:
            return denied(pending, "approval_void", "the call is not the one that was asked for", policy)
        if clock.now() >= pending.request.expires_at:
            return denied(pending, "approval_expired", "the request for approval has expired", policy)
        rule, finding = judge(case)
        match finding:
            case Deny(reason=reason):
                return denied(pending, rule, reason, policy)
            case Ask(reason=reason) if reason != pending.request.reason:
                return asked_again(pending, rule, reason)
            case _:
                return pending

    def _settled(pending: NeedsApproval, case: Case, answer: Answered | str, policy: Policy) -> Verdict:
        if isinstance(answer, str):
            return pending.model_copy(update={"note": answer})
        if answer.approval.decision == "reject":
            return denied(pending, "rejected_by_person", "a person rejected the call", policy, answer.approval)
        if answer.arguments is None:
            return allowed(case, pending.rule, clock.now(), answer.approval, pending)
        edited = as_edited(case, answer.arguments)
        rule, why = refused(pending, edited)
        if why is not None:
            return pending.model_copy(update={"note": not_taken(why)})
        places = stored(case, answer.arguments, partial(artifacts.put, case.scope.tenant))
        return allowed(edited, rule, clock.now(), answer.approval, pending, places)

    return Node(
        "validate",
        Reads,
        Writes,
        run,
        ports=("artifacts", "decision log", "ledger", "quotas", "memory", "secrets", "clock", "pause"),
        domain=("contracts", "policy", "resources", "preconditions"),
    )
