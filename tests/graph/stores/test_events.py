"""The contract of the port EventQueue (S3): who may be told, once a thread; what is erased and what stays."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from graph.stores.engine import Database, open_database
from graph.stores.events import SqlEventQueue
from state.context import DropReason
from state.events import Event, Settled
from state.ports import EventQueue
from state.run import Principal, Scope
from tests.fakes import NOW
from tests.fakes_events import FakeEventQueue


def event(about: str = "INC-1", **changes: Any) -> Event:
    return Event.model_validate({"tenant": "t1", "kind": "incident_began", "about": about, "at": NOW, **changes})


def scope(thread: str = "T", name: str = "mia@t1", tenant: str = "t1") -> Scope:
    person = Principal(name=name, tenant=tenant, roles=("agent",))
    return Scope(principal=person, actor=person, thread=thread)


@pytest.fixture
def queue(place: Database | None) -> EventQueue:
    return FakeEventQueue() if place is None else SqlEventQueue(place.everyday)


def abouts(queue: EventQueue, of: Scope, most: int = 64) -> list[str]:
    return [one.event.about for one in queue.pending(of, most)]


def test_what_was_put_comes_back_as_it_was_oldest_first(queue: EventQueue) -> None:
    given = [event("Ñandú “1”"), event("b", principal="mia@t1", key="k"), event("c", thread="T")]
    numbers = [queue.put(one) for one in given]
    assert [(one.event_id, one.event) for one in queue.pending(scope(), 64)] == list(zip(numbers, given, strict=True))
    assert abouts(queue, scope(), 2) == ["Ñandú “1”", "b"]


@pytest.mark.parametrize(
    ("to", "told"),
    [
        ({}, ["mine", "my other thread", "colleague"]),
        ({"principal": "mia@t1"}, ["mine", "my other thread"]),
        ({"thread": "T"}, ["mine"]),
        ({"principal": "mia@t1", "thread": "T"}, ["mine"]),
        ({"principal": "leo@t1"}, ["colleague"]),
        ({"principal": "leo@t1", "thread": "T"}, []),
        ({"tenant": "t2"}, ["foreign"]),
        ({"tenant": "t2", "thread": "T"}, []),
    ],
)
def test_only_whom_it_is_for_is_told(queue: EventQueue, to: dict[str, str], told: list[str]) -> None:
    queue.put(event(**to))
    scopes = {
        "mine": scope(),
        "my other thread": scope("U"),
        "colleague": scope("L", "leo@t1"),
        "foreign": scope("F", "mia@t1", "t2"),
    }
    assert [name for name, one in scopes.items() if abouts(queue, one)] == told


def test_a_thread_settles_an_event_once_and_for_itself(queue: EventQueue) -> None:
    number = queue.put(event())
    for _ in range(2):
        queue.settle(scope(), [Settled(event_id=number)], 3, NOW)
    assert (abouts(queue, scope()), abouts(queue, scope("U"))) == ([], ["INC-1"])


def test_one_key_of_a_tenant_is_one_event(queue: EventQueue) -> None:
    first = queue.put(event(key="k"))
    assert queue.put(event("again", key="k")) == first
    assert queue.put(event("foreign", key="k", tenant="t2")) != first
    assert len({queue.put(event(f"without {n}")) for n in range(2)}) == 2
    assert abouts(queue, scope()) == ["INC-1", "without 0", "without 1"]


def test_producers_at_once_queue_a_key_once(database: Database) -> None:
    queue = SqlEventQueue(database.everyday)
    with ThreadPoolExecutor(8) as pool:
        numbers = set(pool.map(lambda n: queue.put(event(key=f"k{n % 3}")), range(24)))
    assert len(numbers) == len(abouts(queue, scope())) == 3


def test_what_was_settled_is_there_after_opening_again(target: Any) -> None:
    first = open_database(target)
    queue = SqlEventQueue(first.everyday)
    told, left = queue.put(event("told")), queue.put(event("left"))
    queue.put(event("waits"))
    queue.settle(scope(), [Settled(event_id=told), Settled(event_id=left, dropped=DropReason.NO_LONGER_SO)], 2, NOW)
    first.close()
    again = open_database(target)
    record = SqlEventQueue(again.everyday).record(scope())
    again.close()
    assert [(one.queued.event.about, one.thread, one.decision, one.dropped) for one in record] == [
        ("told", "T", 2, None),
        ("left", "T", 2, DropReason.NO_LONGER_SO),
        ("waits", None, None, None),
    ]


def test_what_is_for_a_forgotten_thread_or_principal_is_erased_and_nothing_else(database: Database) -> None:
    queue = SqlEventQueue(database.everyday)
    for about, to in {
        "everybody": {},
        "hers": {"principal": "mia@t1"},
        "the thread's": {"thread": "T"},
        "his": {"principal": "leo@t1"},
        "other thread's": {"thread": "U"},
        "foreign": {"tenant": "t2", "principal": "mia@t1"},
    }.items():
        queue.put(event(about, **to))
    queue.settle(scope(), [Settled(event_id=one.event_id) for one in queue.pending(scope(), 64)], 0, NOW)
    assert len(queue.of("t1", ["T"], "mia@t1")) == queue.erase("t1", ["T"], "mia@t1") == 2
    assert [one.queued.event.about for one in queue.record(scope())] == ["everybody"]
    assert queue.record(scope())[0].decision is None  # what the thread was told is gone too
    assert abouts(queue, scope("L", "leo@t1")) == ["everybody", "his"]
    assert abouts(queue, scope("F", "mia@t1", "t2")) == ["foreign"]
