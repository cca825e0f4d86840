"""Opens the app for a command: the settings with what the command line says over them, and progress while it lasts."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from graph.cli.exits import WrongUse
from graph.cli.screen import Screen

if TYPE_CHECKING:
    from graph.app import App
    from graph.settings import Settings


@contextmanager
def opened(screen: Screen, model: str | None = None, *, filed: bool = False) -> "Iterator[App]":
    """The app, closed again afterwards. `filed`: for what was filed before, and so a new home is not made for it.

    Raises WrongUse for an unknown model and for a home that is not there, and what open_app raises.
    """
    with screen.waiting("Opening", "chunks") as progress:
        from graph.app import open_app
        from graph.models.registry import MODELS
        from graph.settings import Settings

        if model is not None and model not in MODELS:
            raise WrongUse(f"got --model {model!r}; allowed: {', '.join(MODELS)}")
        said: dict[str, Any] = {} if model is None else {"model": model}
        settings = Settings.load(**said)
        if filed:
            _require(settings)
        app = open_app(settings, progress=progress)
    with app:
        for broken in app.ingested.broken:
            screen.warning(f"{broken.file} of the corpus is skipped: {broken.reason}; what was live of it stays live")
        yield app


@contextmanager
def opened_to_look(screen: Screen, *, filed: bool = True) -> "Iterator[App]":
    """The app for what only reads: no model is asked, and nothing is written, also where it could be.

    What an earlier release left, or a home that is not whole, is first opened as ever, where it can be written.
    Raises WrongUse for a home that is not there where something `filed` is read, and what open_app raises.
    """
    with screen.waiting("Opening", "chunks") as progress:
        from graph.app import open_app
        from graph.home_stores import only_to_look, ready_to_look
        from graph.settings import Settings

        settings = Settings.load(model="offline")  # a thread can be read where the settings' model cannot be opened
        if filed:
            _require(settings)
        looking = only_to_look(settings) or ready_to_look(settings)
        app = open_app(settings, looking=looking, progress=progress)
    with app:
        yield app


def _require(settings: "Settings") -> None:
    if settings.database_url is None and not settings.home.is_dir():
        raise WrongUse(
            f"got no data in {settings.home}; allowed: a folder that `agent ask` or `agent chat` has filed to; "
            "start where it lies, or name it by EXPEDIENTE_HOME"
        )
