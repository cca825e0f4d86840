"""Embeddings of any server that speaks OpenAI's interface."""

from collections.abc import Sequence
from functools import cached_property
from weakref import finalize

import httpx
import numpy as np

from retrieval.cosine_range import measured_range
from retrieval.faults import EmbedderUnavailable
from state.search import CosineRange

BATCH = 64
TIMEOUT_S = 60.0


class OpenAIEmbedder:
    """Implements state.ports.Embedder over `POST {base_url}/embeddings`. `dimension` is what the model gives.

    Raises EmbedderUnavailable: not reached, refused, or an answer of another shape. The key stands in no message.
    """

    def __init__(self, base_url: str, model: str, dimension: int, api_key: str = "") -> None:
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx.Client(base_url=base_url.rstrip("/") + "/", headers=headers, timeout=TIMEOUT_S)
        # Whoever drops the embedder drops its connections with it: an app does not know what it was given.
        finalize(self, self._client.close)
        self._model = model
        self.name = f"openai/{model}"
        self.dimension = dimension

    @cached_property
    def cosine_range(self) -> CosineRange:
        """Measured at first use, with two requests: models differ widely."""
        return measured_range(self)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text, in the order given."""
        return [vector for start in range(0, len(texts), BATCH) for vector in self._batch(texts[start : start + BATCH])]

    def embed_queries(self, texts: Sequence[str]) -> list[list[float]]:
        """As `embed`: these models read questions and passages alike."""
        return self.embed(texts)

    def _batch(self, texts: Sequence[str]) -> list[list[float]]:
        asked = {"model": self._model, "input": [text or " " for text in texts]}
        try:
            answer = self._client.post("embeddings", json=asked)
            answer.raise_for_status()
            rows = sorted(answer.json()["data"], key=lambda row: row["index"])
            vectors = np.asarray([row["embedding"] for row in rows], dtype=np.float32)
        except httpx.HTTPStatusError as refused:
            raise EmbedderUnavailable(
                f"{self.name}: the server answered {refused.response.status_code}; check the model's name and the key"
            ) from None
        except httpx.HTTPError as fault:
            raise EmbedderUnavailable(
                f"{self.name}: {self._client.base_url} cannot be reached ({type(fault).__name__}); start the "
                "server, or correct the address"
            ) from None
        except (KeyError, TypeError, ValueError) as fault:
            raise EmbedderUnavailable(
                f"{self.name}: the server's answer has no embeddings ({type(fault).__name__}); name an embedding model"
            ) from None
        if vectors.shape != (len(texts), self.dimension):
            raise EmbedderUnavailable(
                f"{self.name}: got {vectors.shape[0]} vectors of {vectors.shape[-1]} numbers for {len(texts)} texts, "
                f"expected {self.dimension}; set the dimension to what the model gives"
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: list[list[float]] = (vectors / np.where(lengths == 0, 1, lengths)).tolist()
        return unit
