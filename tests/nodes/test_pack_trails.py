"""A lap reads the records that are new to it, and makes the same of a turn as a process that reads all of it."""

from typing import Any

from nodes.pack.drafts import Drafts
from nodes.pack.trail import Trace
from nodes.pack.trails import Trails
from state.checks.kept import let_go
from tests.fakes import NOW, CharCounter
from tests.nodes.parts import Parts
from tests.nodes.test_pack_compact import Turn, look


class Counted:
    """The record chain, with every record that was read of it noted."""

    def __init__(self, parts: Parts) -> None:
        self._log, self.read = parts.log, 0

    def chain(self, *given: Any, **more: Any) -> Any:
        """The records."""
        found = self._log.chain(*given, **more)
        self.read += len(found)
        return found


def traces(trails: Trails, turn: Turn) -> list[Trace]:
    parts = turn.parts
    drafts = Drafts(parts.artifacts, CharCounter(), parts.scope.tenant, NOW)
    request, task = parts.request(parent=turn.head), parts.task(laps_in_turn=turn.laps)
    return trails.this_turn(drafts, parts.scope, request, task)


def opened(turn: Turn) -> tuple[Trails, Counted]:
    log: Any = Counted(turn.parts)
    return Trails(turn.parts.artifacts, log, turn.parts.desk.contracts), log


def test_a_lap_reads_its_new_record_alone_and_brings_the_whole_turn() -> None:
    turn = Turn()
    trails, log = opened(turn)
    for number in range(6):
        look(turn, f"A{number}")
        assert traces(trails, turn) == traces(opened(turn)[0], turn)
    assert log.read == 6


def test_a_process_that_made_nothing_of_the_turn_reads_each_record_once() -> None:
    turn = Turn()
    for number in range(6):
        look(turn, f"A{number}")
    trails, log = opened(turn)
    traces(trails, turn)
    assert log.read == 6


def test_what_is_kept_goes_when_something_is_forgotten() -> None:
    turn = look(Turn())
    trails, log = opened(turn)
    traces(trails, turn)
    let_go()
    traces(trails, turn)
    assert log.read == 2
