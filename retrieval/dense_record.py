"""What a chunk is in the dense store: the text that is embedded, its metadata, and the filter over it."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from retrieval.access import microseconds, readers_matching, readers_of
from retrieval.branch import Generation
from state.knowledge import Chunk
from state.run import Access
from state.search import Embedder

TEXT_NAME = "text"  # the key under which a record names the text that its vector is of

Condition = dict[str, Any]
"""A filter in Chroma's own form, whose declared type is too narrow to build one with."""


def where(access: Access, not_live: Sequence[str]) -> Condition:
    """The filter of a search: positive, and never empty (H08). It stands before the ranking.

    `$contains` is the operator that looks into a list; `$in` on one finds nothing, silently.
    """
    readers: list[Condition] = [{"readers": {"$contains": reader}} for reader in readers_matching(access)]
    now_us = microseconds(access.now)
    parts: list[Condition] = [
        readers[0] if len(readers) == 1 else {"$or": readers},
        {"from_us": {"$lte": now_us}},
        {"until_us": {"$gt": now_us}},
    ]
    if access.products:
        parts.append({"product": {"$in": ["", *access.products]}})
    if not_live:
        parts.append({"generation": {"$nin": list(not_live)}})
    return {"$and": parts}


def embedded_text(chunk: Chunk) -> str:
    """What of a chunk is embedded: title and heading path first, since the text alone may not name its subject."""
    heading = " > ".join(dict.fromkeys((chunk.title, *chunk.headings)))
    return f"{heading}\n{chunk.text}"


def text_name(text: str) -> str:
    """The name of an embedded text, by its content: whoever holds it holds its vector."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def metadata(chunk: Chunk, generation: Generation) -> dict[str, Any]:
    """What is stored beside the vector: all that a filter needs, and the source for whoever looks into the store."""
    return {
        "source": chunk.source,
        TEXT_NAME: text_name(embedded_text(chunk)),
        "generation": generation.name,
        "readers": readers_of(chunk.acl),
        "product": chunk.product,
        "from_us": microseconds(chunk.effective_from),
        "until_us": generation.until_us,
    }


def made_by(embedder: Embedder) -> dict[str, str | int]:
    """What is stored with a collection: vectors of another embedder cannot be compared with those in it."""
    return {"embedder": embedder.name, "dimension": embedder.dimension}


def spelt(made_by: dict[str, Any]) -> str:
    """The same for a reader."""
    return f"{made_by['embedder']} (dimension {made_by['dimension']})"
