"""Everything a decision asks, as one list: parts that add up, keyword hits with their cosine, a reranker's say."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from retrieval.chroma import ChromaIndex
from retrieval.gather import Gathered, Searcher
from retrieval.library import Library
from retrieval.ranking import Ranking
from state.checks.kept import let_go
from state.knowledge import Chunk
from state.search import AccessUnknown
from tests.retrieval.conftest import NOW, access, document

FILLER = (
    "The office in Lisbon opens at nine. Our mascot is a purple otter. Lunch is served in the garden on Fridays. "
    "The lift was painted green last spring. Bicycles belong in the cellar behind the boiler. Parcels wait here. "
)
TRAVEL = "I lost my travel card abroad. How do I freeze a travel card? Can a frozen travel card be replaced abroad?"


class Favours:
    """A reranker that knows one answer."""

    name = "favours"

    def __init__(self, document_id: str) -> None:
        self.document_id = document_id
        self.read: list[str] = []

    def scores(self, queries: Sequence[str], chunks: Sequence[Chunk]) -> list[list[float]]:
        self.read += [chunk.tenant for chunk in chunks]
        return [[float(chunk.document_id == self.document_id) for chunk in chunks] for _ in queries]


@pytest.fixture
def desk(library: Library, corpus: Path) -> Library:
    document(
        corpus, "freeze.md", "# Travel card\n\nFreeze a travel card in the app. A frozen card is replaced abroad.\n"
    )
    document(corpus, "otter.md", "# Mascot\n\nThe mascot is an otter and it is purple.\n")
    document(corpus, "lift.md", "# Lift\n\nThe lift was painted green.\n")
    document(corpus, "card.md", "# Card\n\nA card has a number.\n")
    document(corpus, "foreign.md", "# Travel card\n\nFreeze a travel card abroad, lost and replaced.\n", tenant="t2")
    library.ingest(corpus, NOW)
    return library


def names(gathered: Gathered) -> list[str]:
    return [one.chunk.document_id for one in gathered.fused]


def test_what_several_sentences_lead_to_comes_first(desk: Library) -> None:
    gathered = Searcher(desk.index, desk.lexical).gather({FILLER + TRAVEL: 1.0}, access(), 10)
    assert names(gathered)[0] == "freeze"
    assert gathered.fused[0].scores["fused"] == 1.0
    assert [one.relevance for one in gathered.fused] == sorted((one.relevance for one in gathered.fused), reverse=True)


def test_a_long_question_costs_two_searches_a_part_and_two_for_the_whole(desk: Library) -> None:
    assert Searcher(desk.index, desk.lexical).gather({FILLER + TRAVEL: 1.0}, access(), 10).searches == 2 * (9 + 1)
    assert Searcher(desk.index, desk.lexical).gather({"travel card": 1.0}, access(), 10).searches == 2


def test_a_long_question_about_nothing_that_is_there_finds_nothing_relevant(library: Library, corpus: Path) -> None:
    assert Searcher(library.index, library.lexical).gather({FILLER + TRAVEL: 1.0}, access(), 10).fused == ()
    document(corpus, "z.md", "# Zzz\n\nqqqq wwww\n")
    library.ingest(corpus, NOW)
    found = Searcher(library.index, library.lexical).gather({FILLER + TRAVEL: 1.0}, access(), 10).fused
    assert [one.relevance for one in found] in ([], [0.0])


def test_in_a_library_of_one_document_a_long_question_still_finds_it(library: Library, corpus: Path) -> None:
    document(corpus, "freeze.md", "# Travel card\n\nFreeze a travel card in the app.\n")
    library.ingest(corpus, NOW)
    [only] = Searcher(library.index, library.lexical).gather({FILLER + TRAVEL: 1.0}, access(), 10).fused
    assert only.relevance > 0.1


def test_a_chunk_that_only_words_found_has_its_cosine(desk: Library) -> None:
    near = Searcher(desk.index, desk.lexical).read("green lift", access(), 1).reading.ranked(1.0, Ranking())
    by_words = desk.lexical.search("card number lift", access(), 3).hits
    query = "card number lift"
    reading = Searcher(desk.index, desk.lexical).read(query, access(), 3).reading.ranked(1.0, Ranking())
    expected = desk.index.nearness([query], [hit.chunk for hit in by_words])[0]
    held = {one.chunk.chunk_id: one.scores["dense"] for one in reading}
    assert near[0].chunk.document_id == "lift"
    assert [held[hit.chunk.chunk_id] for hit in by_words] == pytest.approx(expected, abs=1e-6)


def test_the_cosine_of_what_is_gone_is_zero(desk: Library) -> None:
    [hit] = desk.index.search("green lift", access(), 1).hits
    gone = hit.chunk.model_copy(update={"chunk_id": "nowhere"})
    assert desk.index.nearness(["green lift"], [hit.chunk, gone])[0] == pytest.approx([hit.score, 0.0], abs=1e-6)
    assert desk.index.nearness(["green lift"], []) == [[]]


@pytest.mark.parametrize(
    "question", [pytest.param("travel card", id="short"), pytest.param(FILLER + TRAVEL, id="long")]
)
def test_a_reranker_moves_what_was_found(desk: Library, question: str) -> None:
    favours = Favours("card")
    ranking = Ranking(rerank=50)
    gathered = Searcher(desk.index, desk.lexical, favours, ranking).gather({question: 1.0}, access(), 10)
    assert names(gathered)[0] == "card"
    assert gathered.fused[0].scores["rerank"] == 1.0
    assert "t2" not in favours.read


def test_what_a_hint_alone_found_says_so(desk: Library) -> None:
    gathered = Searcher(desk.index, desk.lexical).gather({"green lift": 1.0, "travel card": 0.6}, access(), 10)
    hints = {one.chunk.document_id: one.scores.get("hint") for one in gathered.fused if one.relevance > 0.3}
    assert hints == {"lift": None, "freeze": 0.6, "card": 0.6}


def test_a_reranker_without_weight_changes_nothing(desk: Library) -> None:
    plain = Searcher(desk.index, desk.lexical).gather({"travel card": 1.0}, access(), 10)
    ranking = Ranking(rerank=0)
    assert (
        Searcher(desk.index, desk.lexical, Favours("card"), ranking).gather({"travel card": 1.0}, access(), 10) == plain
    )


def test_an_unknown_identity_gathers_nothing(desk: Library) -> None:
    with pytest.raises(AccessUnknown):
        Searcher(desk.index, desk.lexical).gather({FILLER + TRAVEL: 1.0}, access(None), 10)


def test_what_users_asked_is_kept_no_longer_than_until_something_is_forgotten(library: Library, corpus: Path) -> None:
    document(corpus, "a.md", "# A\n\nkeys\n")
    library.ingest(corpus, NOW)
    searcher = Searcher(library.index, library.lexical)
    searcher.gather({"keys of mine": 1.0}, access(), 3)
    assert isinstance(library.index, ChromaIndex)
    assert [len(searcher._kept._reads), len(library.index._asked)] == [1, 1]
    let_go()
    assert [len(searcher._kept._reads), len(library.index._asked)] == [0, 0]
