"""One set of laws for the two real branches and the fake."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Protocol

import pytest

from retrieval.chunk import chunk_document
from retrieval.formats import parse_document
from retrieval.library import Library
from state.context import DropReason
from state.run import Access
from state.search import AccessUnknown, Lexical
from tests.fakes_retrieval import FakeIndex, WordEmbedder
from tests.retrieval.conftest import NOW, access, document


class Branch(Lexical, Protocol):
    """What all three can do."""

    def generation(self, access: Access) -> str: ...


NASTY = [
    '"', "'", "*", "^", "(", ")", "NEAR", "NOT keys", "AND", "OR OR", "keys AND", "-keys", "heading:keys", "{keys}",
    "keys*", '"keys', 'a"b"c', "keys NEAR/2 text", "\x00keys", "%_", "; DROP TABLE entry; --", "k\ud7ffeys", "+keys",
    "rowid:1", "💥 keys", "\u202ekeys", "\ud800keys", "keys " * 50_000,
]  # fmt: skip


@pytest.fixture(scope="module")
def branches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Branch]]:
    folder = tmp_path_factory.mktemp("laws")
    corpus = folder / "corpus"
    document(corpus, "open.md", "# Keys\n\nkeys for all\n")
    document(corpus, "hr.md", "# Keys\n\nkeys for hr\n", acl="[hr]")
    document(corpus, "fin.md", "# Keys\n\nkeys for fin and ops\n", acl="[fin, ops]")
    document(corpus, "public.md", "# Keys\n\nkeys for the world\n", tenant="public")
    document(corpus, "foreign.md", "# Keys\n\nkeys of another tenant\n", tenant="t2")
    document(corpus, "api.md", "# Keys\n\nkeys of the api\n", product="api")
    document(corpus, "app.md", "# Keys\n\nkeys of the app\n", product="app")
    for version, effective_from in (("v1", "2024-03-01"), ("v2", "2026-02-01"), ("v3", "2027-01-01")):
        front = {"id": "policy", "version": version, "effective_from": effective_from}
        document(corpus, f"policy-{version}.md", f"# Policy\n\npolicy of {version}\n", **front)
    document(corpus, "fair.md", "# Fair\n\nfair\n", effective_from="2026-06-01", effective_to="2026-12-01")
    parsed = [parse_document(path.name, path.read_bytes()) for path in sorted(corpus.iterdir())]
    chunks = [chunk for one in parsed for chunk in chunk_document(one, f"{one.front.tenant}-{one.source}")]
    with Library.open(folder / "library", WordEmbedder()) as library:
        assert not library.ingest(corpus, NOW).broken
        yield {"dense": library.index, "keywords": library.lexical, "fake": FakeIndex(chunks)}


@pytest.fixture(params=["dense", "keywords", "fake"])
def branch(request: pytest.FixtureRequest, branches: dict[str, Branch]) -> Branch:
    return branches[request.param]


@pytest.fixture
def found(branch: Branch) -> Callable[..., set[str]]:
    def search(query: str = "keys", k: int = 20, **who: object) -> set[str]:
        hits = branch.search(query, access(**who), k).hits  # type: ignore[arg-type]  # passed on as given
        # The dense branch ranks everything it may see; only what shares a word is of interest here.
        return {hit.chunk.document_id for hit in hits if hit.score > 0.15}

    return search


def test_unknown_groups_are_refused(branch: Branch) -> None:
    with pytest.raises(AccessUnknown, match="nothing was searched"):
        branch.search("keys", access(None), 5)
    with pytest.raises(AccessUnknown, match="nothing was searched"):
        branch.generation(access(None))


def test_no_groups_reach_only_documents_without_acl(found: Callable[..., set[str]]) -> None:
    assert found(groups=()) == {"open", "public", "api", "app"}


def test_a_group_reaches_its_documents_too(found: Callable[..., set[str]]) -> None:
    assert found(groups=("ops", "nobody")) == {"open", "public", "api", "app", "fin"}


def test_another_tenant_reaches_its_own_and_the_public(found: Callable[..., set[str]]) -> None:
    assert found(tenant="t2", groups=("hr", "fin")) == {"foreign", "public"}
    assert found(tenant="public") == {"public"}
    assert found(tenant="unheard of") == {"public"}


def test_products_leave_out_documents_that_name_another(found: Callable[..., set[str]]) -> None:
    assert found(products=("api", "web")) == {"open", "public", "api"}


@pytest.mark.parametrize(
    ("now", "version"), [((2026, 1, 31), "v1"), ((2026, 2, 1), "v2"), ((2026, 12, 31), "v2"), ((2027, 1, 1), "v3")]
)
def test_exactly_the_version_in_force_is_found(branch: Branch, now: tuple[int, int, int], version: str) -> None:
    hits = branch.search("policy", access(now=datetime(*now, tzinfo=UTC)), 20).hits
    assert {hit.chunk.version for hit in hits if hit.chunk.document_id == "policy"} == {version}


def test_other_versions_are_named_with_their_reason(branch: Branch) -> None:
    excluded = [e for e in branch.search("policy", access(), 3).excluded if e.source.startswith("policy@")]
    assert [(e.source, e.version, e.reason) for e in excluded] == [
        ("policy@v1", "v1", DropReason.SUPERSEDED),
        ("policy@v3", "v3", DropReason.NOT_YET_EFFECTIVE),
    ]


@pytest.mark.parametrize(("moment", "there"), [((2026, 5, 31), False), ((2026, 6, 1), True), ((2026, 12, 1), False)])
def test_a_document_is_in_force_from_its_start_until_its_end_exclusive(
    found: Callable[..., set[str]], moment: tuple[int, int, int], there: bool
) -> None:
    assert ("fair" in found("fair", now=datetime(*moment, tzinfo=UTC))) is there


def test_hits_come_best_first_and_never_more_than_asked(branch: Branch) -> None:
    for k in (0, 1, 3):
        hits = branch.search("keys for all", access(), k).hits
        assert len(hits) == k
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert branch.search("world", access(), 1).hits[0].chunk.document_id == "public"
    assert branch.search("keys", access(), -1).hits == ()


def test_the_same_search_gives_the_same_answer(branch: Branch) -> None:
    assert branch.search("keys", access(), 4) == branch.search("keys", access(), 4)


@pytest.mark.parametrize("query", ["", "   ", "?!…", "\n"])
def test_a_query_without_words_finds_nothing(branch: Branch, query: str) -> None:
    assert branch.search(query, access(), 5).hits == ()


@pytest.mark.parametrize("query", NASTY, ids=range(len(NASTY)))
def test_any_text_is_a_safe_query(branch: Branch, query: str) -> None:
    hits = branch.search(query, access(), 5).hits
    assert {hit.chunk.tenant for hit in hits} <= {"t1", "public"}


def test_the_generation_depends_on_what_may_be_seen(branch: Branch) -> None:
    names = [
        branch.generation(who) for who in (access(), access(("hr",)), access(tenant="t2"), access(products=("api",)))
    ]
    assert len(set(names)) == 4
    assert branch.generation(access(("nobody",))) == names[0]


def test_the_generation_changes_when_a_version_begins(branch: Branch) -> None:
    before = branch.generation(access(now=datetime(2026, 12, 2, tzinfo=UTC)))
    assert branch.generation(access(now=datetime(2026, 12, 31, tzinfo=UTC))) == before
    assert branch.generation(access(now=datetime(2027, 1, 1, tzinfo=UTC))) != before
    assert branch.generation(access(now=datetime(2026, 12, 31, tzinfo=UTC))) == before
