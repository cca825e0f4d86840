"""A list that was gone through thing by thing leaves nothing out; one with a gap was the model's choice (X4)."""

import json

import pytest
from pydantic import JsonValue

from nodes.validate.provenance import past_of, rows_of
from state.canonical import digest
from state.checks.known import Row
from state.checks.meaning import meaning
from state.checks.origin import Shown
from state.checks.selection import Selection
from state.checks.sources import Sources
from state.checks.trace import traced
from state.context import Trust
from state.contract import Effect, OutputField, ToolContract
from state.labels import Argument
from state.verdict import Allowed
from tests.fakes import NOW
from tests.nodes.parts import Parts, observation

ASKED = "Find the user who wrote the most messages and thank them"
ROOMS = ToolContract(
    name="list_rooms",
    description="List rooms.",
    effect=Effect.READ,
    parameters={"type": "object", "properties": {}, "additionalProperties": False},
    roles=("agent",),
    output=(OutputField(name="room", trust="directory", identifies="room"),),
)
READ = ToolContract(
    name="read_room",
    description="Read a room.",
    effect=Effect.READ,
    parameters={
        "type": "object",
        "properties": {"room": {"type": "string"}, "most": {"type": "integer"}},
        "additionalProperties": False,
    },
    roles=("agent",),
    output=(
        OutputField(name="sender", trust="directory", identifies="user", counted=("message",)),
        OutputField(name="room", trust="system"),
        OutputField(name="body", by="sender", within="room"),
    ),
    arguments={"room": Argument(role="object", kind="room")},
)
CONTRACTS = {one.name: one for one in (ROOMS, READ)}
HELD = {"east": ("ana", "ana", "bob"), "west": ("bob", "ana"), "north": ("eve",)}


class Reading:
    """A turn in which rooms are listed and read, one call a lap."""

    def __init__(self, words: str = ASKED) -> None:
        self.parts, self.words = Parts(), words
        self._head: str | None = None
        self._shown: list[Shown] = [Shown("objective", Trust.USER, words, "turn://1")]
        self._index = 0

    def rows(self) -> tuple[Row, ...]:
        log, scope = self.parts.log, self.parts.scope
        chain = log.chain(scope.tenant, scope.thread, self._head) if self._head else ()
        past = past_of(chain, 1, CONTRACTS, self.parts.get)
        return rows_of(tuple(self._shown), CONTRACTS, scope.principal, past)

    def call(self, tool: str, rows: list[dict[str, str]], **arguments: JsonValue) -> None:
        call_id, source = f"c{self._index}", f"toolrun://r/{self._index}"
        trace = traced(CONTRACTS[tool], arguments, Sources(tuple(self._shown), self.rows(), NOW.date()))
        self._shown.append(Shown(f"{call_id}-i", Trust.SYSTEM, json.dumps({"tool": tool, "rows": rows}), source))
        seen = observation(
            call_id,
            tool,
            self.parts.put("{}"),
            artifact_ref=source,
            arguments_digest=digest({"tool": tool, **arguments}),
        )
        allowed = Allowed(call_id=call_id, rule="r", policy_version="desk-1", bound=call_id, trace=trace)
        self._head = self.parts.filed(
            parent=self._head,
            index=self._index,
            proposal_ref=self.parts.act((call_id, tool, arguments)),
            verdicts=(allowed,),
            observations=(seen,),
        )
        self._index += 1

    def rooms(self) -> None:
        self.call("list_rooms", [{"room": room} for room in HELD])

    def read(self, room: str, **more: int) -> None:
        self.call("read_room", [{"sender": one, "room": room} for one in HELD[room]], room=room, **more)

    def most(self) -> str | None:
        """Who is chosen as the one with the most messages."""
        rows = self.rows()
        selection = Selection(meaning(self.words, NOW.date()), rows)
        found = [
            str(cell.value)
            for row in rows
            for cell in row.cells
            if cell.field.name == "sender" and selection.choice(cell.value, row, cell) == "extreme"
        ]
        return found[0] if found else None


def test_whoever_has_the_most_in_a_list_that_was_read_whole_is_chosen() -> None:
    reading = Reading()
    reading.rooms()
    for room in HELD:
        reading.read(room)
    assert reading.most() == "ana"


@pytest.mark.parametrize("left", HELD)
def test_a_list_with_a_gap_chooses_nobody(left: str) -> None:
    reading = Reading()
    reading.rooms()
    for room in HELD.keys() - {left}:
        reading.read(room)
    assert reading.most() is None


def test_without_the_list_nothing_is_whole() -> None:
    reading = Reading()
    for room in HELD:
        reading.read(room)
    assert reading.most() is None


def test_what_is_read_twice_counts_for_nobody() -> None:
    reading = Reading()
    reading.rooms()
    for room in (*HELD, "west"):
        reading.read(room)
    assert reading.most() is None


def test_a_read_that_the_model_cut_short_leaves_the_list_open() -> None:
    reading = Reading()
    reading.rooms()
    reading.read("east")
    reading.read("west", most=1)
    reading.read("north")
    assert reading.most() is None


def test_a_room_that_the_user_named_is_one_of_the_list() -> None:
    reading = Reading(f"Read east first. {ASKED}")
    reading.rooms()
    for room in HELD:
        reading.read(room)
    assert reading.most() == "ana"
