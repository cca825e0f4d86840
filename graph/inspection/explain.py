"""Explain (M5): why each item is in a request, why each candidate is out, on the figures that decided."""

from collections.abc import Iterator
from html import escape

from graph.app import App
from graph.inspection.finding import NoSuchDecision, decision_of
from state.context import ContextItem, ContextManifest, Dropped, DropReason, MaskReason
from state.value import Value

_FEATURES = ("relevance", "authority", "freshness", "redundancy", "injection_risk", "crowding")
_RULES = {
    DropReason.OVER_BUDGET: "its tokens were more than the budget left at its turn",
    DropReason.UTILITY_NOT_POSITIVE: "its utility is not above 0: it never enters, whatever room is left",
    DropReason.OVER_LIMIT: "the places of its kind were taken by candidates of a better rank",
    DropReason.SUPERSEDED: "a newer version is in force, or another memory of its topic",
    DropReason.NOT_YET_EFFECTIVE: "this version is not in force yet",
    DropReason.NO_LONGER_EFFECTIVE: "this version is no longer in force",
    DropReason.EXPIRED: "the memory ended before this request",
    DropReason.INVALID_EXPIRY: "the memory has no end that can be read",
    DropReason.OTHER_PURPOSE: "the memory was kept for another purpose",
    DropReason.UNKNOWN_SOURCE: "nobody knows who said it",
    DropReason.REVIEW_DUE: "the memory is due for review, and nobody confirmed it",
    DropReason.MALFORMED: "the stored memory cannot be read",
    DropReason.UNTRUSTED_IN_PLAN: "a plan lap admits nothing untrusted",
    DropReason.NO_LONGER_SO: "what the event tells is no longer so",
    DropReason.TOLD_BY_NEWER: "a newer event tells of the same",
    DropReason.DEFINITION_CHANGED: "its server's definition is not the one that was reviewed",
    DropReason.NEAR_DUPLICATE: "another source says the same and has the better standing: authority, date, relevance",
    DropReason.OVER_SHARE: "newer results of this turn used up their share of the budget",
}
_MASKED = {
    MaskReason.CHANGED_SINCE: "named only: what was read here was changed later",
    MaskReason.REPEATED: "named only: the same was read again later",
    MaskReason.EMPTY: "named only: it brought nothing",
    MaskReason.SUMMARISED: "summarised: the share of results had no room for all of it",
    MaskReason.OVER_SHARE: "named only: the share of results was used up by newer ones",
}
REQUIRED = "required: it is counted, and not scored"
CHOSEN = "chosen by utility while places and budget lasted"


class Why(Value):
    """Why one item is in or out. Features, rank and budget are those of its turn in choosing; required items and
    what was excluded before ranking have none. `scores` are the others, such as those of retrieval."""

    item_id: str
    source: str
    kind: str
    version: str | None
    chosen: bool
    rule: str
    tokens: int | None = None
    utility: float | None = None
    rank: int | None = None
    budget_left_tokens: int | None = None
    features: dict[str, float] = {}
    scores: dict[str, float] = {}


class Explanation(Value):
    """One decision explained. `weights` are null where the policy record was erased; `edited` says that the lap was
    written into from outside."""

    thread: str
    index: int
    decision: str
    rule: str
    policy_version: str
    budget_tokens: int
    total_input_tokens: int
    weights: dict[str, float] | None
    items: tuple[Why, ...]
    edited: bool = False

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{'in' if why.chosen else 'out'}</td><td>{escape(why.source)}</td><td>{why.tokens or ''}</td>"
            f"<td>{'' if why.rank is None else why.rank}</td>"
            f"<td>{'' if why.utility is None else f'{why.utility:.3f}'}</td><td>{escape(why.rule)}</td></tr>"
            for why in self.items
        )
        edited = ", <b>edited from outside</b>" if self.edited else ""
        return (
            f"<p>decision {self.index} {escape(self.decision)}, by rule {escape(self.rule)}{edited}: "
            f"{self.total_input_tokens} of {self.budget_tokens} tokens</p>"
            "<table><tr><th></th><th>source</th><th>tokens</th><th>rank</th><th>utility</th><th>why</th></tr>"
            f"{rows}</table>"
        )


def explain(app: App, thread: str, index: int, *, as_: str, item: str | None = None) -> Explanation:
    """Why a decision's request holds what it holds; `item` narrows it to one item id or source.

    Raises UnknownPrincipal, UnknownThread, NoSuchDecision for a decision, a request or an item that is not there;
    RecordDamaged where a body was changed so that it cannot be read.
    """
    decision, reading = decision_of(app, thread, index, as_)
    manifest = decision.manifest
    if manifest is None:
        raise NoSuchDecision(f"decision {index} of thread {thread} has no request: {decision.outcome or 'it is open'}")
    whys = tuple(_whys(manifest))
    if item is not None:
        whys = tuple(why for why in whys if item in (why.item_id, why.source))
        if not whys:
            known = ", ".join(dict.fromkeys(why.item_id for why in _whys(manifest)))
            raise NoSuchDecision(f"got item {item!r}; decision {index} knows: {known}")
    policy = reading.policy(manifest.policy_ref)
    return Explanation(
        thread=thread,
        index=index,
        decision=f"{decision.kind}/{decision.toolset}",
        rule=decision.rule,
        policy_version=manifest.policy_version,
        budget_tokens=manifest.budget_tokens,
        total_input_tokens=manifest.total_input_tokens,
        weights=None if policy is None else policy.weights.model_dump(),
        items=whys,
        edited=decision.edited,
    )


def _whys(manifest: ContextManifest) -> Iterator[Why]:
    """In request order what is in; then what is out, by rank where it has one."""
    masked = {one.item_id: _MASKED[one.reason] for one in manifest.masked}
    for item in manifest.items:
        scores = item.provenance.scores
        chosen = CHOSEN if "utility" in scores else REQUIRED
        yield _why(item, scores, masked.get(item.item_id, chosen), chosen=True)
    for dropped in sorted(manifest.dropped, key=lambda each: each.scores.get("rank", float("inf"))):
        yield _why(dropped, dropped.scores, _RULES[dropped.reason], chosen=False)


def _why(item: ContextItem | Dropped, scores: dict[str, float], rule: str, *, chosen: bool) -> Why:
    own = {*_FEATURES, "utility", "rank", "left_tokens"}
    rank, left = scores.get("rank"), scores.get("left_tokens")
    return Why(
        item_id=item.item_id,
        source=item.source,
        kind=item.kind.value,
        version=item.version,
        chosen=chosen,
        rule=rule,
        tokens=item.token_count,
        utility=scores.get("utility"),
        rank=None if rank is None else int(rank),
        budget_left_tokens=None if left is None else int(left),
        features={name: scores[name] for name in _FEATURES if name in scores},
        scores={name: value for name, value in scores.items() if name not in own},
    )
