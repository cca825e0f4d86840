"""No node begins before the checkpoint of the one before is written, whatever durability is asked for."""

import time
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig

from graph.app import App
from state.record import DecisionRecord
from tests.desk import AGENT, Desk
from tests.graph.conftest import on_both_engines
from tests.graph.order_desk import ENDS, message, order_desk

ON: RunnableConfig = {"configurable": {"thread_id": "T"}}
AS_AGENT: Any = {"principal": AGENT.name}
GIVEN: Any = {"messages": [{"type": "human", "content": "Where is A1?"}]}
LOOKS = message(("c1", "lookup", {"order": "A1"}))
ASKED: dict[str, dict[str, Any]] = {
    "by default": {},
    "sync": {"durability": "sync"},
    "async": {"durability": "async"},
    "exit": {"durability": "exit"},
}


def found_at_each_record(app: App) -> list[tuple[str, ...]]:
    """Which node the checkpoints name as the next one whenever a record is filed; each checkpoint takes its time."""
    found: list[tuple[str, ...]] = []
    saver: Any = app.graph.checkpointer
    append, put = app.ports.log.append, saver.put

    def filed(record: DecisionRecord) -> str:
        found.append(app.graph.get_state(ON).next)
        return append(record)

    def slow(*given: Any) -> Any:
        time.sleep(0.05)
        return put(*given)

    app.ports.log.append = filed  # type: ignore[method-assign]  # on this app alone
    saver.put = slow
    return found


@on_both_engines
@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_a_record_is_filed_after_the_checkpoint_of_the_node_before(
    tmp_path: Path, database_url: str | None, asked: dict[str, Any]
) -> None:
    with order_desk(tmp_path, Desk(), (LOOKS, ENDS), database_url=database_url) as app:
        app.identity.owner(app.identity.principal(AGENT.name), "T")
        found = found_at_each_record(app)
        app.graph.invoke(GIVEN, ON, context=AS_AGENT, **asked)
    assert found == [("log",), ("log",)]
