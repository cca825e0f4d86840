"""What a trial is judged by: its end, its effects, its record, its artifacts, and how long its thread was held."""

from collections.abc import Iterator, Sequence

from evals.trials.process import Life
from evals.trials.protocol import Ended
from evals.trials.script import Errand
from state.value import Value
from state.work import Status

_ASKED_AGAIN = "asked what became of it"
_SLACK_S = 1.0  # beside the lease: one look of the user, and what a busy machine needs for it


class Fault(Value):
    """One thing that is not as it was promised: which promise, and what was found."""

    kind: str
    found: str


def judged(
    lives: Sequence[Life], errand: Errand, calm: Ended, effects: Sequence[str], lease_s: float
) -> tuple[Fault, ...]:
    """Every promise that the trial shows broken. `calm` is the end of an undisturbed run, `effects` are the keys found
    in the world."""
    faults = [*_died(lives), *_held(lives, lease_s)]
    ended = lives[-1].events[-1].ended if lives[-1].events else None
    if ended is not None:
        told = tuple(event.record for life in lives for event in life.events if event.at == "filed" and event.record)
        steps = [step for life in lives for event in life.events if event.ended for step in event.ended.steps]
        faults += [*_ends(ended, errand, calm, steps), *_acknowledged(ended, told), *_sound(ended)]
        faults += _effects(ended, errand, effects)
    elif not faults:
        faults.append(Fault(kind="no end", found=f"the last worker's last word was {lives[-1].last}"))
    return tuple(faults)


def _died(lives: Sequence[Life]) -> Iterator[Fault]:
    for number, life in enumerate(lives):
        if life.hung:
            yield Fault(kind="hung", found=f"worker {number} after {life.last}")
        if life.error:
            yield Fault(kind="worker failed", found=f"worker {number} after {life.last}: {life.error}")


def _held(lives: Sequence[Life], lease_s: float) -> Iterator[Fault]:
    """A killed run's lease is its last renewal's: its thread is free one lease after its death at the latest."""
    died_at: float | None = None
    for number, life in enumerate(lives):
        busy = [event.when for event in life.events if event.at == "busy"]
        if busy and died_at is None:
            yield Fault(kind="lease held", found=f"worker {number} met a lease, and no run had been killed")
        elif busy and died_at is not None and busy[-1] - died_at > lease_s + _SLACK_S:
            yield Fault(kind="lease held", found=f"{busy[-1] - died_at:.2f} s after the kill, of {lease_s:g} s")
        if life.killed and life.when("running") is not None:
            died_at = life.ended_at


def _ends(ended: Ended, errand: Errand, calm: Ended, steps: Sequence[str]) -> Iterator[Fault]:
    """`steps` are those of every life that came to an end, also of one that was killed right after."""
    # A tool that does not know a call again is not run again where nobody knows: it is for a person to look.
    left_open = errand.forgetful and ended.unknown
    if ended.status != calm.status and not (left_open and ended.status is Status.ESCALATED):
        yield Fault(kind="ends otherwise", found=f"{ended.status} where an undisturbed run is {calm.status}")
    # Whoever asks what became of it, or rejects what is done already, has another last turn.
    other = _ASKED_AGAIN in steps or any(step.startswith("reject") for step in steps)
    if not other and not left_open and ended.path != calm.path:
        yield Fault(kind="ends otherwise", found=f"{' → '.join(ended.path)}; undisturbed {' → '.join(calm.path)}")


def _acknowledged(ended: Ended, told: Sequence[str]) -> Iterator[Fault]:
    for record in told:
        if record not in ended.filed:
            yield Fault(kind="acknowledged and lost", found=record)
        elif record not in ended.chain:
            yield Fault(kind="acknowledged and off the chain", found=record)


def _sound(ended: Ended) -> Iterator[Fault]:
    for fault in ended.verification.faults:
        yield Fault(kind="not sound", found=f"decision {fault.index}: {fault.what} {fault.how}")
    if ended.verification.branches != 1:
        yield Fault(kind="branched", found=f"{ended.verification.branches} branches, and nobody forked the thread")
    for missing in ended.verification.erased:
        yield Fault(kind="artifact missing", found=missing)


def _effects(ended: Ended, errand: Errand, effects: Sequence[str]) -> Iterator[Fault]:
    """The user approves nothing that is done already, so nothing may be there twice."""
    if errand.tool is None:
        return
    if len(effects) > 1:
        yield Fault(kind="effect twice", found=f"{len(effects)} effects, and nobody was asked")
    if not effects and not (errand.forgetful and ended.unknown):
        yield Fault(kind="effect missing", found="the turn is over, and the wish is not fulfilled")
    claimed = [key for key, _ in ended.claims]
    for effect in effects:
        if not any(effect.startswith(key) for key in claimed):
            yield Fault(kind="effect unclaimed", found=effect)
