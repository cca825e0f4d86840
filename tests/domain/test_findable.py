"""The runbooks are found by the real retrieval: the worked example's two spans first, in either language."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import domain
from retrieval.embed import MiniLM
from retrieval.gather import Searcher
from retrieval.library import Library
from state.domain import Domain
from state.run import Access
from tests.domain.conftest import NOW


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with Library.open(tmp_path_factory.mktemp("library"), MiniLM()) as opened:
        assert opened.ingest(domain.CORPUS, NOW).broken == ()
        yield opened


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    folder: Path = tmp_path_factory.mktemp("directory")
    return domain.load(folder, NOW)


def found(library: Library, directory: Domain, name: str, question: str) -> list[str]:
    """Sources as a `single` route finds them: the question, and the facts that help to seek."""
    principal = directory.principal(name)
    assert principal is not None
    access = Access(tenant=principal.tenant, groups=principal.groups, products=principal.products, now=NOW)
    queries = [question, *(fact.value for fact in principal.facts if fact.seeks)]
    gathered = Searcher(library.index, library.lexical).gather(dict.fromkeys(queries, 1.0), access, 20)
    return [fused.chunk.source for fused in gathered.fused]


@pytest.mark.parametrize("question", ["Why is my API key not working?", "¿Por qué no funciona mi clave de API?"])
def test_the_worked_example_finds_its_two_spans(library: Library, directory: Domain, question: str) -> None:
    sources = found(library, directory, "ana@acme", question)
    assert sources[:2] == ["runbook/api-keys@v7#check-the-key-first", "runbook/api-keys@v7#revoked-keys"]
    assert not [source for source in sources if "@v6" in source or "@v8" in source]


@pytest.mark.parametrize(
    ("name", "question", "source"),
    [
        ("bea@acme", "Why is my API key not working?", "runbook/api-keys@v7#check-the-key-first"),
        ("bea@acme", "How do I rotate a key?", "runbook/api-keys@v7#rotate-a-key"),
        ("bea@acme", "What is the rate limit of my plan?", "runbook/rate-limits@v3#limits-by-plan"),
        ("bea@acme", "Is the service down?", "runbook/incidents@v4#see-whether-the-service-is-down"),
        ("bea@acme", "Where do I find an invoice?", "runbook/billing-plans@v9#invoices"),
        (
            "omar@globex",
            "What to do when an upload fails at gx-ingest-7?",
            "runbook/globex-uploads@v1#when-an-upload-fails",
        ),
        ("ines@globex", "¿Cuántas peticiones me quedan este mes?", "runbook/usage-quota@v2#cuota-mensual"),
    ],
)
def test_a_question_finds_its_section(
    library: Library, directory: Domain, name: str, question: str, source: str
) -> None:
    assert found(library, directory, name, question)[0] == source


@pytest.mark.parametrize("name", ["ana@acme", "bea@acme", "ines@globex"])
def test_the_private_runbook_is_found_by_its_group_only(library: Library, directory: Domain, name: str) -> None:
    """The other tenant has no such document; a customer of the own tenant is not in the group."""
    assert not [source for source in found(library, directory, name, "gx-ingest-7") if "globex" in source]
