"""What is true of the world a case plays in, read from the domain's own files: whose what is, and what is in force.

Read apart from the library, so that a fault in its filters cannot hide from the measures that look for it.
"""

from collections.abc import Sequence
from datetime import datetime

from pydantic import AwareDatetime

from retrieval.document import FrontMatter
from retrieval.faults import BrokenDocument
from retrieval.formats import parse_document
from state.domain import Domain
from state.run import PUBLIC_TENANT, Principal
from state.value import Value


class Version(Value):
    """One version of a document, and when it is in force: from `begins` on, until `ends`, exclusive."""

    tenant: str
    source: str
    begins: AwareDatetime
    ends: AwareDatetime | None = None


class World(Value):
    """`foreign` are names that the actor must not meet: documents, memories and people of others, and documents that
    its groups or products do not admit. `versions` are all documents, whoever may read them."""

    tenant: str
    foreign: tuple[str, ...]
    versions: tuple[Version, ...] = ()

    def in_force(self, tenant: str, source: str, at: datetime) -> bool:
        """Whether a document version is in force at a time; what the domain's files do not hold is."""
        return all(
            one.begins <= at and (one.ends is None or at < one.ends)
            for one in self.versions
            if (one.tenant, one.source) == (tenant, source)
        )


def world_of(domain: Domain, principal: Principal) -> World:
    """The world as one principal may see it."""
    pages: list[FrontMatter] = []
    for file in sorted(domain.corpus.rglob("*.md")):
        try:
            pages.append(parse_document(file.name, file.read_bytes()).front)
        except BrokenDocument:
            continue  # it is in no library either
    own = {_source(page) for page in pages if _admitted(page, principal)}
    # Two organisations may call their documents alike: a name that is also an own one tells nothing.
    documents = {_source(page) for page in pages} - own
    memories = {
        memory.memory_id
        for memory in domain.memories
        if memory.tenant != principal.tenant or memory.subject not in principal.subjects
    }
    people = {name for name in domain.principals() if not name.endswith(f"@{principal.tenant}")}
    return World(
        tenant=principal.tenant,
        foreign=tuple(sorted(documents | memories | people)),
        versions=tuple(
            Version(tenant=page.tenant, source=_source(page), begins=page.effective_from, ends=_end(page, pages))
            for page in pages
        ),
    )


def _source(page: FrontMatter) -> str:
    return f"{page.id}@{page.version}"


def _admitted(page: FrontMatter, principal: Principal) -> bool:
    groups, products = set(principal.groups or ()), principal.products
    return (
        page.tenant in (principal.tenant, PUBLIC_TENANT)
        and (not page.acl or not groups.isdisjoint(page.acl))
        and (not page.product or not products or page.product in products)
    )


def _end(page: FrontMatter, pages: Sequence[FrontMatter]) -> datetime | None:
    """Its own end, or the moment at which a version that replaces it begins, whichever comes first."""
    ends = [other.effective_from for other in pages if other.tenant == page.tenant and _replaces(other, page)]
    ends += [page.effective_to] if page.effective_to is not None else []
    return min(ends, default=None)


def _replaces(other: FrontMatter, page: FrontMatter) -> bool:
    """A later version of the same document does so by itself; any other one by naming what it supersedes."""
    if other is page:
        return False
    named = {one if "@" in one else f"{other.id}@{one}" for one in other.supersedes}
    return _source(page) in named or (other.id == page.id and other.effective_from > page.effective_from)
