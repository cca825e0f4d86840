"""An app on a real HTTP server that answers as a test tells it to."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from graph.app import App, open_app
from graph.settings import Settings
from tests.fakes import FakeClock, FakeWaiting
from tests.graph.conftest import NOW
from tests.graph.models.hostile import KEY, Open, Serve
from tests.graph.models.stub_server import Stub, serving


@pytest.fixture
def opened(home: Path) -> Iterator[Open]:
    """An app whose model is this server."""
    with ExitStack() as stack:

        def make(serve: Serve, **given: Any) -> tuple[App, Stub]:
            stub = stack.enter_context(serving(serve))
            settings = Settings.load(
                home=home,
                model="openai",
                openai_model="small",
                openai_base_url=stub.url,
                openai_api_key=SecretStr(KEY),
                **{"model_timeout_s": 5.0, **given},
            )
            app = open_app(settings, clock=FakeClock(NOW), waiting=FakeWaiting())
            return stack.enter_context(app), stub

        yield make
