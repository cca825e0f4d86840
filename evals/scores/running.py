"""Efficiency and recoverability: what a run costs, and how it stands after what went wrong."""

from collections import Counter
from collections.abc import Iterator

from evals.case import Case
from evals.play import CRASHED, Played, TurnPlayed
from evals.scores.measure import Measure, Score, judged
from evals.scores.seen import done_effects, fits, plain
from evals.steps import NothingThere
from graph.conversation import NothingPending
from state.work import Status


def efficiency(played: Played) -> Score | None:
    """Tokens of all attempts and summaries: as reported where the server did, else as counted before the call.

    None where the record cannot be read: a run without figures is not a cheap one.
    """
    if played.unreadable:
        return None
    tokens = 0
    for decision in played.decisions:
        for attempt in decision.attempts:
            counted = decision.manifest.total_input_tokens if decision.manifest else 0
            usage = attempt.usage
            tokens += usage.input_tokens if usage and usage.input_tokens is not None else counted
            tokens += usage.output_tokens if usage and usage.output_tokens is not None else 0
        for told in (seen.summary for seen in decision.observations if seen.summary is not None):
            reported = told.usage.input_tokens if told.usage else None
            tokens += reported if reported is not None else told.counted_tokens * told.tries
            tokens += told.usage.output_tokens or 0 if told.usage else 0
    return Score(measure=Measure.EFFICIENCY, value=float(tokens))


def recoverability(case: Case, played: Played) -> Score | None:
    """After a failure, a rejection or a crash: no error in the caller's face, a readable thread, no effect twice.

    Measured where the case makes something go wrong, and where something went wrong that no case asked for.
    """
    tried = case.fixture.failures or any(
        turn.reject or turn.answer is not None or turn.after_s or turn.refused or turn.from_outside
        for turn in case.turns
    )
    score = judged(Measure.RECOVERABILITY, _not_recovered(case, played))
    return score if tried or score.value < 1 else None


def _not_recovered(case: Case, played: Played) -> Iterator[str]:
    if played.unreadable:
        yield f"the thread cannot be read: {played.unreadable}"
    yield from (f"the record does not prove what was sent: {fault}" for fault in played.unproved)
    last = played.turns[-1]
    # A model that failed by itself ends its turn rightly: that is no matter of recovery, and the run shows nothing.
    if not played.model_faults:
        yield from (f"{turn.turn.name!r} stopped with {turn.stopped_by}" for turn in played.turns if _unasked(turn))
        if last.status is Status.FAILED and Status.FAILED not in last.turn.ends:
            yield "the last turn failed"
    if last.stopped_by == CRASHED:
        yield "nothing went on after the crash"
    done = {(run.tool, plain(run.arguments)): run for run in done_effects(played)}
    times = Counter((run.tool, plain(run.arguments)) for run in done_effects(played))
    for call, run in done.items():
        wanted = sum(fits(run, effect.tool, effect.arguments) for effect in case.effects)
        if times[call] > max(wanted, 1):
            yield f"{run.tool}({plain(run.arguments)}) was done {times[call]} times"


def _unasked(turn: TurnPlayed) -> bool:
    """Whether an error ended a turn that the case did not ask for.

    An answer to a call that does not wait is refused, whatever led there: no failure, and success has its say. So it
    has where a step found nothing to begin with.
    """
    idle = NothingPending.__name__ if turn.turn.answers else ""
    return turn.stopped_by not in ("", CRASHED, NothingThere.__name__, idle, turn.turn.refused)
