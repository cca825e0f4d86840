"""The library in a home, and the embedder that it was made with: what reading folders in and searching need."""

from collections.abc import Callable

from graph.home import require_writable
from graph.settings import Settings
from retrieval.embedders import open_embedder
from retrieval.library import Library
from state.search import Embedder

# An embedder of your own, in place of the one that the settings name. Another one needs a library ingested anew.
EMBEDDER: Callable[[], Embedder] | None = None


def open_library(settings: Settings, embedder: Embedder | None = None) -> Library:
    """The library alone, without the domain: for reading folders in. Raises SettingsError, EmbedderMismatch,
    StoreUnavailable."""
    require_writable(home := settings.make_home())
    return Library.open(home / "library", embedder or settings_embedder(settings), chroma_url=settings.chroma_url)


def settings_embedder(settings: Settings) -> Embedder:
    """The embedder of documents and queries. Raises EmbedderUnavailable."""
    if EMBEDDER is not None:
        return EMBEDDER()
    key = settings.openai_api_key
    return open_embedder(
        settings.embedder,
        model=settings.embedder_model,
        dimension=settings.embedder_dimension,
        base_url=settings.openai_base_url,
        api_key="" if key is None else key.get_secret_value(),
    )
