"""Near-duplicates: which texts say the same, which of them stays, and that no foreign text has a part in it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from retrieval.duplicates import Text, alike, collapse
from retrieval.fuse import Fused
from retrieval.gather import Searcher
from retrieval.library import Library
from state.context import DropReason, Span
from state.knowledge import HINT, Chunk
from tests.retrieval.conftest import NOW, access, document

STEPS = (
    "To rotate a key, open the console, choose the account, press Rotate and wait until the new key is shown; copy it "
    "at once, since it is shown only here, and put it where the old one was used before the old one ends."
)


def chunk(text: str, name: str = "a", **other: object) -> Chunk:
    made = {
        "chunk_id": name,
        "document_id": name,
        "version": "v1",
        "source": f"{name}@v1#keys",
        "title": "Keys",
        "headings": ("Keys",),
        "text": text,
        "span": Span(start=0, end=len(text)),
        "tenant": "t1",
        "effective_from": datetime(2026, 1, 1, tzinfo=UTC),
    }
    return Chunk.model_validate({**made, **other})


SAME = {
    "word by word": STEPS,
    "other case, marks and breaks": STEPS.upper().replace(",", "\n-").replace("KEY", "**KEY**"),
    "a few words more": STEPS + " This page is kept by the platform team.",
}
OTHER = {
    "a word in the place of another": STEPS.replace("account", "project"),
    "a figure more": STEPS + " Wait 14 days.",
    "a negation more": STEPS.replace("copy it", "do not copy it"),
    "many words more": STEPS + " " + " ".join(f"word{chr(97 + n)}" for n in range(20)),
    "other words": "Nothing of the kind.",
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME.keys())
def test_texts_that_say_the_same_are_alike(text: str) -> None:
    assert alike(Text(chunk(STEPS)), Text(chunk(text)))
    assert alike(Text(chunk(text)), Text(chunk(STEPS)))


@pytest.mark.parametrize("text", OTHER.values(), ids=OTHER.keys())
def test_texts_that_differ_in_what_they_say_are_not(text: str) -> None:
    assert not alike(Text(chunk(STEPS)), Text(chunk(text)))
    assert not alike(Text(chunk(text)), Text(chunk(STEPS)))


@pytest.mark.parametrize("other", [{"title": "Tokens"}, {"headings": ("Use",)}, {"product": "app"}, {"language": "es"}])
def test_the_same_words_about_something_else_are_not_alike(other: dict[str, object]) -> None:
    assert not alike(Text(chunk(STEPS)), Text(chunk(STEPS, "b", **other)))


def test_a_short_text_is_the_same_word_by_word_or_not_at_all() -> None:
    assert alike(Text(chunk("Ask ops.")), Text(chunk("ask OPS")))
    assert not alike(Text(chunk("Ask ops.")), Text(chunk("Ask ops first.")))


LATER = {"effective_from": datetime(2026, 6, 1, tzinfo=UTC)}


@pytest.mark.parametrize(
    ("first", "second", "stays"),
    [
        ({}, {}, "first"),
        ({}, LATER, "second"),
        (LATER, {}, "first"),
        ({"authority": 0.9}, {**LATER, "authority": 0.5}, "first"),
        ({"authority": 0.5}, {"authority": 0.9}, "second"),
    ],
    ids=["the more relevant", "the newer", "the newer, found first", "authority before date", "authority"],
)
def test_the_better_standing_stays_and_keeps_the_relevance(
    first: dict[str, object], second: dict[str, object], stays: str
) -> None:
    found = [
        Fused(chunk=chunk(STEPS, "first", **first), relevance=0.8, scores={"fused": 1.0}),
        Fused(chunk=chunk("Something else.", "third"), relevance=0.7, scores={"fused": 0.5}),
        Fused(chunk=chunk(STEPS, "second", **second), relevance=0.6, scores={"fused": 0.4}),
    ]
    kept, left_out = collapse(found, 3)
    assert [(one.chunk.chunk_id, one.relevance) for one in kept] == [(stays, 0.8), ("third", 0.7)]
    assert [one.chunk_id for one in left_out] == [{"first": "second", "second": "first"}[stays]]


@pytest.mark.parametrize(("first", "second"), [({HINT: 0.6}, {}), ({}, {HINT: 0.6})], ids=["hinted", "asked for"])
def test_the_relevance_that_is_kept_says_whether_a_hint_found_it(
    first: dict[str, float], second: dict[str, float]
) -> None:
    found = [
        Fused(chunk=chunk(STEPS, "first"), relevance=0.8, scores={"fused": 1.0, **first}),
        Fused(chunk=chunk(STEPS, "second", authority=0.9), relevance=0.6, scores={"fused": 0.5, **second}),
    ]
    [kept], _ = collapse(found, 2)
    assert (kept.chunk.chunk_id, kept.relevance, kept.scores) == ("second", 0.8, {"fused": 0.5, **first})


def test_copies_take_no_place_and_are_excluded_with_their_reason(library: Library, corpus: Path) -> None:
    for number in range(6):
        document(corpus, f"copy{number}.md", f"# Keys\n\n{STEPS}\n", authority=0.9 if number == 4 else 0.5)
    document(corpus, "other.md", "# Audit\n\nWho used a key is seen in the audit log.\n")
    library.ingest(corpus, NOW)
    gathered = Searcher(library.index, library.lexical).gather({"rotate a key": 1.0}, access(), 2)
    assert [one.chunk.document_id for one in gathered.fused] == ["copy4", "other"]
    assert [(one.source, one.reason) for one in gathered.excluded] == [
        (f"copy{number}@v1#keys", DropReason.NEAR_DUPLICATE) for number in (0, 1, 2, 3, 5)
    ]
    assert gathered.searches == 6, "two searches, and two more rounds for what the copies had taken the place of"


def test_what_may_not_be_read_has_no_part_in_it(library: Library, corpus: Path) -> None:
    """A copy of better standing that another tenant or group holds changes nothing, and is not named."""
    document(corpus, "own.md", f"# Keys\n\n{STEPS}\n", authority=0.1)
    library.ingest(corpus, NOW)
    searcher = Searcher(library.index, library.lexical)
    alone = searcher.gather({"rotate a key": 1.0}, access(), 5)
    document(corpus, "foreign.md", f"# Keys\n\n{STEPS}\n", authority=1.0, tenant="t2")
    document(corpus, "closed.md", f"# Keys\n\n{STEPS}\n", authority=1.0, acl="[hr]")
    library.ingest(corpus, NOW)
    beside = searcher.gather({"rotate a key": 1.0}, access(), 5)
    assert [one.chunk for one in beside.fused] == [one.chunk for one in alone.fused]
    assert beside.excluded == alone.excluded == ()
    read_by_hr = searcher.gather({"rotate a key": 1.0}, access(("hr",)), 5)
    assert [one.chunk.document_id for one in read_by_hr.fused] == ["closed"]
    assert [one.source for one in read_by_hr.excluded] == ["own@v1#keys"]
