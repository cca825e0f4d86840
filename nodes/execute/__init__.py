"""execute (L7): run what was allowed, each effect once, its result stored before its claim closes."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from nodes.execute.call import Ran, called, read_back
from nodes.execute.credentials import complete, resolving
from nodes.execute.filing import Filing
from nodes.execute.remembering import dropping, keeping
from nodes.execute.step import Step
from nodes.execute.summarising import summed_up
from state.checks.binding import arguments_digest, call_digest
from state.checks.quote import unquoted
from state.checks.rates import bounds
from state.contract import Effect
from state.memory_ports import MemoryKeeper
from state.node import Node
from state.policy import Policy, effective
from state.ports import Artifacts, Clock, DecisionLog, Ledger, Quotas, Secrets
from state.run import Edited, RequestContext, Scope
from state.summary import Summariser
from state.tools import Observation, Tool, ToolContext
from state.value import Value
from state.verdict import Allowed, Verdict
from state.work import PROPOSAL, Act, Decision, ToolCall

VERDICT_TTL_S = 300  # between validate and execute lies one checkpoint, unless the process died there
_AT_ONCE = 8  # reads that run beside each other


class Reads(Value):
    """The request, the decision, the proposal's address and the verdicts."""

    request: RequestContext
    decision: Decision
    proposal: str
    verdicts: tuple[Verdict, ...]


class Writes(Value):
    """What the calls brought, one observation per allowed call."""

    observations: tuple[Observation, ...]


