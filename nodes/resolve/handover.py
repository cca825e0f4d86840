"""What a turn leaves to the handover when requests no longer show it (C5): read off its records, never off words."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from state.checks.identifiers import identifiers
from state.contract import Effect
from state.handover import EFFECTS, Call, Handover, Named, Said, Settled
from state.ports import Artifacts, DecisionLog
from state.record import DecisionRecord
from state.run import Scope
from state.task import Rejection, TaskState, TurnDone

_LAPS = (4, 16, 64)  # of one turn, its last ones


def handed_over(artifacts: Artifacts, log: DecisionLog, scope: Scope, task: TaskState, cut: Sequence[TurnDone]) -> str:
    """The address of the handover after these turns went out of sight, oldest first."""
    before = task.handover_ref
    made = None if before is None else Handover.model_validate_json(artifacts.get(scope.tenant, before))
    for done in cut:
        newer = left_by(done.index, _laps(log, scope, done), task.rejections, partial(artifacts.get, scope.tenant))
        made = newer if made is None else made.with_more(newer)
    assert made is not None
    texts = artifacts.get_all(scope.tenant, {one.ref for one in made.identifiers})
    made = made.model_copy(update={"identifiers": _each_once(made.identifiers, texts)})
    return artifacts.put(scope.tenant, made.model_dump_json())


def _laps(log: DecisionLog, scope: Scope, done: TurnDone) -> list[DecisionRecord]:
    """The records of a turn, oldest first. Most turns are short, so few records are read before many are."""
    own: list[DecisionRecord] = []
    for limit in _LAPS:
        laps = log.chain(scope.tenant, scope.thread, done.record, limit=limit)
        own = [lap for lap in reversed(laps) if lap.turn_index == done.index]
        if len(own) < limit:
            break
    return own


def _each_once(found: Sequence[Named], texts: Mapping[str, str]) -> tuple[Named, ...]:
    """The newest identifiers, oldest first, each at the last place where it stands."""
    last = {texts[one.ref][one.start : one.end]: one for one in found}
    return tuple(one for one in found if last[texts[one.ref][one.start : one.end]] is one)[-EFFECTS:]


def left_by(
    turn: int, laps: Sequence[DecisionRecord], rejections: Sequence[Rejection], read: Callable[[str], str]
) -> Handover:
    """What the laps of one turn left, oldest first. What an abandoned lap did is told: an effect stays done."""
    seen = [seen for lap in laps for seen in lap.observations]
    calls = [
        (one.effect, Call(turn=turn, tool=one.tool, outcome=one.outcome, artifact=one.artifact_ref)) for one in seen
    ]
    # Without a status a turn was abandoned, and its last proposal may never have passed validate.
    answers = [lap.proposal_ref for lap in laps if lap.status is not None and lap.proposal_ref is not None]
    turns = tuple(dict.fromkeys(lap.turn_ref for lap in laps))
    return Handover(
        through=turn,
        intent=tuple(Said(turn=turn, ref=ref) for ref in turns),
        identifiers=tuple(
            Named(turn=turn, ref=ref, start=start, end=end) for ref in turns for start, end in identifiers(read(ref))
        ),
        findings=tuple(Said(turn=turn, ref=ref) for ref in answers),
        changed=tuple(call for effect, call in calls if effect is not Effect.READ),
        checked=tuple(call for effect, call in calls if effect is Effect.READ),
        decisions=tuple(
            Settled(turn=turn, about=one.about, rule=one.rule, by=one.by) for one in rejections if one.turn == turn
        ),
    )
