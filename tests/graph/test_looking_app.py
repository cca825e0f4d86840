"""An app that is opened to look reads what is filed, on either engine, and changes nothing."""

from contextlib import ExitStack
from pathlib import Path
from sqlite3 import OperationalError

import pytest
from sqlalchemy import create_engine, text

from graph.app import open_app
from graph.home_stores import OnlyLooking, ready_to_look
from graph.inspection.verify import verify
from graph.stores.unavailable import StoreUnavailable
from graph.stores.url import database_url as stores_url
from tests.desk import AGENT, Desk
from tests.fakes import NOW, FakeClock
from tests.graph.conftest import on_both_engines, settings
from tests.graph.inspection.tampering import ON, REFUNDED, Tampering
from tests.graph.order_desk import desk_domain


@on_both_engines
def test_what_is_filed_is_read_and_nothing_runs(tmp_path: Path, database_url: str | None) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with ExitStack() as stack:
        tampering = Tampering(home, database_url, stack)
        tampering.asked(*REFUNDED)
        filed = tampering.opened.history("T", as_=AGENT.name)
        tampering.opened.close()
        domain = desk_domain(home, Desk())
        given = settings(home, database_url=database_url)
        with open_app(given, looking=True, domain=domain, clock=FakeClock(NOW)) as app:
            assert app.history("T", as_=AGENT.name) == filed
            assert verify(app, "T", as_=AGENT.name).sound
            for thread in ("T", "a new one"):
                with pytest.raises(StoreUnavailable, match=r"readonly|read-only"):
                    app.ask("Refund A1, 100", as_=AGENT.name, thread=thread)
            with pytest.raises((StoreUnavailable, OperationalError), match=r"readonly|read-only"):
                app.graph.update_state(ON, {"head": None})
            with pytest.raises(OnlyLooking, match="allowed: reading threads and their records"):
                app.forgetting.subject(AGENT.name)
            assert app.history("T", as_=AGENT.name) == filed


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_looking_makes_no_table_of_checkpoints(tmp_path: Path, database_url: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    given, domain = settings(home, database_url=database_url), desk_domain(home, Desk())
    with open_app(given, domain=domain, clock=FakeClock(NOW)):
        pass
    tables = (
        "SELECT count(*) FROM pg_tables WHERE tablename = 'checkpoint_migrations' AND schemaname = current_schema()"
    )
    engine = create_engine(stores_url(database_url))
    with engine.begin() as connection:
        assert connection.scalar(text(tables)) == 1
        connection.execute(text("DROP TABLE checkpoint_migrations"))
    assert not ready_to_look(given)
    with pytest.raises(StoreUnavailable, match="got no tables of checkpoints, or those of an earlier release"):
        open_app(given, looking=True, domain=domain, clock=FakeClock(NOW))
    with engine.begin() as connection:
        assert connection.scalar(text(tables)) == 0
    engine.dispose()
