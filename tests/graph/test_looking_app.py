"""An app that is opened to look reads what is filed, on either engine, and changes nothing."""

from contextlib import ExitStack
from pathlib import Path
from sqlite3 import OperationalError

import pytest

from graph.app import open_app
from graph.home_stores import OnlyLooking
from graph.inspection.verify import verify
from graph.stores.unavailable import StoreUnavailable
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
