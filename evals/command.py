"""`agent eval`: run the cases, see the measures, compare with a baseline or with a part taken out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option, Typer

from graph.cli.exits import FAILED, OK, WrongUse
from graph.cli.screen import Screen

if TYPE_CHECKING:
    from evals.case import Case
    from evals.compare import Stored
    from evals.suite import Plan, SuiteRun
    from evals.summary import Summary

app = Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(name="eval")
def run(
    path: Annotated[Path | None, Argument(help="A case file or a folder of them; else the domain's cases.")] = None,
    model: Annotated[str | None, Option(metavar="MODEL", help="Else EXPEDIENTE_MODEL.")] = None,
    ablate: Annotated[
        str, Option(metavar="A,B", help="Also run without each of these parts, and compare in pairs.")
    ] = "",
    baseline: Annotated[Path | None, Option(metavar="F", help="Compare with what --json printed before.")] = None,
    json: Annotated[bool, Option("--json", help="Print one JSON object and nothing else.")] = False,
    junit: Annotated[Path | None, Option(metavar="F", help="Write JUnit XML.")] = None,
    html: Annotated[Path | None, Option(metavar="F", help="Write one HTML page with plots.")] = None,
    seed: Annotated[int, Option(help="Of the order, the ids and the secret.")] = 0,
    jobs: Annotated[int, Option(min=0, help="Processes side by side; 0: one per processor.")] = 0,
    max_inconclusive: Annotated[
        float, Option(min=0, max=1, help="The share of cases that may show nothing before the suite fails.")
    ] = 0.1,
) -> None:
    """Run cases on fresh stores and judge them by manifests, records, effects and the state of the world.

    Exit 0 all held; 1 a case fails, or too many are inconclusive. With a baseline only what is lost against it counts
    as failing. What is interrupted goes on where it stopped when the same command is given again.
    """
    screen = Screen(json)
    from evals.ablations import ABLATIONS
    from evals.compare import BaselineWrong, Stored, compare, read_baseline
    from evals.dressing import StageWrong
    from evals.loading import CasesWrong, load_cases
    from evals.suite import Plan
    from graph.models.registry import MODELS
    from graph.settings import Settings

    settings = Settings.load()
    parts = [part for part in ablate.split(",") if part]
    if unknown := sorted(set(parts) - ABLATIONS.keys()):
        raise WrongUse(f"got --ablate {','.join(unknown)}; allowed: {', '.join(ABLATIONS)}")
    if model is not None and model not in MODELS:
        raise WrongUse(f"got --model {model!r}; allowed: {', '.join(MODELS)}")
    plan = Plan(domain=settings.domain, model=model or settings.model, seed=seed)
    try:
        before = read_baseline(baseline) if baseline else None
        cases = load_cases(path or _cases_of(settings.domain))
        folder = settings.home / "evals"
        run = _watched(screen, cases, plan, folder, jobs)
        without = [_watched(screen, cases, plan.model_copy(update={"ablated": part}), folder, jobs) for part in parts]
        stored = Stored(
            run=run,
            ablations=tuple((other, compare(run, other)) for other in without),
            against_baseline=compare(before, run) if before else None,
        )
    except (BaselineWrong, CasesWrong, StageWrong) as wrong:
        raise WrongUse(str(wrong)) from wrong
    raise Exit(_told(screen, stored, junit, html, max_inconclusive))


def _cases_of(domain: str) -> Path:
    import sys
    from importlib.util import find_spec

    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))  # as for the domain itself: what is not installed lies where one started
    try:
        spec = find_spec(domain)
    except ModuleNotFoundError:
        spec = None
    folder = Path(spec.origin).parent / "cases" if spec and spec.origin else None
    if folder is None or not folder.is_dir():
        raise WrongUse(f"the domain {domain!r} has no folder `cases`; give a path with cases")
    return folder


def _watched(screen: Screen, cases: "tuple[Case, ...]", plan: "Plan", folder: Path, jobs: int) -> "SuiteRun":
    from evals.suite import run_suite

    name = f"Without {plan.ablated}" if plan.ablated else "Running"
    with screen.waiting(name, "cases") as progress:
        return run_suite(cases, plan, folder=folder, jobs=jobs, on_result=progress)


def _told(screen: Screen, stored: "Stored", junit: Path | None, html: Path | None, most_inconclusive: float) -> int:
    """Print and write the results. Gives the exit code."""
    from evals.report.junit import junit as as_junit
    from evals.report.page import page
    from evals.report.table import show, show_comparison
    from evals.summary import summarise

    summary = summarise(stored.run, most_inconclusive)
    titled = [(f"without {other.plan.ablated}", comparison) for other, comparison in stored.ablations]
    if stored.against_baseline is not None:
        titled.append(("against the baseline", stored.against_baseline))
    if junit is not None:
        junit.write_text(as_junit(stored.run), encoding="utf-8")
    if html is not None:
        html.write_text(page(stored.run, summary, titled), encoding="utf-8")
    if screen.json_wanted:
        screen.text(stored.model_copy(update={"rules": summary.rules}).model_dump_json(indent=1))
    else:
        show(screen.out, stored.run.plan, summary, stored.run.waiting)
        for title, comparison in titled:
            show_comparison(screen.out, title, comparison)
    told = _failing(stored, summary)
    if told and not screen.json_wanted:
        screen.error(told)
    return FAILED if told else OK


def _failing(stored: "Stored", summary: "Summary") -> str:
    """Why the suite fails. Against a baseline a case that failed before is no news."""
    if stored.against_baseline is None or summary.too_blind:
        return summary.shortfall
    lost = stored.against_baseline.lost
    return f"lost against the baseline: {', '.join(lost)}" if lost else ""
