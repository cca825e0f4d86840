"""The library: catalogue, dense index, keyword index and ingest of one folder, opened and closed together."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

from retrieval.catalogue import Catalogue
from retrieval.chroma import ChromaIndex
from retrieval.chunk import LIMIT_CHARS
from retrieval.faults import StoreUnavailable
from retrieval.ingest import Ingested, IngestReport, exclusive, ingest, withdraw
from retrieval.intake import Intake
from retrieval.lexical import FtsIndex
from retrieval.publish import Publisher
from retrieval.tables import open_catalogue
from state.run import Access
from state.search import Embedder


class Library:
    """Everything that is searched, in one folder: `catalogue.db`, `dense/`, `keywords/`.

    `index` and `lexical` are the two branches of state.ports; both may be used by several threads.
    """

    def __init__(
        self,
        folder: Path,
        catalogue: Catalogue,
        index: ChromaIndex,
        lexical: FtsIndex,
        publisher: Publisher,
        embedder: Embedder,
    ) -> None:
        self.folder = folder
        self.catalogue = catalogue
        self.index = index
        self.lexical = lexical
        self._publisher = publisher
        self._embedder = embedder

    @classmethod
    def open(cls, folder: Path, embedder: Embedder, *, chroma_url: str | None = None) -> Self:
        """Open a library, and make an empty one where there is none; with a `chroma_url` its vectors lie there.

        Raises EmbedderMismatch for a library built by another embedder, StoreUnavailable.
        """
        try:
            (folder / "keywords").mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise StoreUnavailable("library folder", fault, "give a folder that may be written") from fault
        made = folder / "made"
        if made.exists():
            return cls._open(folder, embedder, chroma_url)
        # Two processes that start together must not both make the tables.
        with exclusive(folder):
            library = cls._open(folder, embedder, chroma_url)
            made.touch()
            return library

    @classmethod
    def _open(cls, folder: Path, embedder: Embedder, chroma_url: str | None) -> Self:
        writer = uuid4().hex
        if any((folder / "keywords").iterdir()) and not (folder / "catalogue.db").exists():
            raise StoreUnavailable(
                "catalogue",
                "catalogue.db is not there, and the keyword index holds documents",
                "put it back, or delete the library folder and ingest again",
            )
        catalogue = Catalogue(open_catalogue(folder / "catalogue.db"))
        try:
            index = ChromaIndex(chroma_url or folder / "dense", catalogue, embedder, writer)
        except BaseException:
            catalogue.close()
            raise
        lexical = FtsIndex(folder / "keywords", catalogue)
        library = cls(folder, catalogue, index, lexical, Publisher(catalogue.engine, writer), embedder)
        try:
            library._require()
        except BaseException:
            library.close()
            raise
        return library

    def _require(self) -> None:
        """Raises StoreUnavailable where a store lost what the catalogue says was published."""
        tenant_names = [revision.tenant for revision in self.catalogue.revisions()]
        for store in (self.index, self.lexical):
            store.require(tenant_names)

    def ingest(
        self,
        corpus: Path,
        now: datetime,
        *,
        intake: Intake | None = None,
        limit_chars: int = LIMIT_CHARS,
        progress: Callable[[int, int], None] | None = None,
    ) -> IngestReport:
        """Bring the library to the state of a folder of documents: the domain's corpus, or with an `intake` any other.

        `now` dates the audit log, `limit_chars` bounds a chunk, `progress` gets chunks written and chunks in all.
        Raises CorpusMissing, IngestBusy, IngestIncomplete, StoreUnavailable.
        """
        with exclusive(self.folder):
            self.index.catch_up()
            self._require()
            return ingest(
                corpus,
                publisher=self._publisher,
                stores=(self.index, self.lexical),
                now=now,
                limit_chars=limit_chars,
                recipe=f"{self._embedder.name}/{self._embedder.dimension}",
                intake=intake,
                progress=progress,
            )

    def withdraw(self, folder: Path, intake: Intake, now: datetime) -> tuple[Ingested, ...]:
        """Take out what a folder or a file brought for a tenant, also when it is gone. Raises as `ingest` does."""
        with exclusive(self.folder):
            self.index.catch_up()
            self._require()
            stores = (self.index, self.lexical)
            return withdraw(folder, intake, publisher=self._publisher, stores=stores, now=now)

    def generation(self, access: Access) -> str:
        """The name of everything an access may see now: it changes exactly when that changes. About 0.2 ms."""
        return self.catalogue.generation(access)

    def close(self) -> None:
        """Let go of the folder's files."""
        self.index.close()
        self.catalogue.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
