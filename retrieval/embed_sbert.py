"""Any model of sentence-transformers as the embedder, its prompts for questions and passages respected."""

import threading
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from retrieval.cosine_range import measured_range
from retrieval.faults import EmbedderUnavailable
from state.search import CosineRange

WEIGHTS = (".safetensors", ".bin", ".onnx")


class SbertEmbedder:
    """Implements state.ports.Embedder with a model of the hub or in a folder. Needs the extra `sbert`.

    Questions and passages go the library's own two ways, with the prompts that the model declares for them. Loaded
    once, here; threads may share it. Raises EmbedderUnavailable.
    """

    def __init__(self, model: str | Path) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as missing:
            raise EmbedderUnavailable(
                f"the embedder sbert needs sentence-transformers ({missing}); run `make sbert`, or take the default one"
            ) from missing
        try:
            self._model: Any = SentenceTransformer(str(model))
        except (OSError, ValueError) as fault:
            raise EmbedderUnavailable(
                f"the model {model} cannot be loaded ({str(fault).splitlines()[0]}); name one of the hub that this "
                "machine reaches, or a folder that holds one"
            ) from fault
        self.name = f"sbert/{_name_of(Path(model)) if Path(model).is_dir() else model}"
        self.dimension = int(self._model.get_embedding_dimension() or 0)
        self._encoding = threading.Lock()

    @cached_property
    def cosine_range(self) -> CosineRange:
        """Measured at first use: models differ widely."""
        return measured_range(self)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per passage, in the order given."""
        return self._encoded(texts, self._model.encode_document, ("document", "passage"))

    def embed_queries(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per question."""
        return self._encoded(texts, self._model.encode_query, ("query",))

    def _encoded(self, texts: Sequence[str], encode: Any, prompts: tuple[str, ...]) -> list[list[float]]:
        if not texts:
            return []
        # A lone surrogate, which JSON can carry, is no text for the tokenizer.
        readable = [text.encode("utf-8", "replace").decode() for text in texts]
        # The library has an empty prompt `document` for every model, which would hide a declared `passage`.
        name = next((name for name in prompts if self._model.prompts.get(name)), None)
        with self._encoding:
            vectors = encode(readable, prompt_name=name, normalize_embeddings=True, show_progress_bar=False)
        rows: list[list[float]] = vectors.tolist()
        return rows


def _name_of(folder: Path) -> str:
    """A folder's name with the hash of the weights in it: two models may lie in folders of one name."""
    weights = sorted(file for file in folder.rglob("*") if file.suffix in WEIGHTS)
    hashed = sha256()
    for file in weights:
        with file.open("rb") as opened:
            while block := opened.read(1 << 20):
                hashed.update(block)
    return f"{folder.name}@{hashed.hexdigest()[:12]}"
