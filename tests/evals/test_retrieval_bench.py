"""The retrieval bench: resumable results, labels that name something, the plain ensemble, and a small run whole."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_core.documents import Document
from typer import Typer
from typer.testing import CliRunner

from evals.retrieval_bench.__main__ import main
from evals.retrieval_bench.corpora import LabelledSet
from evals.retrieval_bench.ensemble import Bm25, Ensemble, Vectors
from evals.retrieval_bench.labelled import Labelled, LabelledWrong
from evals.retrieval_bench.peers import Peers
from evals.retrieval_bench.prepare import prepare
from evals.retrieval_bench.results import Results
from evals.retrieval_bench.stages import measured
from retrieval.library import Library
from state.value import Value
from tests.fakes_retrieval import WordEmbedder
from tests.retrieval.conftest import NOW, access, document


class Number(Value):
    n: int


def test_what_was_measured_is_held_by_the_next_run(tmp_path: Path) -> None:
    file = tmp_path / "new" / "results.jsonl"
    first = Results(file)
    assert first.held("a", Number) is None
    first.add("a", Number(n=1))
    first.add("b", Number(n=2))
    first.add("a", Number(n=3))
    again = Results(file)
    assert (again.held("a", Number), again.held("b", Number)) == (Number(n=3), Number(n=2))
    assert again.held("a", Peers) is None


def test_a_line_that_was_broken_off_costs_that_part_alone(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    Results(file).add("a", Number(n=1))
    with file.open("a") as opened:
        opened.write('{"part": "b", "meas')
    Results(file).add("c", Number(n=3))
    again = Results(file)
    assert [again.held(part, Number) for part in "abc"] == [Number(n=1), None, Number(n=3)]


def test_the_plain_ensemble_merges_two_lists_by_rank() -> None:
    words = Bm25.of(["a", "b", "c"], ["red key", "blue key key", "green door"], 3)
    assert [one.page_content for one in words.invoke("blue key")] == ["b", "a", "c"]
    both = Ensemble(retrievers=[words, Vectors(nearest=lambda _: ["c", "b"])])
    # b: second and first; c: first and third; a: second alone.
    assert [one.page_content for one in both.invoke("blue key")] == ["b", "c", "a"]
    assert isinstance(both.invoke("key")[0], Document)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Library]:
    corpus = tmp_path / "corpus"
    document(corpus, "keys.md", "# Keys\n\nA revoked key cannot be used again.\n", id="book/keys")
    document(corpus, "bills.md", "# Bills\n\nA bill is sent each month.\n", id="book/bills", acl="[fin]")
    document(corpus, "soon.md", "# Soon\n\nNot yet.\n", id="book/soon", effective_from="2030-01-01")
    with Library.open(tmp_path / "library", WordEmbedder()) as library:
        library.ingest(corpus, NOW)
        yield library


@pytest.mark.parametrize(
    "label",
    [
        pytest.param("book/nothing", id="no such document"),
        pytest.param("book/bills", id="not for the asker"),
        pytest.param("book/soon", id="not in force"),
        pytest.param("book/keys@v1#doors", id="no such section"),
    ],
)
def test_a_label_that_names_nothing_the_asker_may_read_is_refused(desk: Library, label: str) -> None:
    asked = ((Labelled(question="key", relevant=("book/keys", label)), access()),)
    with pytest.raises(LabelledWrong, match=rf"'key': got {label}; allowed: a document"):
        prepare(LabelledSet("desk", desk, asked), None)


def test_stages_are_measured_beside_the_plain_ensemble(desk: Library) -> None:
    questions = [("revoked key", "book/keys@v1#keys", "en"), ("bill each month", "book/bills", "es")]
    asked = tuple(
        (Labelled(question=question, relevant=(label,), language=language), access(("fin",)))
        for question, label, language in questions
    )
    labelled = LabelledSet("desk", desk, asked)
    found = measured(labelled, prepare(labelled, None))
    assert [stage.name for stage in found.stages] == [
        "keywords", "vectors", "both", "both, then MaxSim", "plain ensemble",
    ]  # fmt: skip
    assert all(stage.scored.reciprocal_rank == 1 for stage in found.stages)
    assert all(stage.ndcg_10_by_language == {"en": 1.0, "es": 1.0} for stage in found.stages)
    assert all(0 < stage.ms_p50 <= stage.ms_p95 for stage in found.stages)


def test_a_run_that_is_repeated_measures_nothing_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPEDIENTE_DOMAIN", "tests.domains.library_desk")
    monkeypatch.setenv("EXPEDIENTE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("EXPEDIENTE_DATA", raising=False)
    app = Typer()
    app.command()(main)
    first = CliRunner().invoke(app, ["--json", "--size", "100x2"])
    assert first.exit_code == 0, first.output
    peers = Peers.model_validate_json(first.stdout)
    assert (peers.chunks, peers.tenants) == (100, 2)
    assert min(peers.dense_ms, peers.lexical_ms, peers.plain_ms, peers.ensemble_ms, peers.bytes_a_chunk) > 0
    assert CliRunner().invoke(app, ["--json", "--size", "100x2"]).stdout == first.stdout
    assert "allowed: CHUNKSxTENANTS" in CliRunner().invoke(app, ["--size", "many"]).output
