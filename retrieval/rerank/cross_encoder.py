"""A CrossEncoder of sentence-transformers as a reranker: question and chunk are read together by one model."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from retrieval.dense_record import embedded_text
from retrieval.faults import RerankerUnavailable
from state.knowledge import Chunk

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

MODEL = "cross-encoder/ms-marco-MiniLM-L6-v2"
MAX_TOKENS = 384


class CrossEncoderReranker:
    """Implements state.ports.Reranker with any CrossEncoder, by its hub name or its folder. Needs the extra `sbert`.

    Loaded at the first question. Raises RerankerUnavailable where the extra or the model is missing.
    """

    def __init__(self, model: str | Path = MODEL) -> None:
        try:
            import sentence_transformers  # noqa: F401  # asked for early: the first question is too late to find out
        except ImportError as missing:
            raise RerankerUnavailable(
                f"the reranker cross_encoder needs sentence-transformers ({missing}); run `make sbert`, or set the "
                "reranker to none or maxsim"
            ) from missing
        self._model_name = str(model)
        self._loading = threading.Lock()
        self._model: CrossEncoder | None = None

    @property
    def name(self) -> str:
        """Its model's name."""
        return f"cross_encoder/{self._model_name}"

    def scores(self, queries: Sequence[str], chunks: Sequence[Chunk]) -> list[list[float]]:
        """The model's answer as a number from 0 to 1; a logit is squeezed first."""
        if not queries or not chunks:
            return [[] for _ in queries]
        texts = [embedded_text(chunk) for chunk in chunks]
        pairs = [(query, text) for query in queries for text in texts]
        import torch

        squeezed = self._loaded().predict(pairs, activation_fn=torch.nn.Sigmoid(), show_progress_bar=False)
        rows = np.asarray(squeezed, dtype=np.float64).reshape(len(queries), len(chunks))
        scores: list[list[float]] = rows.tolist()
        return scores

    def _loaded(self) -> "CrossEncoder":
        from sentence_transformers import CrossEncoder

        with self._loading:
            if self._model is None:
                try:
                    self._model = CrossEncoder(self._model_name, max_length=MAX_TOKENS)
                except (OSError, ValueError) as fault:
                    raise RerankerUnavailable(
                        f"the CrossEncoder {self._model_name} cannot be loaded ({str(fault).splitlines()[0]}); name a "
                        "model of the hub that this machine reaches, or a folder that holds one"
                    ) from fault
            return self._model
