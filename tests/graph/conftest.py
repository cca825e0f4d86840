"""Apps on real stores: a home with the ingested corpus is made once per session and copied for each test."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from graph.app import App, open_app
from graph.domain_loading import load_domain
from graph.settings import Settings
from state.ports import Model
from tests.fakes import FakeClock
from tests.graph.dev_server import DevServer, dev_server
from tests.graph.trace_endpoint import TraceEndpoint, trace_endpoint

# The time of the worked example (MISSION, W). The seeded domain counts from it.
NOW = datetime(2026, 7, 15, 9, 30, tzinfo=UTC)

OpenApp = Callable[..., App]

on_both_engines = pytest.mark.parametrize("database_url", ["sqlite", "postgresql"], indirect=True)
"""For the most telling tests: a whole app on PostgreSQL too."""


@pytest.fixture(scope="session")
def ingested_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("ingested")
    open_app(settings(home), clock=FakeClock(NOW)).close()
    return home


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    """The dev server without authentication, one for all tests that drive it."""
    with dev_server(tmp_path_factory.mktemp("dev")) as running:
        yield running


@pytest.fixture(name="trace_endpoint")
def running_trace_endpoint() -> Iterator[TraceEndpoint]:
    """A local server in LangSmith's place."""
    with trace_endpoint() as running:
        yield running


@pytest.fixture
def home(ingested_home: Path, tmp_path: Path) -> Path:
    shutil.copytree(ingested_home, tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def database_url(request: pytest.FixtureRequest) -> str | None:
    """The setting of the test's apps: none, which is SQLite in the home, unless the test asks for both engines."""
    if getattr(request, "param", "sqlite") == "sqlite":
        return None
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def start(home: Path, database_url: str | None) -> Iterator[OpenApp]:
    """Opens an app on the test's home: `start(model="hijacked", clock=...)`. `injected` is added to a runbook."""
    with ExitStack() as stack:

        def opened(*, model: str | Model = "offline", injected: str | None = None, **ports: Any) -> App:
            clock = ports.pop("clock", None) or FakeClock(NOW)
            if injected is not None:
                ports["domain"] = with_injected_span(home, injected, clock)
            if not isinstance(model, str):
                ports["model"], model = model, "offline"
            app = open_app(settings(home, model=model, database_url=database_url), clock=clock, **ports)
            return stack.enter_context(app)

        yield opened


def settings(home: Path, **given: Any) -> Settings:
    return Settings.load(home=home, **given)


def with_injected_span(home: Path, text: str, clock: FakeClock) -> Any:
    """The domain with a corpus in which the runbook's best span also says `text`."""
    domain = load_domain("domain", home / "domain", clock)
    corpus = home / "injected-corpus"
    if not corpus.exists():
        shutil.copytree(domain.corpus, corpus)
        for page in corpus.rglob("api-keys*.md"):
            written = page.read_text(encoding="utf-8")
            page.write_text(written.replace("## Revoked keys\n", f"## Revoked keys\n\n{text}\n"), encoding="utf-8")
    return replace(domain, corpus=corpus)
