"""H11: identifiers, accents and scripts without spaces, in a corpus of two documents."""

import unicodedata
from pathlib import Path

import pytest

from retrieval.library import Library
from retrieval.words import MAX_QUERY_WORDS, index_words, query_words
from tests.retrieval.conftest import NOW, access, document

GATEWAY = {"d1": "Gateway error E-4012 after upgrade", "d2": "Gateway setup guide"}
SPANISH = {"d3": unicodedata.normalize("NFD", "Política de devolución"), "d4": "Política de envío"}
CAMEL = {"d5": "findOrderByCode returns null", "d6": "list of orders"}
CHINESE = {"d7": "退款流程说明", "d8": "发货流程说明"}


@pytest.mark.parametrize(
    ("texts", "query", "first"),
    [
        (GATEWAY, "E-4012", "d1"),
        (GATEWAY, "4012", "d1"),
        (GATEWAY, "e4012", "d1"),
        (GATEWAY, "E\u20114012", "d1"),
        (SPANISH, "devolucion", "d3"),
        (SPANISH, "devolución", "d3"),
        (SPANISH, "DEVOLUCIÓN", "d3"),
        (CAMEL, "findOrderByCode", "d5"),
        (CAMEL, "order code", "d5"),
        (CAMEL, "orders", "d6"),
        (CHINESE, "退款", "d7"),
        (CHINESE, "退", "d7"),
        (CHINESE, "发货流程", "d8"),
    ],
)
def test_h11_the_right_one_of_two_documents_scores_more(
    library: Library, corpus: Path, texts: dict[str, str], query: str, first: str
) -> None:
    for name, text in texts.items():
        document(corpus, f"{name}.txt", text, title="text")
    library.ingest(corpus, NOW)
    hits = library.lexical.search(query, access(), 5).hits
    assert hits[0].chunk.document_id == first
    assert hits[0].score > 0
    assert all(hits[0].score > hit.score > 0 for hit in hits[1:])


def test_h11_a_word_in_every_document_still_scores(library: Library, corpus: Path) -> None:
    for name, text in GATEWAY.items():
        document(corpus, f"{name}.txt", text, title="text")
    library.ingest(corpus, NOW)
    hits = library.lexical.search("gateway", access(), 5).hits
    assert len(hits) == 2
    assert all(hit.score > 0 for hit in hits)


def test_h11_an_empty_corpus_finds_nothing(library: Library, corpus: Path) -> None:
    assert library.ingest(corpus, NOW).documents == ()
    assert library.lexical.search("gateway", access(), 5).hits == ()
    assert library.index.search("gateway", access(), 5).hits == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("E-4012", ["e4012", "4012"]),
        ("findOrderByCode", ["findorderbycode", "find", "order", "by", "code"]),
        ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
        ("api_key_id", ["apikeyid", "api", "key", "id"]),
        ("keys", ["keys", "key"]),
        ("access", ["access"]),
        ("It's 50%.", ["it", "s", "50"]),
        ("API密钥", ["api", "密", "钥", "密钥"]),
        ("Straße", ["strasse"]),
        ("v1.2.3", ["v123", "1", "2", "3"]),
        ("- -- _ ...", []),
    ],
)
def test_words_are_expanded_for_the_index(text: str, words: list[str]) -> None:
    assert index_words(text) == words


@pytest.mark.parametrize("text", ["findOrderByCode E-4012 keys", "política de 退款流程", "a-b-c-d"])
def test_every_word_that_is_asked_for_is_indexed(text: str) -> None:
    assert set(query_words(text)) <= set(index_words(text))


def test_a_query_keeps_only_its_first_words() -> None:
    assert query_words(" ".join(f"w{number}x" for number in range(500)))[0] == "w0x"
    assert len(query_words("word-" * 100_000 + " end")) <= MAX_QUERY_WORDS
