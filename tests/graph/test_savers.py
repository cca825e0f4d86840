"""LangGraph's savers and store as we open them: what comes back, what is refused, what is never rebuilt (H06, H24)."""

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from pydantic import SecretStr

from graph.savers import (
    async_sqlite_saver,
    async_sqlite_store,
    checkpoint_serializer,
    sqlite_saver,
    sqlite_store,
)
from graph.stores.unavailable import StoreUnavailable
from state.run import AgentState
from state.task import Retrieved, TaskState, UserTurn
from state.work import LapOutcome
from tests.fakes import NOW

CONFIG: RunnableConfig = {"configurable": {"thread_id": "T"}}
TASK = TaskState(
    objective=UserTurn(index=0, message_id="m1", ref="art-1", at=NOW),
    last_outcome=LapOutcome.OBSERVED,
    steps=("rotate_api_key",),
    retrieved=(Retrieved(key="k", snapshot_ref="art-2"),),
)
WRITES: AgentState = {
    "messages": [HumanMessage("¿Por qué?", id="m1"), AIMessage("Porque sí.", id="m2")],
    "task": TASK.model_dump(mode="json"),
    "head": "0" * 64,
    "verdicts": [{"verdict": "denied", "at": NOW.isoformat(), "limit": 0.1, "nested": [None, True, {"a": []}]}],
}


def graph() -> Any:
    """A graph with the real channels whose one node writes something into each kind of them."""
    builder = StateGraph(AgentState)
    builder.add_node("log", lambda _: WRITES)
    builder.add_edge(START, "log")
    builder.add_edge("log", END)
    return builder


READER = """
import json, sys
from pathlib import Path
from graph.savers import sqlite_saver
from state.task import TaskState
with sqlite_saver(Path(sys.argv[1])) as saver:
    values = saver.get_tuple({"configurable": {"thread_id": "T"}}).checkpoint["channel_values"]
TaskState.model_validate(values["task"])
values["messages"] = [[type(message).__name__, message.content, message.id] for message in values["messages"]]
print(json.dumps(values))
"""


@pytest.mark.parametrize("strict", ["true", "false"])
def test_a_state_comes_back_equal_in_a_new_process(tmp_path: Path, strict: str) -> None:
    """H06: equal values, typed models rebuilt, not one warning, whatever the environment says."""
    path = tmp_path / "checkpoints.db"
    with sqlite_saver(path) as saver:
        graph().compile(checkpointer=saver).invoke({"messages": []}, CONFIG)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", READER, str(path)],
        env={**os.environ, "LANGGRAPH_STRICT_MSGPACK": strict},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    values = json.loads(done.stdout)
    assert values["messages"] == [["HumanMessage", "¿Por qué?", "m1"], ["AIMessage", "Porque sí.", "m2"]]
    assert {key: values[key] for key in ("task", "head", "verdicts")} == {
        key: value for key, value in WRITES.items() if key != "messages"
    }
    assert TaskState.model_validate(values["task"]) == TASK


def test_the_async_saver_reads_what_the_sync_one_wrote(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.db"
    with sqlite_saver(path) as saver:
        graph().compile(checkpointer=saver).invoke({"messages": []}, CONFIG)

    async def read() -> tuple[dict[str, Any], dict[str, Any]]:
        async with async_sqlite_saver(path) as saver:
            compiled = graph().compile(checkpointer=saver)
            before = await compiled.aget_state(CONFIG)
            return before.values, await compiled.ainvoke({"messages": []}, CONFIG)

    before, after = asyncio.run(read())
    assert before == after == WRITES


@pytest.mark.parametrize("smuggled", [SecretStr("demo-cred-4471-QWER"), TASK])
def test_unlisted_types_are_not_rebuilt(smuggled: object) -> None:
    """A type that nobody listed comes back as plain data, also where the environment asks for nothing strict."""
    serializer = checkpoint_serializer()
    back = serializer.loads_typed(serializer.dumps_typed({"value": smuggled}))["value"]
    assert type(back) is not type(smuggled)


def test_savers_write_ahead_and_sync_less(tmp_path: Path) -> None:
    with sqlite_saver(tmp_path / "checkpoints.db") as saver, sqlite_store(tmp_path / "memory.db") as store:
        for connection in (saver.conn, store.conn):
            pragmas = [
                connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("journal_mode", "synchronous", "busy_timeout")
            ]
            assert pragmas == ["wal", 1, 5_000]


def test_writes_of_one_step_are_one_transaction(tmp_path: Path) -> None:
    """The saver counts on the driver to begin it: in autocommit, a kill could leave half a step's writes."""
    config: RunnableConfig = {"configurable": {"thread_id": "T", "checkpoint_ns": "", "checkpoint_id": "1"}}
    statements: list[str] = []
    with sqlite_saver(tmp_path / "checkpoints.db") as saver:
        saver.conn.set_trace_callback(statements.append)
        saver.put_writes(config, [("a", 1), ("b", 2), ("c", 3)], "task")
    assert [statement.split()[0] for statement in statements] == ["BEGIN", *["INSERT"] * 3, "COMMIT"]


def test_the_store_keeps_memories(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with sqlite_store(path) as store:
        store.put(("memory", "acme"), "m1", {"text": "created three days ago"})

    async def read() -> list[str]:
        async with async_sqlite_store(path) as store:
            await store.aput(("memory", "acme"), "m2", {"text": "later"})
            return sorted(item.key for item in await store.asearch(("memory", "acme")))

    assert asyncio.run(read()) == ["m1", "m2"]
    with sqlite_store(path) as store:
        found = store.get(("memory", "acme"), "m1")
        assert found is not None
        assert found.value == {"text": "created three days ago"}
        assert store.search(("memory", "globex")) == []


async def _enter(opened: AbstractAsyncContextManager[object]) -> None:
    async with opened:
        pass


@pytest.mark.parametrize(
    ("opener", "asynchronous"), [(sqlite_saver, async_sqlite_saver), (sqlite_store, async_sqlite_store)]
)
@pytest.mark.parametrize("place", ["missing/x.db", "folder", "garbage", "locked"])
def test_a_file_that_cannot_be_used(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    opener: Callable[[Path], AbstractContextManager[object]],
    asynchronous: Callable[[Path], AbstractAsyncContextManager[object]],
) -> None:
    monkeypatch.setattr("graph.savers.BUSY_TIMEOUT_S", 0.2)
    (tmp_path / "folder").mkdir()
    (tmp_path / "garbage").write_bytes(b"these are not the pages of a database" * 100)
    with closing(sqlite3.connect(tmp_path / "locked", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreUnavailable, match=r"allowed: .*; next: ") as refused, opener(tmp_path / place):
            pytest.fail("it opened")
        assert refused.value.__cause__ is None
        with pytest.raises(StoreUnavailable, match=r"allowed: .*; next: "):
            asyncio.run(_enter(asynchronous(tmp_path / place)))
