"""A graph that waits for a person is resumed by answers and by nothing else: one clear error, and the call waits."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

from graph.admission import BadInput
from tests.desk import AGENT, LEAD, Desk
from tests.graph.conftest import on_both_engines
from tests.graph.order_desk import ENDS, OPENS, PLANS, message, order_desk

ON: Any = {"configurable": {"thread_id": "T"}}
PAYS = message(("c1", "pay", {"vendor": "A", "amount": 120}))


def nested(depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for _ in range(depth):
        made = {"in": made}
    return made


ODD = {
    "nothing": Command(),
    "no text as a key": Command(resume={1: "approve"}),
    "an object": Command(resume=object()),
    "an object within": Command(resume={"call": object()}),
    "bytes": Command(resume=b"approve"),
    "a set": Command(resume={"approve"}),
    "no number": Command(resume=float("nan")),
    "too deep": Command(resume=nested(3_000)),
    "an answer and an edit": Command(resume="approve", update={"head": None}),
    "an edit": Command(update={"head": None}),
    "a node": Command(goto="execute"),
}
NO_ANSWER = {"a number": 5, "a word": "approve", "a list": [], "another call": {"call-9": "approve"}}


@on_both_engines
def test_what_no_store_carries_or_is_no_answer_leaves_the_call_pending(
    tmp_path: Path, database_url: str | None
) -> None:
    with order_desk(tmp_path, Desk(), [PLANS, OPENS, PAYS, ENDS], database_url=database_url) as app:
        waits = app.ask("Pay vendor A 120", as_=AGENT.name, thread="T").pending
        for command in ODD.values():
            with pytest.raises(BadInput, match="invalid decision"):
                app.graph.invoke(command, ON, context={"principal": LEAD.name})
        for value in NO_ANSWER.values():
            app.graph.invoke(Command(resume=value), ON, context={"principal": LEAD.name})
        (still,) = app.result("T", as_=AGENT.name).pending
        assert (still.call_id, still.arguments) == (waits[0].call_id, waits[0].arguments)
        paid = app.resume("T", as_=LEAD.name, answers={still.call_id: "approve"})
        assert [effect.state for effect in paid.effects] == ["done"]
