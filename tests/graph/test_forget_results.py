"""Forgetting reaches what a tool brought, also the part of it that no request showed (X7)."""

from pathlib import Path

from tests.desk import AGENT, Desk
from tests.fakes import FakeClock
from tests.graph.conftest import NOW, on_both_engines
from tests.graph.erasing import bodies, holding
from tests.graph.order_desk import ENDS, message, order_desk


@on_both_engines
def test_all_of_a_result_that_was_cut_goes_as_well(tmp_path: Path, database_url: str | None) -> None:
    desk = Desk()
    log = "lighthouse-7\n" * 9_000 + "end"
    desk.replace("get_invoice", lambda context, **given: {"invoice": "INV-9", "total": 40, "memo": log})
    reads = message(("c1", "get_invoice", {"id": "INV-9"}))
    (tmp_path / "home").mkdir()
    with order_desk(tmp_path / "home", desk, (reads, ENDS), FakeClock(NOW), database_url) as app:
        app.ask("What of INV-9?", as_=AGENT.name, thread="T")
        (seen,) = app.records("T", as_=AGENT.name)[0].observations
        assert seen.truncated
        assert seen.whole_ref in bodies(app)
        app.forgetting.subject(AGENT.name)
        assert seen.whole_ref not in bodies(app)
    assert holding("lighthouse-7", tmp_path / "home", database_url) == []
