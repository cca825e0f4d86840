"""pack (L4): the smallest working set inside the budget, assembled with its trust boundaries, with a manifest."""

from collections.abc import Mapping, Sequence
from typing import Literal

from nodes.pack.budget import Window
from nodes.pack.conflict import Disputed, disputed, settled
from nodes.pack.drafts import Draft, Drafts
from nodes.pack.freshness import aged
from nodes.pack.history import CONSTRAINT, Handovers, History, constraints, outcomes
from nodes.pack.notices import drained
from nodes.pack.required import (
    capabilities,
    decision_block,
    shown_examples,
    who_and_what,
)
from nodes.pack.scanning import Scans
from nodes.pack.skills import skill_bodies
from nodes.pack.standing import Standing
from nodes.pack.strategy import STRATEGIES, Strategy, strategy_of
from nodes.pack.sufficiency import assert_own, missing
from nodes.pack.tool_search import ToolSearch
from nodes.pack.trails import Trails
from nodes.pack.utility import Chosen, choose, left_out
from retrieval.examples import Examples
from retrieval.skills import SkillChoice
from state.context import ContextManifest, Dropped, DropReason, Kind, Packed, RequestSettings, Trust
from state.contract import ToolContract
from state.domain import Example, Section, StillSo
from state.knowledge import Candidate, Snapshot
from state.node import Node
from state.policy import Policy, effective
from state.ports import Artifacts, DecisionLog, EventQueue, TokenCounter
from state.render import assembled, prefix_hash
from state.request import Attempt, Request
from state.run import RequestContext, Scope
from state.skill import Skill
from state.spending import count_request
from state.task import TaskState
from state.value import Value
from state.work import Decision, DecisionKind


class Reads(Value):
    """Request context, decision, task, the snapshot's address, and the attempts of this lap, if one came back."""

    request: RequestContext
    decision: Decision
    task: TaskState
    candidates: str | None = None
    attempts: tuple[Attempt, ...] | None = None


class Writes(Value):
    """The manifest's address, or why there is no request."""

    manifest: Packed


