"""`agent notify` and `agent events` as a producer and an operator call them."""

from graph.cli.events import standing
from state.events import Event, Queued, Told
from tests.fakes import NOW
from tests.graph.cli.conftest import QUESTION, SameProgram, one_line_error

AS = ("--as", "ana@acme")


def test_what_is_queued_is_told_by_the_next_request_and_listed(same: SameProgram) -> None:
    assert same("notify", "incident_began", "INC-302", "--tenant", "acme").out == "event 1 is queued\n"
    again = same("notify", "incident_began", "INC-302", "--tenant", "acme", "--thread", "first", "--key", "k", "--json")
    assert (again.json()["event_id"], again.json()["thread"]) == (2, "first")
    waits = " ".join(same("events", "first", *AS).out.split())
    assert waits.count("incident_began INC-302: waits for the next request") == 2
    assert same("ask", QUESTION, "--thread", "first", *AS).code == 0
    first, second = same("events", "first", *AS, "--json").json()["events"]
    assert (first["dropped"], second["dropped"]) == ("told_by_newer", None)


def test_what_nobody_could_be_told_is_refused_in_one_line(same: SameProgram) -> None:
    of = ("--tenant", "acme")
    kinds = "the domain's kinds: incident_began, incident_ended"
    assert kinds in one_line_error(same("notify", "disk_full", "sda", *of), 2)
    assert "allowed: one short line" in one_line_error(same("notify", "incident_began", "two\nlines", *of), 2)


def told(*decisions: int) -> tuple[Told, ...]:
    event = Event(tenant="t1", kind="file_changed", about="a", at=NOW)
    return tuple(Told(queued=Queued(event_id=n, event=event), thread="T", decision=n) for n in decisions)


def test_what_three_requests_in_a_row_told_belongs_in_the_instructions() -> None:
    assert standing(told(3, 4, 6)) == []
    assert standing(told(3, 4, 5)) == [("file_changed", "a")]
