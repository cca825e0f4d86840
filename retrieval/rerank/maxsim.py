"""MaxSim: each word of a question looks for its nearest word in the chunk, rare words count more (late interaction).

The token vectors are those of the default embedder before they are averaged, so nothing more is installed. After
Khattab and Zaharia, "ColBERT", 2020; weighing by rarity is ours.
"""

import threading
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from retrieval.dense_record import embedded_text
from retrieval.embed import token_vectors
from state.knowledge import Chunk

KEPT_CHUNKS = 4_000  # about 70 kB each: below 300 MB in all
_SCALE = 127.0


@dataclass(frozen=True)
class _Tokens:
    """A text's tokens with their unit vectors, one byte a number."""

    ids: tuple[int, ...]
    vectors: NDArray[np.int8]


class MaxSim:
    """Implements state.ports.Reranker. Chunks read once are kept in memory, by the hash of their text.

    The first reading of a chunk costs what embedding it costs. Rarity is counted among the chunks that are read
    together, so that no other text shows in a score (H10). Threads may share it.
    """

    name = "maxsim"

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _Tokens] = OrderedDict()
        self._lock = threading.Lock()

    def scores(self, queries: Sequence[str], chunks: Sequence[Chunk]) -> list[list[float]]:
        """The mean over a question's tokens of their best cosine in the chunk, weighed by rarity; below 0 is 0."""
        if not queries or not chunks:
            return [[] for _ in queries]
        read = [self._tokens(embedded_text(chunk)) for chunk in chunks]
        asked = [_tokens_of(query) for query in queries]
        holding = Counter(token for tokens in read for token in set(tokens.ids))
        asked_ids = [token for tokens in asked for token in tokens.ids]
        weights = np.asarray([np.log(1 + (len(read) + 0.5) / (holding[token] + 0.5)) for token in asked_ids])
        questions = np.concatenate([tokens.vectors for tokens in asked]).astype(np.float32) / _SCALE
        # One product for all questions and one chunk: neither a copy of all chunks nor a call for each pair.
        best = np.stack([(questions @ (one.vectors.astype(np.float32) / _SCALE).T).max(axis=1) for one in read], axis=1)
        ends = np.cumsum([len(tokens.ids) for tokens in asked])
        rows = []
        for start, end in zip([0, *ends[:-1]], ends, strict=True):
            weight = weights[start:end, None]
            rows.append(np.maximum((best[start:end] * weight).sum(axis=0) / weight.sum(), 0.0).tolist())
        return rows

    def _tokens(self, text: str) -> _Tokens:
        key = sha256(text.encode("utf-8", "replace")).hexdigest()
        with self._lock:
            held = self._kept.get(key)
            if held is not None:
                self._kept.move_to_end(key)
                return held
        made = _tokens_of(text)
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > KEPT_CHUNKS:
                self._kept.popitem(last=False)
        return made


def _tokens_of(text: str) -> _Tokens:
    ids, vectors = token_vectors(text)
    return _Tokens(tuple(ids), np.rint(vectors * _SCALE).astype(np.int8))
