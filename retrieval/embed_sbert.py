"""Any model of sentence-transformers as the embedder, its prompts for questions and passages respected."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from retrieval.faults import EmbedderUnavailable

if TYPE_CHECKING:
    pass


class SbertEmbedder:
    """Implements state.ports.Embedder with a model of the hub or in a folder. Needs the extra `sbert`.

    A model that declares prompts named `query` and `passage` (or `document`) is asked with them. Loaded once, here.
    Raises EmbedderUnavailable.
    """

    def __init__(self, model: str | Path) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as missing:
            raise EmbedderUnavailable(
                f"the embedder sbert needs sentence-transformers ({missing}); run `make sbert`, or take the default one"
            ) from missing
        try:
            self._model: SentenceTransformer = SentenceTransformer(str(model))
        except (OSError, ValueError) as fault:
            raise EmbedderUnavailable(
                f"the model {model} cannot be loaded ({str(fault).splitlines()[0]}); name one of the hub that this "
                "machine reaches, or a folder that holds one"
            ) from fault
        self.name = f"sbert/{Path(model).name if Path(model).is_dir() else model}"
        self.dimension = int(self._model.get_sentence_embedding_dimension() or 0)
        self._encoding = threading.Lock()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per passage, in the order given."""
        return self._encoded(texts, ("passage", "document"))

    def embed_queries(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per question."""
        return self._encoded(texts, ("query",))

    def _encoded(self, texts: Sequence[str], names: tuple[str, ...]) -> list[list[float]]:
        prompts = self._model.prompts or {}
        name = next((name for name in names if prompts.get(name)), None)
        with self._encoding:
            vectors = self._model.encode(
                list(texts), prompt_name=name, normalize_embeddings=True, show_progress_bar=False
            )
        rows: list[list[float]] = vectors.tolist()
        return rows
