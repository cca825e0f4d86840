"""`python -m evals.retrieval_bench`: quality per stage on each labelled set, then speed and size beside plain peers."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, TypeVar

import typer
from rich.console import Console
from rich.table import Table

from evals.retrieval_bench.corpora import LabelledSet, bank_set, domain_set
from evals.retrieval_bench.peers import Peers, peers
from evals.retrieval_bench.prepare import prepare
from evals.retrieval_bench.quality import Scored
from evals.retrieval_bench.results import Results
from evals.retrieval_bench.stages import Measured, measured
from evals.retrieval_bench.tune import Tuned, tune
from graph.clock import SystemClock
from graph.domain_loading import load_domain
from graph.settings import Settings
from retrieval.embedders import EmbedderName, open_embedder
from retrieval.ranking import RerankerName
from retrieval.rerank.maxsim import MaxSim
from state.search import Embedder
from state.value import Value

V = TypeVar("V", bound=Value)

SIZES = ["10000x1", "10000x1000", "100000x1"]


class SetMeasured(Value):
    """A labelled set: its stages as they stand, and the ranking that fitting finds."""

    stages: Measured
    tuned: Tuned


def main(
    json: Annotated[bool, typer.Option(help="Print a JSON object for each part.")] = False,
    data: Annotated[
        Path | None, typer.Option(envvar="EXPEDIENTE_DATA", help="The folder of measuring data; else the domain alone.")
    ] = None,
    embedder: Annotated[EmbedderName, typer.Option(help="Who embeds the labelled sets.")] = EmbedderName.MINILM,
    size: Annotated[
        list[str] | None, typer.Option(help="CHUNKSxTENANTS to measure speed at, again for more; 0 for none.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where results are appended; what it holds is not measured again.")
    ] = None,
) -> None:
    """Measure part by part; what was broken off goes on where it ended. Delete the file to measure anew."""
    settings, console = Settings.load(), Console()
    results = Results(out or settings.home / "bench-retrieval.jsonl")
    with TemporaryDirectory() as folder:
        made = open_embedder(embedder, model=None, dimension=None, base_url=None, api_key="")
        for name, opened in _sets(settings, Path(folder), data, made):
            found = _once(results, f"{name}, {embedder.value}", SetMeasured, partial(_measure, opened))
            if json:
                console.out(found.model_dump_json(), highlight=False)
            else:
                _tell(console, found, made.name)
        for chunks, tenants in _sizes(size if size is not None else SIZES):
            part = f"{chunks} chunks, {tenants} tenants"
            beside = _once(results, part, Peers, partial(peers, Path(folder) / part, chunks, tenants))
            console.out(beside.model_dump_json() if json else beside.told(), highlight=False)


def _once(results: Results, part: str, kind: type[V], measure: Callable[[], V]) -> V:
    held = results.held(part, kind)
    if held is None:
        with Console(stderr=True).status(part):
            held = measure()
        results.add(part, held)
    return held


def _measure(opened: Callable[[], AbstractContextManager[LabelledSet]]) -> SetMeasured:
    with opened() as labelled:
        timed = prepare(labelled, MaxSim())
        return SetMeasured(stages=measured(labelled, timed), tuned=tune(timed.questions, RerankerName.MAXSIM))


def _sizes(given: list[str]) -> Iterator[tuple[int, int]]:
    for one in given:
        chunks, _, tenants = one.partition("x")
        if not chunks.isdigit() or not (tenants or "1").isdigit():
            raise typer.BadParameter(f"got {one!r}; allowed: CHUNKSxTENANTS, as in 10000x1; 0 for none")
        if int(chunks):
            yield int(chunks), int(tenants or "1")


def _sets(
    settings: Settings, folder: Path, data: Path | None, embedder: Embedder
) -> Iterator[tuple[str, Callable[[], AbstractContextManager[LabelledSet]]]]:
    domain = load_domain(settings.domain, folder / "domain", SystemClock())
    file = domain.corpus.parent / "questions.jsonl"
    if file.exists():
        yield "domain", partial(domain_set, domain, file, folder, embedder)
    if data is not None:
        yield "bank_knowledge", partial(bank_set, data, folder, embedder)


def _tell(console: Console, found: SetMeasured, embedder: str) -> None:
    """A table that eighty columns hold, and below it what is told apart by its interval."""
    one, languages = found.stages, list(found.stages.stages[0].ndcg_10_by_language)
    table = Table(box=None, padding=(0, 1, 0, 0))
    for name in ("", "nDCG@10", *(languages if len(languages) > 1 else ()), "R@5", "R@10", "R@50", "MRR", "p50", "p95"):
        table.add_column(name, justify="right" if name else "left")
    for stage in one.stages:
        by_language = [stage.ndcg_10_by_language[name] for name in languages] if len(languages) > 1 else []
        cells = _cells(stage.scored, by_language)
        table.add_row(stage.name, *cells, f"{stage.ms_p50:.0f}", f"{stage.ms_p95:.0f}")
    kept = [step for step in found.tuned.steps if step.kept][-1]
    table.add_row("tuned, held out", *_cells(kept.held_out, [None] * (len(languages) if len(languages) > 1 else 0)))
    speed = f"; {one.ingest_chunks_per_s:.0f} chunks/s read in" if one.ingest_chunks_per_s else ""
    console.out(
        f"\n{one.name}, {embedder}: {one.questions} questions, {one.searches:.0f} searches each{speed}; ms of one"
    )
    console.print(table)
    for stage in one.stages:
        d = stage.against_better_arm
        apart = f"{d.mean:+.3f} (95 % {d.lower:+.3f} to {d.upper:+.3f})"
        console.out(f"  {stage.name}: nDCG@10 {apart} beside the better of keywords and vectors", highlight=False)
    console.out(f"  tuned: {kept.name}", highlight=False)


def _cells(scored: Scored, by_language: Sequence[float | None]) -> list[str]:
    s = scored
    numbers = (s.ndcg_10, *by_language, s.recall_5, s.recall_10, s.recall_50, s.reciprocal_rank)
    return ["" if number is None else f"{number:.3f}" for number in numbers]


if __name__ == "__main__":
    typer.run(main)
