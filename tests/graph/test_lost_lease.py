"""A run that another one took its thread from ends where it is: no second branch, no second effect."""

import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from graph.inspection.tree import tree
from graph.inspection.verify import verify
from graph.result import DecisionShown
from graph.stores.lease import LeaseLost
from graph.stores.url import database_url as stores_url
from state.work import Status
from tests.desk import AGENT, Desk
from tests.graph.conftest import on_both_engines
from tests.graph.order_desk import ENDS, OPENS, PLANS, message, order_desk

REFUND = message(("c1", "refund", {"order": "A1", "amount": 100}))


@on_both_engines
def test_a_run_that_lost_its_thread_in_the_middle_goes_no_further(tmp_path: Path, database_url: str | None) -> None:
    (tmp_path / "home").mkdir()
    engine = create_engine(stores_url(database_url or tmp_path / "home" / "expediente.db"))

    def lease(statement: str) -> None:
        with engine.begin() as connection:
            assert connection.execute(text(statement)).rowcount == 1

    desk = Desk()
    refund = desk.tools["refund"].run

    def stands_still(context: Any, **given: Any) -> Any:
        result = refund(context, **given)
        lease("UPDATE expediente_run_leases SET token = 'another run'")
        time.sleep(0.6)
        return result

    desk.replace("refund", stands_still)
    told: list[DecisionShown] = []
    with order_desk(tmp_path / "home", desk, [PLANS, OPENS, REFUND, ENDS, ENDS], database_url=database_url) as app:
        app._run_lock._lease_s = 0.6
        with pytest.raises(LeaseLost, match="it ends here, and what it did so far stays"):
            app.ask("refund A1", as_=AGENT.name, thread="T", on_decision=told.append)
        assert [one.outcome for one in told] == ["plan_requested", "planned"]
        lease("DELETE FROM expediente_run_leases")  # the other run is over
        assert app.ask("what became of it?", as_=AGENT.name, thread="T").status is Status.ANSWERED
        outcomes = [decision.outcome for decision in app.records("T", as_=AGENT.name)]
        assert outcomes == ["plan_requested", "planned", "abandoned", "answered"]
        assert len(tree(app, "T", as_=AGENT.name).records) == 4
        found = verify(app, "T", as_=AGENT.name)
        assert (found.branches, found.faults) == (1, ())
        assert desk.effects == [("refund", "A1", "100")]
    engine.dispose()
