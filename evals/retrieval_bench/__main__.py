"""`python -m evals.retrieval_bench`: ranking quality per stage on each labelled set, and what ingesting costs."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from evals.retrieval_bench.corpora import LabelledSet, bank_set, domain_set
from evals.retrieval_bench.peers import Peers, peers
from evals.retrieval_bench.prepare import prepare
from evals.retrieval_bench.stages import Measured, measured
from evals.retrieval_bench.tune import Tuned, tune
from graph.clock import SystemClock
from graph.domain_loading import load_domain
from graph.settings import Settings
from retrieval.embed import MiniLM
from retrieval.ranking import RerankerName
from retrieval.rerank.maxsim import MaxSim
from state.value import Value


class Report(Value):
    """All that was measured in one run."""

    sets: tuple[Measured, ...]
    tuned: dict[str, Tuned]
    peers: Peers


def main(
    json: Annotated[bool, typer.Option(help="Print one JSON object.")] = False,
    data: Annotated[
        Path | None, typer.Option(envvar="EXPEDIENTE_DATA", help="The folder of measuring data; else the domain alone.")
    ] = None,
    chunks: Annotated[int, typer.Option(min=100, help="How many chunks the speed is measured at.")] = 10_000,
    tenants: Annotated[int, typer.Option(min=1, help="Over how many tenants they are spread.")] = 1,
) -> None:
    """Measure quality on the labelled sets, and speed and size beside plain peers, in one run."""
    console, told = Console(), Console(stderr=True)
    sets, tuned, reranker = [], {}, MaxSim()
    with TemporaryDirectory() as folder:
        for labelled in _sets(Path(folder), data):
            with labelled as one, told.status(f"{one.name}: {len(one.questions)} questions"):
                timed = prepare(one, reranker)
                sets.append(measured(one.name, timed))
                tuned[one.name] = tune(timed.questions, RerankerName.MAXSIM)
        with told.status(f"{chunks} chunks in {tenants} tenants"):
            beside = peers(Path(folder) / "peers", chunks, tenants)
    report = Report(sets=tuple(sets), tuned=tuned, peers=beside)
    if json:
        console.out(report.model_dump_json(), highlight=False)
        return
    for found in report.sets:
        console.print(_table(found, report.tuned[found.name]))
    console.print(report.peers.told(), highlight=False)


def _sets(folder: Path, data: Path | None) -> Iterator[AbstractContextManager[LabelledSet]]:
    settings = Settings.load()
    domain = load_domain(settings.domain, folder / "domain", SystemClock())
    file = domain.corpus.parent / "questions.jsonl"
    if file.exists():
        yield domain_set(domain, file, folder, MiniLM())
    if data is not None:
        yield bank_set(data, folder, MiniLM())


def _table(one: Measured, tuned: Tuned) -> Table:
    table = Table(
        title=f"{one.name}: {one.questions} questions, {one.searches:.0f} searches each, p50 {one.search_ms_p50:.0f} "
        f"ms, p95 {one.search_ms_p95:.0f} ms; MaxSim, warm, {one.rerank_ms_p50 or 0:.0f} ms more"
    )
    for name in ("stage", "nDCG@10", "recall@5", "@10", "@50", "MRR", "nDCG − better arm (95 %)"):
        table.add_column(name, justify="left" if name == "stage" else "right")
    for stage in one.stages:
        s, d = stage.scored, stage.against_better_arm
        numbers = (s.ndcg_10, s.recall_5, s.recall_10, s.recall_50, s.reciprocal_rank)
        table.add_row(stage.name, *(f"{n:.3f}" for n in numbers), f"{d.mean:+.3f} ({d.lower:+.3f} to {d.upper:+.3f})")
    kept = [step for step in tuned.steps if step.kept][-1]
    s = kept.held_out
    numbers = (s.ndcg_10, s.recall_5, s.recall_10, s.recall_50, s.reciprocal_rank)
    table.add_row(f"tuned, held out: {kept.name}", *(f"{n:.3f}" for n in numbers), "")
    return table


if __name__ == "__main__":
    typer.run(main)
