"""Documents that a chunk names: followed under the same access, to the version that is in force now (S5, H13)."""

import re
from collections.abc import Sequence
from typing import Any, Protocol

from sqlalchemy import BindParameter, bindparam, or_, select

from retrieval.access import known_groups, microseconds, tenants
from retrieval.catalogue import Catalogue
from retrieval.entries import Entry
from retrieval.tables import chunks, documents, reachable
from state.knowledge import Chunk
from state.run import Access

MOST_NAMES = 200  # words of some chunks that could be the name of a document

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9/_.-]*[A-Za-z0-9](?:@[A-Za-z0-9][A-Za-z0-9_.-]*[A-Za-z0-9])?")
_TARGET = re.compile(r"\]\(\s*<?([^)\s>#?]+)")
_IDS: BindParameter[Any] = bindparam("ids", expanding=True)
_CHUNKS_OF = select(chunks.c.chunk_id).where(chunks.c.generation.in_(_IDS)).order_by(chunks.c.chunk_id)


class Links(Protocol):
    """What leads from one document to another."""

    def linked(self, found: Sequence[Chunk], access: Access) -> tuple[Chunk, ...]:
        """The chunks of all documents that some chunks name and that the access may read now, their own left out."""
        ...


class CatalogueLinks:
    """Links by a document's id, written out or with a version (`manual/setup`, `manual/setup@v3`), and by its file in a
    Markdown link. A version that is out of force leads to the one in force, or to the document that supersedes it.

    Raises AccessUnknown, StoreUnavailable. What may not be read is not followed, and nothing says that it is there.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def linked(self, found: Sequence[Chunk], access: Access) -> tuple[Chunk, ...]:
        """As in Links."""
        known_groups(access)
        text = "\n".join(chunk.text for chunk in found)
        names = list(
            dict.fromkeys(name.partition("@")[0] for name in _NAME.findall(text) if "/" in name or "-" in name)
        )
        files = [target.removeprefix("./") for target in dict.fromkeys(_TARGET.findall(text))]
        own = {(chunk.tenant, chunk.document_id) for chunk in found}
        named = self._named(names[:MOST_NAMES], files[:MOST_NAMES], access)
        leading = {one.document_id for one in named} | self._successors([one.source for one in named], access)
        generations = [
            one.generation
            for one in self._named(sorted(leading), [], access)
            if one.window.out_of_force(microseconds(access.now)) is None and (one.tenant, one.document_id) not in own
        ]
        with reachable("catalogue"), self._catalogue.engine.connect() as connection:
            ids = list(connection.execute(_CHUNKS_OF, {"ids": generations}).scalars())
        readable = self._catalogue.readable(ids, access).chunks
        return tuple(readable[chunk_id] for chunk_id in ids if chunk_id in readable)

    def _named(self, names: Sequence[str], files: Sequence[str], access: Access) -> list[Entry]:
        wanted = set(names), set(files)
        return [
            entry
            for entry in (self._catalogue.admitted(access) if names or files else ())
            if entry.document_id in wanted[0] or entry.file in wanted[1]
        ]

    def _successors(self, sources: Sequence[str], access: Access) -> set[str]:
        """The documents that say of themselves that they take the place of one of these versions."""
        if not sources:
            return set()
        says = or_(*(documents.c.supersedes.contains(f'"{source}"', autoescape=True) for source in sources))
        query = select(documents.c.document_id).where(says, documents.c.tenant.in_(tenants(access)))
        with reachable("catalogue"), self._catalogue.engine.connect() as connection:
            return set(connection.execute(query).scalars())
