"""Where two sources state the same fact otherwise (S11): one block that shows every side, and those sides with it.

Compared is what is declared as a value (`state.stated`): by a document of a section, by a tool's contract of a field,
by the policy record. Prose is not compared: that two sentences contradict each other is a guess, and a guess here would
either hide a conflict or invent one. Sides are what this request holds or retrieval found for it; a document version
that another one replaced is no side, since it never becomes a candidate. Two results are sides of one conflict only
where they are about the same resource.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from nodes.pack.drafts import Draft, Drafts
from nodes.pack.trail import Trace
from nodes.pack.utility import Chosen
from state.context import CONFLICT, Kind, Trust
from state.contract import ToolContract
from state.knowledge import Candidate
from state.policy import Policy
from state.stated import FACT_NAME, FactValue, same

_POLICY, _RESULT, _DOCUMENT = 0, 1, 2  # who has precedence: the record that rules, what is so now, what was written


# How many, and no names: those are the words of whoever wrote the document.
_STEER = (
    "Sources disagree on {} facts, shown as conflicts. Call a tool that settles it, ask, or hand over. An answer cites "
    "every side or the conflict, and states no side as certain."
)


class Side(NamedTuple):
    """One source's value of a fact. `rank` orders sides, the one with precedence first; equal ranks have none."""

    fact: str
    value: FactValue
    source: str
    version: str | None
    trust: Trust
    rank: tuple[float, ...]
    about: frozenset[tuple[str, str]] = frozenset()
    ref: str | None = None  # of a candidate


class Disputed(NamedTuple):
    """The conflicts of a request: their blocks, and the candidates that have to be shown as sides, by address."""

    drafts: tuple[Draft, ...]
    sides: frozenset[str]


def disputed(
    make: Drafts,
    policy: Policy,
    traces: Sequence[Trace],
    contracts: Mapping[str, ToolContract],
    candidates: Sequence[Candidate],
    chosen: frozenset[str],
) -> Disputed:
    """What is disputed among policy, results of this turn, and candidates. A conflict between documents that the
    request would not show anyway is none of its business: one side at least is `chosen`, by address, or required."""
    found = [*_of_policy(policy), *_of_results(traces, contracts), *_of_documents(candidates)]
    drafts: list[Draft] = []
    refs: set[str] = set()
    for name in sorted({side.fact for side in found}):
        known = [side for side in found if side.fact == name]
        # What is said in general is said of each resource; of two of them different things may be so.
        subjects = sorted({side.about for side in known if side.about}, key=sorted) or [frozenset()]
        groups = [[side for side in known if not side.about or side.about == subject] for subject in subjects]
        for number, sides in enumerate(dict.fromkeys(tuple(_sides(group, chosen)) for group in groups), start=1):
            if sides:
                drafts.append(_conflict(make, name if number == 1 else f"{name}-{number}", sides))
                refs |= {side.ref for side in sides if side.ref is not None}
    if drafts:
        source = f"state://{CONFLICT}"
        drafts.append(make.text("conflicts", Kind.TASK_STATE, source, Trust.SYSTEM, _STEER.format(len(drafts))))
    return Disputed(tuple(make.counted(drafts)), frozenset(refs))


def _sides(group: Sequence[Side], chosen: frozenset[str]) -> list[Side]:
    """Who is shown, and of each value that none of those states the source with precedence; none where all agree."""
    shown = [side for side in group if side.ref is None or side.ref in chosen]
    if all(side.rank[0] == _POLICY for side in shown):
        return []
    for side in sorted(group, key=_by_precedence):
        if not any(same(one.value, side.value) for one in shown):
            shown.append(side)
    agree = all(same(side.value, shown[0].value) for side in shown)
    return [] if agree else sorted(shown, key=_by_precedence)


def _by_precedence(side: Side) -> tuple[tuple[float, ...], str]:
    return side.rank, side.source


