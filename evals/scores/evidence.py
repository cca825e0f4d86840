"""Evidence recall, context precision and freshness: whether the requests held the right material."""

from collections.abc import Iterator

from evals.case import Case
from evals.play import Played
from evals.scores.measure import Measure, Score, judged
from evals.scores.seen import items, shown, sources_shown
from evals.world import World
from state.context import Kind


def recall(case: Case, played: Played) -> Score | None:
    if not case.required_evidence:
        return None
    present = sources_shown(played)
    missing = [source for source in case.required_evidence if source not in present]
    value = 1 - len(missing) / len(case.required_evidence)
    return Score(measure=Measure.RECALL, value=value, why=", ".join(missing))


def precision(case: Case, played: Played) -> Score | None:
    """The share of evidence in the requests that somebody labelled as belonging there."""
    wanted = {*case.required_evidence, *case.helpful_evidence}
    present = [item.source for item in items(played) if item.kind is Kind.EVIDENCE and not item.sides]
    if not wanted or not present:
        return None
    other = [source for source in present if source not in wanted]
    why = ", ".join(dict.fromkeys(other))
    return Score(measure=Measure.PRECISION, value=1 - len(other) / len(present), why=why)


def freshness(case: Case, played: Played, world: World) -> Score:
    return judged(Measure.FRESHNESS, _stale(case, played, world))


def _stale(case: Case, played: Played, world: World) -> Iterator[str]:
    """Judged at the time of each request: what was found before a long wait may have ended meanwhile."""
    found: list[str] = []
    for item, at in shown(played):
        if item.sides:  # our own block about what is judged itself
            continue
        document = item.source.partition("#")[0]
        stale = item.source in case.stale_evidence or document in case.stale_evidence
        if stale or not world.in_force(item.provenance.tenant, document, at):
            found.append(f"{item.source} was shown, which is not in force")
        ends = item.provenance.effective_to
        if ends is not None and ends <= at:
            found.append(f"{item.source} was shown, which ended {ends.isoformat()}")
    yield from dict.fromkeys(found)
