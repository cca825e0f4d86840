"""`agent tune`: fit the ranking on labelled questions, say what each step gained, and write what pays."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option, Typer

from graph.cli.exits import WrongUse
from graph.cli.screen import Screen
from retrieval.ranking import RerankerName

if TYPE_CHECKING:
    from evals.retrieval_bench.tune import Tuned

app = Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def tune(
    labelled: Annotated[Path, Argument(metavar="LABELLED.jsonl", help="Questions, who asks, and what answers.")],
    reranker: Annotated[RerankerName, Option(help="The reranker to try; none leaves it out.")] = RerankerName.MAXSIM,
    write: Annotated[bool, Option("--write/--dry-run", help="Write what was found into the home.")] = True,
    json: Annotated[bool, Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Fit weights, cut-offs and reranker by cross-validation on the library as it stands.

    A step is kept only where its gain on questions it was not fitted on lies above 0. The file is read by every later
    start; delete it for the defaults.
    """
    screen = Screen(json)
    from evals.retrieval_bench.corpora import LabelledSet, asked_by
    from evals.retrieval_bench.labelled import LabelledWrong, read_labelled
    from evals.retrieval_bench.prepare import prepare
    from evals.retrieval_bench.tune import tune as fit
    from graph.app import open_app
    from graph.settings import Settings
    from retrieval.faults import RerankerUnavailable
    from retrieval.rerank import open_reranker

    settings = Settings.load(model="offline")
    try:
        questions = read_labelled(labelled)
        reader = open_reranker(reranker)
        with screen.waiting("Searching", "questions") as progress, open_app(settings) as app:
            asked = asked_by(app.ports.domain, questions, app.ports.clock.now())
            prepared = prepare(LabelledSet(labelled.name, app.library, asked), reader, progress)
        tuned = fit(prepared.questions, reranker)
    except (LabelledWrong, RerankerUnavailable, ValueError) as wrong:
        raise WrongUse(str(wrong)) from wrong
    if write:
        partial = settings.ranking_file.with_suffix(".part")
        partial.write_text(tuned.ranking.model_dump_json(indent=1) + "\n", "utf-8")
        partial.replace(settings.ranking_file)
    if screen.json_wanted:
        screen.text(tuned.model_dump_json(indent=1))
    else:
        _tell(screen, tuned, settings.ranking_file if write else None)


def _tell(screen: Screen, tuned: "Tuned", file: Path | None) -> None:
    from rich.table import Table

    table = Table(title=f"{tuned.questions} labelled questions, {tuned.folds} folds, measured on those held out")
    for name in ("step", "nDCG@10", "recall@10", "gain (95 %)", ""):
        table.add_column(name, justify="left" if name in ("step", "") else "right")
    for place, step in enumerate(tuned.steps):
        gain = step.gain_ndcg
        shown = f"{gain.mean:+.3f} ({gain.lower:+.3f} to {gain.upper:+.3f})" if place else ""
        verdict = "" if not place else "kept" if step.kept else "refused: it does not pay"
        table.add_row(step.name, f"{step.held_out.ndcg_10:.3f}", f"{step.held_out.recall_10:.3f}", shown, verdict)
    screen.out.print(table)
    changed = tuned.ranking.model_dump(mode="json", exclude_defaults=True)
    said = ", ".join(f"{name} {value}" for name, value in changed.items()) or "the defaults"
    screen.out.print(f"{said}{f'; written to {file}' if file else ''}", highlight=False)
