"""Efficiency and recoverability: what a run costs, and how it stands after what went wrong."""

from collections import Counter
from collections.abc import Iterator

from evals.case import Case
from evals.play import CRASHED, Played
from evals.scores.measure import Measure, Score, judged
from evals.scores.seen import done_effects, plain
from graph.conversation import NothingPending
from state.work import Status


def efficiency(played: Played) -> Score:
    """Tokens of all attempts: as reported where the server did, else as counted before the call."""
    tokens = 0
    for decision in played.decisions:
        for attempt in decision.attempts:
            counted = decision.manifest.total_input_tokens if decision.manifest else 0
            usage = attempt.usage
            tokens += usage.input_tokens if usage and usage.input_tokens is not None else counted
            tokens += usage.output_tokens if usage and usage.output_tokens is not None else 0
    return Score(measure=Measure.EFFICIENCY, value=float(tokens))


def recoverability(case: Case, played: Played) -> Score | None:
    """After a failure, a rejection or a crash: no error in the caller's face, a readable thread, no effect twice."""
    tried = case.fixture.failures or any(
        turn.reject or turn.after_s or turn.refused or turn.go_on or turn.rewrite for turn in case.turns
    )
    return judged(Measure.RECOVERABILITY, _not_recovered(case, played)) if tried else None


def _not_recovered(case: Case, played: Played) -> Iterator[str]:
    if played.unreadable:
        yield f"the thread cannot be read: {played.unreadable}"
    for turn in played.turns:
        # An answer to a call that does not wait is refused, whatever led there: no failure, and success has its say.
        idle = NothingPending.__name__ if turn.turn.approve or turn.turn.reject else ""
        if turn.stopped_by not in ("", CRASHED, idle, turn.turn.refused):
            yield f"{turn.turn.name!r} stopped with {turn.stopped_by}"
    last = played.turns[-1]
    if last.status is Status.FAILED and Status.FAILED not in last.turn.ends:
        yield "the last turn failed"
    for (tool, arguments), count in Counter((run.tool, plain(run.arguments)) for run in done_effects(played)).items():
        wanted = sum(effect.tool == tool for effect in case.effects)
        if count > max(wanted, 1):
            yield f"{tool}({arguments}) was done {count} times"