def _conflict(make: Drafts, name: str, sides: Sequence[Side]) -> Draft:
    """The block of one conflict, trusted no more than the least trusted of its sides."""
    ranks = sorted({side.rank for side in sides})
    alone = [side.rank for side in sides].count(ranks[0]) == 1
    told = {
        "fact": sides[0].fact,
        "sides": [
            {
                "value": side.value,
                "source": side.source,
                **({"version": side.version} if side.version else {}),
                "precedence": ranks.index(side.rank) + 1,
            }
            for side in sides
        ],
        "note": "these sources disagree" + ("" if alone else ", and none of them has precedence"),
    }
    trust = Trust.UNTRUSTED if any(side.trust is Trust.UNTRUSTED for side in sides) else Trust.SYSTEM
    text = json.dumps(told, ensure_ascii=False)
    sources = tuple(side.source for side in sides)
    # A document's value is nobody's; what a tool read is of whoever it was read for.
    personal = any(side.rank[0] == _RESULT for side in sides)
    place = f"{CONFLICT}://{name}"
    return make.text(f"conflict-{name}", Kind.EVIDENCE, place, trust, text, derived_from=sources, personal=personal)


def _of_policy(policy: Policy) -> list[Side]:
    return [
        Side(name, value, "value://policy", policy.version, Trust.SYSTEM, (_POLICY,))
        for name, value in policy.values.items()
        if re.fullmatch(FACT_NAME, name)
    ]


def _of_results(traces: Sequence[Trace], contracts: Mapping[str, ToolContract]) -> list[Side]:
    """The newest of what was read of each resource: an older reading of it is not another opinion."""
    newest: dict[tuple[str, str, frozenset[tuple[str, str]]], Side] = {}
    for trace in traces:
        seen = trace.seen
        if seen is None or seen.outcome != "ok" or seen.tool not in contracts:
            continue
        for field in contracts[seen.tool].output:
            value = trace.trusted.get(field.name)
            if field.states is None or not isinstance(value, bool | int | float | str):
                continue
            rank = (_RESULT, -seen.at.timestamp())
            side = Side(field.states, value, seen.artifact_ref, None, Trust.SYSTEM, rank, trace.subjects)
            newest[field.states, seen.tool, trace.subjects] = side
    return [*newest.values()]


def _of_documents(candidates: Sequence[Candidate]) -> list[Side]:
    return [
        Side(
            name,
            value,
            one.source,
            one.version,
            one.trust,
            (_DOCUMENT, -one.authority, -one.effective_from.timestamp() if one.effective_from else 0.0),
            ref=one.ref,
        )
        for one in candidates
        for name, value in one.states.items()
    ]


class Settled(NamedTuple):
    """What enters of the candidates: by choice, and as sides of a conflict; and the blocks that show the conflicts."""

    chosen: Chosen
    sides: tuple[Draft, ...]
    conflicts: tuple[Draft, ...]

    @property
    def required_tokens(self) -> int:
        """What conflicts take, whole: counted, never scored (B2)."""
        return sum(draft.item.token_count for draft in (*self.conflicts, *self.sides))


def settled(
    candidates: Sequence[tuple[Candidate, Draft]],
    limits: Mapping[Kind, int],
    room_tokens: int,
    choose: Callable[[Sequence[tuple[Candidate, Draft]], int, dict[Kind, int], Sequence[Draft]], Chosen],
    dispute: Callable[[Sequence[Candidate], frozenset[str]], Disputed],
) -> Settled:
    """The choice together with every side of the conflicts that it shows. Sides take places and room first, and what is
    chosen beside them may be a side of another conflict: so again, until nothing is added. That comes to an end, since
    sides and what conflicts take never become less."""
    refs: frozenset[str] = frozenset()
    reserve = 0
    while True:
        held = [draft for _, draft in candidates if draft.item.ref in refs]
        sides = tuple(sorted(held, key=lambda draft: (draft.item.item_id, draft.item.ref)))
        open_ = [pair for pair in candidates if pair[1].item.ref not in refs]
        places = {kind: most - sum(side.item.kind is kind for side in sides) for kind, most in limits.items()}
        taken = reserve + sum(side.item.token_count for side in sides)
        chosen = choose(open_, room_tokens - taken, places, sides)
        shown = refs | {draft.item.ref for draft in chosen.drafts}
        found = dispute([candidate for candidate, _ in candidates], shown)
        tokens = sum(draft.item.token_count for draft in found.drafts)
        if found.sides <= refs and tokens <= reserve:
            return Settled(chosen, sides, found.drafts)
        refs, reserve = refs | found.sides, max(reserve, tokens)
