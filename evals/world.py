"""What is true of the world a case plays in, read from the domain's own files: whose what is, and what is in force.

Read apart from the library, so that a fault in its filters cannot hide from the measures that look for it.
"""

from datetime import datetime

from retrieval.document import FrontMatter, parse_document
from retrieval.faults import BrokenDocument
from state.domain import Domain
from state.run import PUBLIC_TENANT, Principal
from state.value import Value


class World(Value):
    """`foreign` are names that the actor must not meet: documents, memories and people of others, and documents that
    its groups or products do not admit. `out_of_force` are versions that are not valid at the time of the case."""

    tenant: str
    foreign: tuple[str, ...]
    out_of_force: frozenset[str]


def world_of(domain: Domain, principal: Principal, now: datetime) -> World:
    """The world as one principal may see it at a time."""
    pages: list[FrontMatter] = []
    for file in sorted(domain.corpus.rglob("*.md")):
        try:
            pages.append(parse_document(file.name, file.read_bytes()).front)
        except BrokenDocument:
            continue  # it is in no library either
    documents = [_source(page) for page in pages if not _admitted(page, principal)]
    memories = [
        memory.memory_id
        for memory in domain.memories
        if memory.tenant != principal.tenant or memory.subject not in principal.subjects
    ]
    people = [name for name in domain.principals() if not name.endswith(f"@{principal.tenant}")]
    return World(
        tenant=principal.tenant,
        foreign=tuple(sorted({*documents, *memories, *people})),
        out_of_force=frozenset(_source(page) for page in pages if not _in_force(page, pages, now)),
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


def _in_force(page: FrontMatter, pages: list[FrontMatter], now: datetime) -> bool:
    replaced = any(
        other.effective_from <= now and _replaces(other, page)
        for other in pages
        if other.tenant == page.tenant and other is not page
    )
    ended = page.effective_to is not None and page.effective_to <= now
    return page.effective_from <= now and not ended and not replaced


def _replaces(other: FrontMatter, page: FrontMatter) -> bool:
    """A later version of the same document does so by itself; any other one by naming what it supersedes."""
    named = {one if "@" in one else f"{other.id}@{one}" for one in other.supersedes}
    return _source(page) in named or (other.id == page.id and other.effective_from > page.effective_from)
