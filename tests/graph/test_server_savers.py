"""LangGraph's savers and store on PostgreSQL as we open them: what comes back, who makes the tables, what a loss is."""

import asyncio
import json
import multiprocessing
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from pydantic import SecretStr

from graph.persistence import open_async_saver, open_persistence
from graph.server_savers import async_server_saver, async_server_store, open_server
from graph.settings import Settings
from graph.stores.migrations import SchemaTooNew
from graph.stores.unavailable import StoreUnavailable
from graph.stores.url import database_url
from state.task import TaskState
from tests.graph.test_savers import CONFIG, TASK, WRITES, graph
from tests.postgres import sql, terminate

ROOT = Path(__file__).parents[2]
READER = """
import json, sys
from graph.server_savers import open_server
from graph.stores.url import database_url
with open_server(database_url(sys.argv[1])) as (saver, _):
    values = saver.get_tuple({"configurable": {"thread_id": "T"}}).checkpoint["channel_values"]
values["messages"] = [[type(message).__name__, message.content, message.id] for message in values["messages"]]
print(json.dumps(values))
"""


def test_a_state_comes_back_equal_in_a_new_process(postgres_url: str) -> None:
    with open_server(database_url(postgres_url)) as (saver, _):
        graph().compile(checkpointer=saver).invoke({"messages": []}, CONFIG)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", READER, postgres_url],
        cwd=ROOT,
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


def test_the_async_saver_reads_what_the_sync_one_wrote(postgres_url: str) -> None:
    url = database_url(postgres_url)
    with open_server(url) as (saver, _):
        graph().compile(checkpointer=saver).invoke({"messages": []}, CONFIG)

    async def read() -> tuple[dict[str, Any], dict[str, Any]]:
        async with async_server_saver(url) as saver:
            compiled = graph().compile(checkpointer=saver)
            before = await compiled.aget_state(CONFIG)
            return before.values, await compiled.ainvoke({"messages": []}, CONFIG)

    before, after = asyncio.run(read())
    assert before == after == WRITES


def test_unlisted_types_are_not_rebuilt(postgres_url: str) -> None:
    config: RunnableConfig = {"configurable": {"thread_id": "T", "checkpoint_ns": "", "checkpoint_id": "1"}}
    with open_server(database_url(postgres_url)) as (saver, _):
        graph().compile(checkpointer=saver).invoke({"messages": []}, CONFIG)
        found = saver.get_tuple(CONFIG)
        assert found is not None
        saver.put_writes(found.config, [("smuggled", SecretStr("demo-cred-4471-QWER")), ("task", TASK)], "a task")
        again = saver.get_tuple(config | {"configurable": found.config["configurable"]})
        assert again is not None
        assert again.pending_writes is not None
        assert {type(value).__name__ for _, _, value in again.pending_writes}.isdisjoint({"SecretStr", "TaskState"})


def test_writes_of_one_step_are_one_transaction(postgres_url: str) -> None:
    config: RunnableConfig = {"configurable": {"thread_id": "T", "checkpoint_ns": "", "checkpoint_id": "1"}}
    with open_server(database_url(postgres_url)) as (saver, _):
        saver.put_writes(config, [("a", 1), ("b", 2), ("c", 3)], "task")
    assert sql(postgres_url, "SELECT count(*) FROM checkpoint_writes") == [3]
    assert sql(postgres_url, "SELECT count(DISTINCT xmin::text) FROM checkpoint_writes") == [1]


def test_the_store_keeps_memories(postgres_url: str) -> None:
    url = database_url(postgres_url)
    with open_server(url) as (_, store):
        store.put(("memory", "acme"), "m1", {"text": "created three days ago"})

    async def read() -> list[str]:
        async with async_server_store(url) as store:
            await store.aput(("memory", "acme"), "m2", {"text": "later"})
            return sorted(item.key for item in await store.asearch(("memory", "acme")))

    assert asyncio.run(read()) == ["m1", "m2"]
    with open_server(url) as (_, store):
        found = store.get(("memory", "acme"), "m1")
        assert found is not None
        assert found.value == {"text": "created three days ago"}
        assert store.search(("memory", "globex")) == []


def _open(target: str) -> str:
    with open_server(database_url(target)) as (saver, _):
        return type(saver).__name__


def test_processes_that_start_together_make_the_tables_once(postgres_url: str) -> None:
    """Without the lock they collide: the library makes its tables with statements that are no transaction."""
    with ProcessPoolExecutor(4, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(_open, [postgres_url] * 8)) == ["_Saver"] * 8
    applied = sql(postgres_url, "SELECT v FROM checkpoint_migrations ORDER BY v")
    assert applied == list(range(len(applied)))
    broken = "SELECT count(*) FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE NOT indisvalid "
    assert sql(postgres_url, f"{broken} AND relnamespace = current_schema()::regnamespace") == [0]


def test_a_server_that_drops_its_connections_is_met_again(postgres_url: str) -> None:
    with open_server(database_url(postgres_url)) as (saver, store):
        compiled = graph().compile(checkpointer=saver)
        compiled.invoke({"messages": []}, CONFIG)
        store.put(("memory", "acme"), "m1", {"text": "kept"})
        terminate(postgres_url)
        assert compiled.get_state(CONFIG).values == WRITES
        assert [item.key for item in store.search(("memory", "acme"))] == ["m1"]


@pytest.mark.parametrize(("table", "what"), [("checkpoint_migrations", "checkpoints"), ("store_migrations", "memory")])
def test_tables_of_a_later_library_are_a_named_error(postgres_url: str, table: str, what: str) -> None:
    url = database_url(postgres_url)
    with open_server(url):
        pass
    sql(postgres_url, f"INSERT INTO {table} VALUES (99)")
    told = f"got {what} version 99, of a later release; allowed: {what} versions up"
    with pytest.raises(SchemaTooNew, match=told), open_server(url):
        pytest.fail("it opened")


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_server_that_does_not_answer_is_told_without_its_password(asynchronous: bool) -> None:
    url = database_url("postgresql://ana:hunter2@127.0.0.1:1/db")

    async def opened_asynchronously() -> None:
        async with async_server_saver(url):
            pytest.fail("it opened")

    def opened() -> None:
        with open_server(url):
            pytest.fail("it opened")

    with pytest.raises(StoreUnavailable, match=r"allowed: .*; next: start the server") as refused:
        asyncio.run(opened_asynchronously()) if asynchronous else opened()
    assert "hunter2" not in str(refused.value)
    assert "\n" not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize("missing", ["psycopg_pool", "langgraph.checkpoint.postgres"])
def test_a_missing_extra_is_one_line_that_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.delitem(sys.modules, "graph.server_savers")
    monkeypatch.setitem(sys.modules, missing, None)
    settings = Settings.load(home=tmp_path, database_url="postgresql://ana:hunter2@127.0.0.1:1/db")

    async def opened() -> None:
        async with open_async_saver(settings):
            pytest.fail("it opened")

    told = rf"got no module {missing}; allowed: its driver installed; next: pip install -e '.\[postgres\]'"
    with pytest.raises(StoreUnavailable, match=told), open_persistence(settings):
        pytest.fail("it opened")
    with pytest.raises(StoreUnavailable, match=told):
        asyncio.run(opened())
