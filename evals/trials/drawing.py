"""What a trial does, drawn from seed, engine and number: which errand, where the kills fall, how it is gone on with."""

from collections.abc import Sequence
from random import Random

from evals.trials.script import Errand
from state.value import Value

OPENING, RUN, WRITE = "opening", "run", "write"
# A turn takes a tenth of what opening takes: drawn by time alone, nine kills of ten would meet the same few steps. And
# what matters in a turn lies around its writes, which take little of its time.
_SHARES = {OPENING: 0.2, RUN: 0.4, WRITE: 0.4}
_TWICE = 1 / 3
_GOES_ON = 1 / 3
# Slightly past the end: an undisturbed run varies, and its last steps are to be met too.
_BEYOND = 1.05


class Stroke(Value):
    """One kill, at a fraction of what an undisturbed run takes: of its opening's time, of its run's time, or of its
    number of writes."""

    during: str
    fraction: float


class Draw(Value):
    """One trial. `empty_home`: even the library has to be made, else it is copied from one that was made before."""

    number: int
    errand: str
    goes_on: bool
    empty_home: bool
    strokes: tuple[Stroke, ...]


def drawn(seed: int, engine: str, number: int, errands: Sequence[Errand]) -> Draw:
    """The trial of that number. Errands take turns, so that each is met equally often."""
    random = Random(f"{seed}/{engine}/{number}")
    first = _stroke(random)
    strokes = (first, _stroke(random)) if random.random() < _TWICE else (first,)
    return Draw(
        number=number,
        errand=errands[number % len(errands)].name,
        goes_on=random.random() < _GOES_ON,
        empty_home=first.during == OPENING and random.random() < 0.5,
        strokes=strokes,
    )


def _stroke(random: Random) -> Stroke:
    (during,) = random.choices(list(_SHARES), list(_SHARES.values()))
    return Stroke(during=during, fraction=round(random.uniform(0, _BEYOND), 4))
