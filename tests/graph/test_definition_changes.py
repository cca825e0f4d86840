"""A changed definition is told to every tenant once for each content, while it is blocked."""

from graph.definition_changes import DefinitionChanges
from state.events import DEFINITION_CHANGED, Event
from tests.desk import SCOPE
from tests.fakes import NOW, FakeClock
from tests.fakes_events import FakeEventQueue

A, B = "a" * 64, "b" * 64
SKILL, TOOL = "skill refund-steps", "mcp search/lookup"


def changes(queue: FakeEventQueue) -> DefinitionChanges:
    return DefinitionChanges(queue, ["t2", "t1", "t1"], FakeClock(NOW))


def queued(queue: FakeEventQueue) -> list[tuple[str, str]]:
    assert {event.kind for event in queue.events} <= {DEFINITION_CHANGED}
    return [(event.tenant, event.about) for event in queue.events]


def test_each_tenant_is_told_once_for_each_content() -> None:
    queue = FakeEventQueue()
    one, after_a_restart = changes(queue), changes(queue)
    one.blocked(SKILL, A)
    one.blocked(SKILL, A)
    after_a_restart.blocked(SKILL, A)
    assert queued(queue) == [("t1", SKILL), ("t2", SKILL)]
    one.blocked(SKILL, B)
    one.blocked(TOOL, A)
    assert queued(queue)[2:] == [("t1", SKILL), ("t2", SKILL), ("t1", TOOL), ("t2", TOOL)]


def test_it_is_so_until_the_definition_is_mended() -> None:
    told = changes(FakeEventQueue())
    about = Event(tenant="t1", kind=DEFINITION_CHANGED, about=SKILL, at=NOW)
    assert not told.still_so(SCOPE, about, NOW)
    told.blocked(SKILL, A)
    assert told.still_so(SCOPE, about, NOW)
    assert not told.still_so(SCOPE, about.model_copy(update={"about": TOOL}), NOW)
    told.mended(SKILL)
    assert not told.still_so(SCOPE, about, NOW)
