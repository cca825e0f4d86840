"""Reading a checkpoint on PostgreSQL touches its own bodies, not those of the whole thread."""

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from graph.server_savers import OF_THREAD
from tests.desk import AGENT, Desk
from tests.graph.order_desk import ENDS, order_desk
from tests.postgres import sql

TURNS = 12
NEWEST = "WHERE thread_id = 'T' AND checkpoint_ns = '' ORDER BY checkpoint_id DESC LIMIT 1"
ON: RunnableConfig = {"configurable": {"thread_id": "T"}}


@pytest.mark.parametrize("saver", [PostgresSaver, AsyncPostgresSaver])
def test_the_library_still_asks_in_the_words_that_are_exchanged(saver: Any) -> None:
    assert saver.SELECT_SQL.count(OF_THREAD) == 1


def test_reading_the_newest_checkpoint_reads_its_bodies_alone(tmp_path: Path, postgres_url: str) -> None:
    with order_desk(tmp_path, Desk(), [ENDS] * TURNS, database_url=postgres_url) as app:
        for number in range(TURNS):
            app.ask(f"question {number}", as_=AGENT.name, thread="T")
        saver = app.graph.checkpointer
        assert isinstance(saver, PostgresSaver)
        stored = saver.get_tuple(ON)
        assert stored is not None
        channels = len(stored.checkpoint["channel_versions"])
        plain = PostgresSaver(saver.conn, serde=saver.serde).get_tuple(ON)
        for settled in (False, True):
            if settled:
                sql(postgres_url, "ANALYZE")
            assert rows_read(postgres_url, saver.SELECT_SQL) <= channels
    assert stored == plain
    (blobs,) = sql(postgres_url, "SELECT count(*) FROM checkpoint_blobs")
    assert blobs > 5 * channels


def rows_read(url: str, query: str) -> int:
    """How many rows of checkpoint_blobs the query really read."""
    (plan,) = sql(url, f"EXPLAIN (ANALYZE, FORMAT JSON) {query} {NEWEST}")
    return sum(
        node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0))
        for node in nodes((plan if isinstance(plan, list) else json.loads(plan))[0]["Plan"])
        if node.get("Relation Name") == "checkpoint_blobs"
    )


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(inner for each in plan.get("Plans", ()) for inner in nodes(each))]
