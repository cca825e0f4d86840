"""Forgetting finds what a node put that was killed before anything named it (X7)."""

import pytest

from graph.app import App
from graph.stores.artifacts import SqlArtifacts
from graph.stores.unavailable import StoreUnavailable
from tests.graph.conftest import OpenApp, on_both_engines
from tests.graph.erasing import OWN, SHARED, bodies, untouched

RESULT = '"tool": "check_api_key_status"'


def results(app: App) -> set[str]:
    """The bodies of this tool's results that lie there, whoever names them."""
    return {ref for ref in bodies(app) if RESULT in app.ports.artifacts.get("acme", ref)}


@on_both_engines
def test_a_result_whose_node_was_killed_goes_with_its_thread(start: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    app = start()
    app.ask(SHARED, as_="bea@acme", thread="beas")
    beas = results(app)

    def killed(self: SqlArtifacts, tenant: str, name: str, ref: str) -> None:
        raise StoreUnavailable("here", "gone", "there", "wait")

    with monkeypatch.context() as patched:
        patched.setattr(SqlArtifacts, "name", killed)
        with pytest.raises(StoreUnavailable):
            app.ask(OWN, as_="ana@acme", thread="anas")
    app.ask(SHARED, as_="ana@acme", thread="anas")  # gives up the lap that was cut off
    assert results(app) > beas
    removed = app.forgetting.subject("ana@acme")
    assert results(app) == beas
    assert removed.bodies["bodies that nothing named"] >= 1
    assert app.forgetting.subject("ana@acme").nothing
    untouched(app, "beas", "bea@acme")
