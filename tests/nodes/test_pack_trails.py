"""A lap reads the records that are new to it, and makes the same of a turn as a process that reads all of it."""

from typing import Any

from nodes.pack.drafts import Drafts
from nodes.pack.trail import Trace
from nodes.pack.trails import Trails
from state.checks.keeping import MOST_CHARS, Keeping
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


def test_a_turn_of_more_than_is_kept_is_brought_whole() -> None:
    turn = look(look(Turn(), "A1", memo="x" * MOST_CHARS), "A2")
    trails, log = opened(turn)
    assert traces(trails, turn) == traces(opened(turn)[0], turn)
    look(turn, "A3")
    assert traces(trails, turn) == traces(opened(turn)[0], turn)
    assert log.read == 2 + 2  # the new record and the one that was too long to keep


def test_what_is_kept_is_bounded_in_characters_over_all_names() -> None:
    keeping = Keeping[int, str](1_000, most_chars=100)
    for name in range(20):
        keeping.keep(name, "made", 30)
    assert [name for name in range(20) if keeping.get(name)] == [17, 18, 19]
    keeping.keep(19, "larger than all", 101)
    assert [name for name in range(20) if keeping.get(name)] == [17, 18]
    keeping.keep(20, "as large as all", 100)
    assert [name for name in range(21) if keeping.get(name)] == [20]


def test_what_is_kept_under_a_name_again_is_counted_once() -> None:
    keeping = Keeping[str, str](1_000, most_chars=100)
    for _ in range(9):
        keeping.keep("one", "made", 60)
    keeping.keep("other", "made", 40)
    assert (keeping.get("one"), keeping.get("other")) == ("made", "made")
