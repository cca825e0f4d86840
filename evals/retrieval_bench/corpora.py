"""The labelled sets: the domain's own questions, and bank_knowledge where EXPEDIENTE_DATA lies."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from evals.retrieval_bench.labelled import Labelled, read_labelled
from retrieval.library import Library
from state.domain import Domain
from state.run import Access
from state.search import Embedder

TENANT, STAFF = "bank", "staff"
NOW = datetime(2026, 11, 29, tzinfo=UTC)


@dataclass(frozen=True)
class LabelledSet:
    """Questions with the access of who asks each, over a library that holds the documents; how many chunks a second
    were read in, embedding included, where that was done for the measurement."""

    name: str
    library: Library
    questions: tuple[tuple[Labelled, Access], ...]
    ingest_chunks_per_s: float | None = None


@contextmanager
def bank_set(data: Path, folder: Path, embedder: Embedder) -> Iterator[LabelledSet]:
    """The 698 documents of a bank and the 60 scenarios. What is titled "Internal:" is for staff, who ask."""
    source = data / "bank_knowledge"
    corpus = folder / "bank"
    corpus.mkdir(parents=True)
    named = {}
    for number, line in enumerate((source / "documents.jsonl").read_text("utf-8").splitlines()):
        one = json.loads(line)
        named[one["id"]] = f"bank/{number:03}"
        acl = f"[{STAFF}]" if one["title"].startswith("Internal:") else "[]"
        front = f"id: bank/{number:03}\nversion: v1\ntenant: {TENANT}\nacl: {acl}\ntitle: {json.dumps(one['title'])}\n"
        (corpus / f"{number:03}.md").write_text(f"---\n{front}---\n{one['text']}", "utf-8")
    access = Access(tenant=TENANT, groups=(STAFF,), products=(), now=NOW)
    questions = []
    for line in (source / "tasks.jsonl").read_text("utf-8").splitlines():
        task = json.loads(line)
        relevant = tuple(named[document] for document in task["required_documents"])
        questions.append((Labelled(question=task["scenario"], relevant=relevant), access))
    with Library.open(folder / "bank-library", embedder) as library:
        yield LabelledSet("bank_knowledge", library, tuple(questions), _read_in(library, corpus))


@contextmanager
def domain_set(domain: Domain, file: Path, folder: Path, embedder: Embedder) -> Iterator[LabelledSet]:
    """The domain's corpus under a file of labelled questions, each asked by the principal it names."""
    with Library.open(folder / "domain-library", embedder) as library:
        speed = _read_in(library, domain.corpus)
        yield LabelledSet("domain", library, asked_by(domain, read_labelled(file)), speed)


def _read_in(library: Library, corpus: Path) -> float:
    began = time.perf_counter()
    return library.ingest(corpus, NOW).chunks / (time.perf_counter() - began)


def asked_by(
    domain: Domain, questions: tuple[Labelled, ...], now: datetime = NOW
) -> tuple[tuple[Labelled, Access], ...]:
    """Each question with the access of its principal; without a name the domain's first. Raises ValueError."""
    found = []
    for one in questions:
        name = one.as_ or domain.principals()[0]
        principal = domain.principal(name)
        if principal is None:
            raise ValueError(f"{one.question!r}: got as {name!r}; allowed: {', '.join(domain.principals())}")
        who = Access(tenant=principal.tenant, groups=principal.groups, products=principal.products, now=now)
        found.append((one, who))
    return tuple(found)
