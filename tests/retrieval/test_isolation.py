"""No access ever finds what it may not read, and every access finds all that it may: against a plain oracle."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrieval.library import Library
from state.run import Access
from tests.fakes_retrieval import WordEmbedder
from tests.retrieval.conftest import NOW, document

TENANTS = ("acme", "acme-eu", "ACME", "globex")
GROUPS = ("hr", "fin", "ops", "everyone", "group:hr", "*")
PRODUCTS = ("api", "app", "web")
START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Stored:
    """A document as it was written; `start` and `end` in days from START."""

    name: str
    tenant: str
    acl: tuple[str, ...]
    product: str
    start: int
    end: int | None

    def may_be_read(self, access: Access) -> bool:
        day = (access.now - START) / timedelta(days=1)
        return (
            self.tenant in (access.tenant, "public")
            and (self.acl == () or any(group in self.acl for group in access.groups or ()))
            and (self.product == "" or access.products == () or self.product in access.products)
            and self.start <= day
            and (self.end is None or day < self.end)
        )


def marker(number: int) -> str:
    """A word of letters only, so that no part of it is shared with another."""
    return "".join("abcdefghij"[int(digit)] for digit in f"{number:03}") + "zz"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Library, dict[str, Stored]]]:
    folder = tmp_path_factory.mktemp("world")
    chance = random.Random(7)
    stored: dict[str, Stored] = {}
    for number in range(160):
        start = chance.randrange(0, 20)
        one = Stored(
            name=f"doc{number}",
            tenant=chance.choice([*TENANTS, "public"]),
            acl=tuple(sorted(chance.sample(GROUPS, chance.choice([0, 0, 1, 2])))),
            product=chance.choice(["", *PRODUCTS]),
            start=start,
            end=chance.choice([None, start + chance.randrange(1, 20)]),
        )
        front = {"effective_from": (START + timedelta(days=one.start)).date(), "tenant": one.tenant}
        if one.end is not None:
            front["effective_to"] = (START + timedelta(days=one.end)).date()
        acl = [f'"{group}"' for group in one.acl]
        text = f"# Keys\n\nkeys {marker(number)}\n"
        document(
            folder / "corpus", f"{one.name}.md", text, acl=f"[{', '.join(acl)}]", product=one.product or '""', **front
        )
        stored[one.name] = one
    with Library.open(folder / "library", WordEmbedder()) as library:
        assert library.ingest(folder / "corpus", NOW).broken == ()
        yield library, stored


accesses = st.builds(
    Access,
    tenant=st.sampled_from([*TENANTS, "public", "nobody"]),
    groups=st.lists(st.sampled_from([*GROUPS, "else"]), max_size=4).map(tuple),
    products=st.lists(st.sampled_from([*PRODUCTS, "other"]), max_size=2).map(tuple),
    now=st.integers(0, 41 * 24).map(lambda hours: START + timedelta(hours=hours)),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(who=accesses)
def test_exactly_what_may_be_read_is_found(world: tuple[Library, dict[str, Stored]], who: Access) -> None:
    library, stored = world
    allowed = {name for name, one in stored.items() if one.may_be_read(who)}
    for branch in (library.index, library.lexical):
        found = branch.search("keys", who, len(stored))
        assert {hit.chunk.document_id for hit in found.hits} == allowed
        assert all(stored[one.source.partition("@")[0]].tenant in (who.tenant, "public") for one in found.excluded)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(who=accesses, number=st.integers(0, 159), k=st.integers(1, 5))
def test_a_rare_word_leads_only_those_who_may_read_it_to_it(
    world: tuple[Library, dict[str, Stored]], who: Access, number: int, k: int
) -> None:
    library, stored = world
    allowed = stored[f"doc{number}"].may_be_read(who)
    words = library.lexical.search(marker(number), who, k).hits
    assert [hit.chunk.document_id for hit in words][: 1 if allowed else None] == ([f"doc{number}"] if allowed else [])
    near = library.index.search(f"keys {marker(number)}", who, k).hits
    assert all(stored[hit.chunk.document_id].may_be_read(who) for hit in near)
    if allowed:
        # Two words may share a bucket of the embedder: the document is among the nearest, not alone.
        best = library.index.search(f"keys {marker(number)}", who, len(stored)).hits
        assert f"doc{number}" in {hit.chunk.document_id for hit in best if hit.score >= best[0].score - 1e-6}