def make_pack(
    *,
    artifacts: Artifacts,
    log: DecisionLog,
    events: EventQueue,
    tokens: TokenCounter,
    window: Window,
    settings: RequestSettings,
    sections: Sequence[Section],
    examples: Sequence[Example],
    contracts: Mapping[str, ToolContract],
    policies: Sequence[Policy],
    still_so: Mapping[str, StillSo],
    skills: Sequence[Skill] = (),
    strategies: Mapping[str, Strategy] = STRATEGIES,
) -> Node:
    """The pack node. Raises UnknownStrategy where a policy names one that is not among `strategies`."""
    by_version = {policy.version: strategy_of(policy, strategies) for policy in policies}
    standing, tools = Standing(sections, contracts, skills), ToolSearch(contracts)
    boundary_cases = Examples(examples)
    ours = [section.text for section in sections] + [example.text for example in examples]
    skill_choice = SkillChoice(skills, [*ours, *(contract.description for contract in contracts.values())])
    scans, trails = Scans(), Trails(artifacts, log, contracts)
    turns, handovers = History(artifacts, log), Handovers(artifacts, contracts)

    def run(reads: Reads, scope: Scope) -> Writes:
        request, searches = reads.request, reads.task.tool_query_refs
        policy = effective(policies, request.now)
        drafts = Drafts(artifacts, tokens, scope.tenant, request.now)

        texts = artifacts.get_all(scope.tenant, [ref for ref in (request.turn_ref, reads.candidates, *searches) if ref])
        queries = [texts[ref] for ref in (request.turn_ref, *searches)]
        decision, unoffered = tools.narrowed(reads.decision, queries, policy.most_tools, reads.task.steps)
        head = standing.drafts(drafts, decision)
        before = who_and_what(drafts, texts[request.turn_ref], scope, request, policy, decision)
        before += shown_examples(drafts, decision, boundary_cases, texts[request.turn_ref], policy)
        budget = window.budget_tokens(len(decision.tools) + len(decision.forms))
        procedures, too_long = skill_bodies(drafts, decision, skill_choice, texts[request.turn_ref], budget)
        before += procedures
        before += constraints(drafts, artifacts, scope, reads.task, policy.history_turns)
        before += handovers.drafts(drafts, scope, reads.task)
        before += turns.drafts(drafts, scope, reads.task, policy.history_turns)
        before += outcomes(drafts, reads.task, contracts)
        before += capabilities(drafts, decision, contracts, scope)
        refused_tokens = _too_long(reads, scope)
        if refused_tokens is not None:
            budget = min(budget, refused_tokens // 2)  # the server counts more than we do: once more with half (B1)
        traces = trails.this_turn(drafts, scope, request, reads.task)
        strategy = by_version[policy.version]
        own = strategy.trail(traces, drafts, budget, policy)
        before, refused = _admitted([*drafts.counted(before), *own.drafts], decision)
        snapshot = Snapshot.model_validate_json(texts[reads.candidates]) if reads.candidates else None
        candidates = [
            (aged(one, policy.half_life_days, request.now), draft)
            for one, draft in _candidates(drafts, snapshot, decision)
        ]
        current = [trace for trace in traces if trace.drafts[0].item.item_id not in own.stale]
        news = drained(drafts, events, still_so, scope, policy, decision)
        after = [*news.drafts, *drafts.counted([decision_block(drafts, decision, reads.task.steps, request.now)])]

        fixed = sum(draft.item.token_count for draft in (*head, *after))
        before, old = _shortened(before, request.turn_index, budget - fixed, strategy.earlier_tokens(budget))
        required = fixed + sum(draft.item.token_count for draft in before)

        def chosen_of(
            open_: Sequence[tuple[Candidate, Draft]], room: int, places: dict[Kind, int], held: Sequence[Draft]
        ) -> Chosen:
            return choose(open_, policy.weights, room, places, scans, held)

        def dispute(found: Sequence[Candidate], shown: frozenset[str]) -> Disputed:
            return disputed(drafts, policy, current, contracts, found, shown)

        assert_own(scope.tenant, [draft.item for draft in (*head, *before, *(pair[1] for pair in candidates))])
        limits = {Kind.EVIDENCE: decision.evidence_limit, Kind.MEMORY: decision.memory_limit}
        trail_tokens = sum(draft.item.token_count for draft in own.drafts)
        room = min(budget - required, strategy.retrieved_tokens(budget, trail_tokens))
        found = settled(candidates, limits, room, chosen_of, dispute)
        before += [*found.conflicts, *found.sides]
        required += found.required_tokens
        if refused_tokens is not None and required < refused_tokens:
            budget = max(budget, required)  # what is required stays whole, and is less than what was refused
        if decision.kind is not DecisionKind.CLOSE and required > budget:
            return Writes(manifest=Packed(ref=None, failure="does_not_fit", missing=(f"{required - budget} tokens",)))

        selected, rendered, total = _fitted(found.chosen, head, before, after, policy.best_evidence)
        if decision.kind is not DecisionKind.CLOSE and total > window.input_tokens():
            over = total - window.input_tokens()
            return Writes(manifest=Packed(ref=None, failure="does_not_fit", missing=(f"{over} tokens",)))
        items = tuple(
            draft.item for draft in (*head, *before, *_in_order(selected.drafts, policy.best_evidence), *after)
        )
        lacks = missing(decision, items)
        manifest = ContextManifest(
            request_id=request.request_id,
            tenant_id=scope.tenant,
            decision_kind=decision.kind.value,
            toolset=decision.toolset,
            items=items,
            total_input_tokens=total,
            overhead_tokens=total - sum(item.token_count for item in items),
            budget_tokens=budget,
            window_tokens=window.window_tokens,
            reserved_output_tokens=window.reserved_output_tokens,
            dropped=(
                *too_long,
                *refused,
                *old,
                *own.dropped,
                *selected.dropped,
                *_excluded(snapshot),
                *news.dropped,
                *unoffered,
            ),
            memories_excluded={} if snapshot is None else snapshot.memories_excluded,
            masked=own.masked,
            flags=scans.flags([*before, *selected.drafts, *news.drafts], [draft for _, draft in candidates]),
            tokenizer=tokens.name,
            prefix_hash=(prefix := prefix_hash(rendered)),
            prefix_before=before_it if (before_it := reads.task.prefixes.get(decision.name)) != prefix else None,
            policy_version=policy.version,
            policy_ref=artifacts.address(scope.tenant, filed := policy.model_dump_json()),
            settings=settings,
        )
        bodies = [draft.text for draft in (*head, *before, *selected.drafts, *after)]
        *_, ref = artifacts.put_all(scope.tenant, [*bodies, filed, manifest.model_dump_json()])
        packed = Packed(
            ref=ref,
            prefix_hash=prefix,
            failure="insufficient" if lacks else None,
            missing=lacks,
            notices=tuple((one.event_id, one.dropped) for one in news.settled),
        )
        return Writes(manifest=packed)

    def _too_long(reads: Reads, scope: Scope) -> int | None:
        """The tokens of this lap's items that a server found too long, if that is why the lap is here again."""
        if not reads.attempts or reads.attempts[-1].outcome.name != "context_too_long":
            return None
        sent = artifacts.get(scope.tenant, reads.attempts[-1].manifest_ref)
        return sum(item.token_count for item in ContextManifest.model_validate_json(sent).items)

    def _fitted(
        chosen: Chosen, head: list[Draft], before: list[Draft], after: list[Draft], best: Literal["first", "last"]
    ) -> tuple[Chosen, Request, int]:
        """The choice whose rendered request fits: the measured count decides, the estimate only proposed."""
        most = window.input_tokens()
        while True:
            drafts = [*head, *before, *_in_order(chosen.drafts, best), *after]
            rendered = assembled([(draft.item, draft.block) for draft in drafts], settings)
            total = count_request(rendered, tokens)
            if total <= most or not chosen.drafts:
                return chosen, rendered, total
            *kept, last = chosen.drafts
            chosen = Chosen(tuple(kept), (*chosen.dropped, left_out(last.item, DropReason.OVER_BUDGET)))

    return Node(
        "pack",
        Reads,
        Writes,
        run,
        ports=("artifacts", "decision log", "events", "tokens"),
        domain=("instructions", "examples", "skills", "contracts", "policy", "events"),
    )


def _admitted(drafts: list[Draft], decision: Decision) -> tuple[list[Draft], tuple[Dropped, ...]]:
    """A plan lap holds nothing untrusted: effects are opened there (X3, X10)."""
    if decision.admits_untrusted:
        return drafts, ()
    kept = [draft for draft in drafts if draft.item.trust is not Trust.UNTRUSTED]
    refused = [draft for draft in drafts if draft.item.trust is Trust.UNTRUSTED]
    return kept, tuple(left_out(draft.item, DropReason.UNTRUSTED_IN_PLAN) for draft in refused)


def _shortened(
    drafts: list[Draft], turn: int, budget_tokens: int, earlier_tokens: int
) -> tuple[list[Draft], tuple[Dropped, ...]]:
    """What must stand before the evidence, without as many of the oldest earlier turns as do not fit."""
    earlier = [draft.item for draft in drafts if _is_earlier(draft, turn)]
    over = max(
        sum(draft.item.token_count for draft in drafts) - budget_tokens,
        sum(item.token_count for item in earlier) - earlier_tokens,
    )
    kept, left, leaving = [], [], None
    for draft in drafts:
        origin = draft.item.provenance.origin_turn
        # An answer goes with its question: half a turn would be told as if nobody had asked.
        if _is_earlier(draft, turn) and (over > 0 or origin == leaving):
            leaving = origin
            over -= draft.item.token_count
            left.append(left_out(draft.item, DropReason.OVER_BUDGET))
        else:
            kept.append(draft)
    return kept, tuple(left)


def _is_earlier(draft: Draft, turn: int) -> bool:
    origin = draft.item.provenance.origin_turn
    return origin is not None and origin < turn and not draft.item.item_id.startswith(CONSTRAINT)


def _candidates(drafts: Drafts, snapshot: Snapshot | None, decision: Decision) -> list[tuple[Candidate, Draft]]:
    if snapshot is None or not decision.admits_untrusted:
        return []
    return list(zip(snapshot.candidates, drafts.candidates(snapshot.candidates), strict=True))


def _in_order(drafts: Sequence[Draft], best: Literal["first", "last"]) -> list[Draft]:
    """Of drafts that stand best first: memory and evidence, the better one nearer to where the best shall be (B4)."""
    in_order = sorted(drafts, key=lambda draft: draft.item.kind is Kind.MEMORY)
    return in_order if best == "first" else in_order[::-1]


def _excluded(snapshot: Snapshot | None) -> tuple[Dropped, ...]:
    if snapshot is None:
        return ()
    return tuple(Dropped(**excluded.model_dump()) for excluded in snapshot.excluded)
