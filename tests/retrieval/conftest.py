"""A library of its own for each test, and a way to write documents."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from retrieval.library import Library
from state.run import Access
from tests.fakes_retrieval import WordEmbedder

NOW = datetime(2026, 11, 29, tzinfo=UTC)


def document(folder: Path, file: str, body: str, **front: object) -> Path:
    """Write a document; tenant and version are filled in unless given."""
    keys = {"id": file.rpartition(".")[0], "version": "v1", "tenant": "t1", **front}
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("---\n" + "".join(f"{key}: {value}\n" for key, value in keys.items()) + "---\n" + body, "utf-8")
    return path


def access(
    groups: tuple[str, ...] | None = (),
    tenant: str = "t1",
    products: tuple[str, ...] = (),
    now: datetime = NOW,
) -> Access:
    return Access(tenant=tenant, groups=groups, products=products, now=now)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    return folder


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def library(tmp_path: Path, embedder: WordEmbedder) -> Iterator[Library]:
    with Library.open(tmp_path / "library", embedder) as opened:
        yield opened


def both(library: Library, query: str, who: Access, k: int = 10) -> tuple[set[str], set[str]]:
    """The document versions that the dense and the keyword branch find."""
    dense = library.index.search(query, who, k).hits
    words = library.lexical.search(query, who, k).hits
    return (
        {hit.chunk.source.partition("#")[0] for hit in dense},
        {hit.chunk.source.partition("#")[0] for hit in words},
    )
