"""What the catalogue says: document versions, revisions, changes, and chunks that may be read."""

from retrieval.access import Window, admits
from state.knowledge import Chunk
from state.run import Access
from state.value import Value


class Entry(Value):
    """One document version as the catalogue knows it."""

    tenant: str
    document_id: str
    version: str
    generation: str
    origin: str
    file: str
    acl: tuple[str, ...]
    product: str
    window: Window
    chunks: int

    @property
    def source(self) -> str:
        return f"{self.document_id}@{self.version}"

    def admitted(self, access: Access) -> bool:
        """Whether the access may see this version at all, at any time."""
        return admits(access, self.tenant, self.acl, self.product)


class Change(Value):
    """A line of the audit log. An acl is None where the version did not exist; times in microseconds since 1970."""

    at_us: int
    tenant: str
    source: str
    file: str
    action: str
    acl_before: tuple[str, ...] | None
    acl_after: tuple[str, ...] | None


class Revision(Value):
    """How often a tenant's part of the library was changed, and which opened library did it last."""

    tenant: str
    number: int
    writer: str


class Stand(Value):
    """Where the library stands for an access: its tenants' revisions, and generations that must not be found."""

    revisions: tuple[Revision, ...]
    not_live: tuple[str, ...]

    @property
    def tenants(self) -> tuple[str, ...]:
        """The tenants that something was published for: their places in the stores must be there."""
        return tuple(revision.tenant for revision in self.revisions)


class Readable(Value):
    """The chunks that may be read, by id, and the revisions they were judged at."""

    chunks: dict[str, Chunk]
    revisions: tuple[Revision, ...]
