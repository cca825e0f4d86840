"""H06: every type that a value may hold comes back equal from the checkpoint, in a new process, in strict mode."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from pydantic import AwareDatetime, Field
from typing_extensions import TypedDict

from graph.savers import sqlite_saver
from state.value import Value

CONFIG: RunnableConfig = {"configurable": {"thread_id": "T"}}


class Colour(Enum):
    RED = 1


class Mood(StrEnum):
    CALM = "calm"


class Inner(Value):
    colour: Colour
    pair: tuple[str, int]


class One(Value):
    kind: Literal["one"] = "one"
    inner: Inner


class Two(Value):
    kind: Literal["two"] = "two"
    amount: Decimal


class Held(Value):
    """Everything the report names: nested enum, StrEnum, Decimal, aware times, tuple, int keys, a union of models."""

    mood: Mood
    amount: Decimal
    at: AwareDatetime
    elsewhere: AwareDatetime
    pair: tuple[str, int]
    by_number: dict[int, str]
    either: tuple[Annotated[One | Two, Field(discriminator="kind")], ...]
    nothing: str | None = None


HELD = Held(
    mood=Mood.CALM,
    amount=Decimal("10.10"),
    at=datetime(2026, 11, 29, 10, 0, 0, 123456, tzinfo=UTC),
    elsewhere=datetime(2026, 11, 29, 10, tzinfo=timezone(timedelta(hours=5, minutes=45))),
    pair=("a", 1),
    by_number={3: "x"},
    either=(One(inner=Inner(colour=Colour.RED, pair=("b", 2))), Two(amount=Decimal("0.10"))),
)


class State(TypedDict):
    held: dict[str, Any]


READER = """
import sys
from pathlib import Path
from graph.savers import sqlite_saver
from tests.graph.test_types_come_back import CONFIG, HELD, Held
with sqlite_saver(Path(sys.argv[1])) as saver:
    found = Held.model_validate(saver.get_tuple(CONFIG).checkpoint["channel_values"]["held"])
assert found == HELD, found
assert type(found.mood) is type(HELD.mood) and type(found.amount) is type(HELD.amount), found
assert [type(one) for one in found.either] == [type(one) for one in HELD.either], found
assert found.at.isoformat() == HELD.at.isoformat() and found.elsewhere.utcoffset() == HELD.elsewhere.utcoffset()
print("equal")
"""


def test_every_type_comes_back_equal_in_a_new_process_in_strict_mode(tmp_path: Path) -> None:
    """As the nodes write it: plain JSON into the channel, and the typed value made of it again."""
    graph = StateGraph(State)
    graph.add_node("write", lambda _: {"held": HELD.model_dump(mode="json")})
    graph.add_edge(START, "write")
    graph.add_edge("write", END)
    path = tmp_path / "checkpoints.db"
    with sqlite_saver(path) as saver:
        graph.compile(checkpointer=saver).invoke({"held": {}}, CONFIG)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", READER, str(path)],
        env={**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("equal\n", "")