def make_execute(
    *,
    artifacts: Artifacts,
    log: DecisionLog,
    ledger: Ledger,
    quotas: Quotas,
    clock: Clock,
    secrets: Secrets,
    memories: MemoryKeeper,
    tools: Mapping[str, Tool],
    policies: Sequence[Policy],
    summariser: Summariser | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Node:
    """The execute node. What a tool brings is stored with every known secret masked (X7)."""
    filing = Filing(artifacts, log, clock)

    def run(reads: Reads, scope: Scope) -> Writes:
        if reads.request.edited is Edited.LAP:
            return Writes(observations=())
        proposal = PROPOSAL.validate_json(artifacts.get(scope.tenant, reads.proposal))
        if not isinstance(proposal, Act):
            return Writes(observations=())
        allowed = {verdict.call_id: verdict for verdict in reads.verdicts if isinstance(verdict, Allowed)}
        calls = [(n, call) for n, call in enumerate(proposal.calls) if call.call_id in allowed]
        found = [_step(n, call, allowed[call.call_id], reads, scope) for n, call in calls]
        steps = [step for step in found if step is not None]
        if len(steps) < len(found):
            # A release came in between, with other tools or definitions: the lap is judged anew, none of it runs.
            return Writes(observations=())
        seen: list[Observation] = []
        for group in _groups(steps):
            if group[0].tool.contract.effect is Effect.READ:
                seen += _looked(group)
            else:
                seen.append(_done(group[0], reads.proposal))
        # After the last effect: what a summary takes or breaks, it keeps no call from being done and filed.
        told = (summed_up(one, artifacts, summariser, secrets.masked, scope, reads.request) for one in seen)
        return Writes(observations=tuple(told))

    def _step(ordinal: int, call: ToolCall, verdict: Allowed, reads: Reads, scope: Scope) -> Step | None:
        """The call with all it takes to run it; None where its verdict is not for exactly this call."""
        tool = tools.get(call.tool)
        if tool is None:
            return None
        given = call.arguments if verdict.edited is None else verdict.edited
        arguments = unquoted(given, lambda ref: artifacts.get(scope.tenant, ref))
        contract = tool.contract
        bound = call_digest(scope, reads.request.parent, call.call_id, arguments, contract, verdict.policy_version)
        approved = verdict.approval is not None and verdict.approval.decision != "reject"
        if bound != verdict.bound or not (approved or not (contract.confirm or contract.effect is Effect.EGRESS)):
            return None
        digest = arguments_digest(call.tool, arguments)
        return Step(ordinal, call, tool, arguments, verdict, digest, reads.request, scope)

    def _looked(group: Sequence[Step]) -> list[Observation]:
        """Reads that stand together run beside each other; their results are stored in the proposal's order."""
        ran = {step.ordinal: blocked for step in group if (blocked := _blocked(step)) is not None}
        free = [step for step in group if step.ordinal not in ran]
        if len(free) == 1:
            ran[free[0].ordinal] = _called(free[0])
        elif free:
            with ThreadPoolExecutor(min(len(free), _AT_ONCE), thread_name_prefix="reads") as pool:
                ran |= {step.ordinal: one for step, one in zip(free, pool.map(_called, free), strict=True)}
        return [filing.observed(step, ran[step.ordinal]) for step in group]

    def _done(step: Step, proposal_ref: str) -> Observation:
        """An effect, once: claimed before, stored, and then closed."""
        if not ledger.begun(step.key) and (blocked := _blocked(step)) is not None:
            return filing.observed(step, blocked)
        claimed = ledger.claim(step.claim(proposal_ref), clock.now())
        if claimed.state == "spent":
            return filing.observed(step, Ran("error", "step_spent"))
        if claimed.state == "done" and claimed.result_ref is not None:
            return Observation.model_validate_json(artifacts.get(step.scope.tenant, claimed.result_ref))
        if claimed.fresh or step.tool.contract.idempotent:
            ran = _called(step)
        else:
            # Another process took the claim and did not close it: whether the effect happened, only a look can say.
            ran = read_back(step.tool, _context(step), step.arguments, secrets.masked, Ran("unknown", "claimed_before"))
        observation = filing.observed(step, ran)
        ref = artifacts.put(step.scope.tenant, observation.model_dump_json())
        ledger.close(step.key, "unknown" if ran.outcome == "unknown" else "done", ref)
        return observation

    def _blocked(step: Step) -> Ran | None:
        """Why a call is not begun now; None where nothing is in its way. What was begun is finished, whatever holds."""
        asked = step.verdict.request
        if asked is not None and clock.now() >= asked.expires_at:
            return Ran("error", "approval_expired")  # given in time, and not used in time
        judged_at = step.verdict.at  # an earlier release did not write it
        if judged_at is not None and (clock.now() - judged_at).total_seconds() > VERDICT_TTL_S:
            return Ran("error", "verdict_expired")  # the process stood still in between: it is judged anew
        if not still_has_role(step):
            return Ran("error", "role_not_allowed")  # taken away since it was judged
        if not complete(step, secrets):
            return Ran("error", "secret_missing")
        if step.tool.contract.rates:
            now = clock.now()
            policy = effective(policies, now)
            taken = bounds(step.tool.contract, step.arguments, step.scope, step.request, policy, now)
            if quotas.take(step.key, taken, now) is not None:
                return Ran("error", "rate_exceeded")
        return None

    def _called(step: Step) -> Ran:
        return called(step.tool, _context(step), step.arguments, secrets.masked, sleep)

    def _context(step: Step) -> ToolContext:
        resolve, keep, drop = resolving(step, secrets), keeping(step, memories), dropping(step, memories)
        return ToolContext(step.scope, clock.now(), step.key, resolve, keep, drop)

    async def arun(reads: Reads, scope: Scope) -> Writes:
        # Tools are synchronous functions: their waiting belongs in a thread, not on the event loop.
        return await asyncio.to_thread(run, reads, scope)

    return Node(
        "execute",
        Reads,
        Writes,
        run,
        arun,
        ports=("artifacts", "decision log", "ledger", "quotas", "clock", "secrets", "memories", "summariser"),
        domain=("tools", "contracts", "policy"),
    )


def still_has_role(step: Step) -> bool:
    """Whether the principal may call the tool now: rights may be gone since the verdict."""
    return bool(set(step.tool.contract.roles) & set(step.scope.principal.roles))


def _groups(steps: Sequence[Step]) -> Iterator[Sequence[Step]]:
    """Reads that follow each other together, each effect alone: in the proposal's order."""
    group: list[Step] = []
    for step in steps:
        if step.tool.contract.effect is Effect.READ:
            group.append(step)
            continue
        if group:
            yield group
        yield [step]
        group = []
    if group:
        yield group
