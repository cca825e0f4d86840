"""Runs a set of cases: in parallel, seeded, each on fresh stores; what an interruption leaves is gone on with."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from pydantic import ValidationError

from evals.ablations import ABLATIONS
from evals.case import CLOCK, Case
from evals.judging import ALL, BOUNDARIES, Judged, run_case
from evals.stage import FixedClock, named_model
from graph.domain_loading import load_domain
from graph.home_library import open_library
from graph.settings import Settings
from state.canonical import digest
from state.value import Value

# The attacker's model is not asked to do well, only to be held.
HIJACKED = "hijacked"
_PACKAGES = ("state", "retrieval", "nodes", "graph", "evals")
_SUFFIXES = (".py", ".md", ".sql", ".json")

OnResult = Callable[[int, int], None]


class Plan(Value):
    """What a suite runs with. `ablated` names the part that is taken out, if one is."""

    domain: str
    model: str
    seed: int = 0
    ablated: str = ""


class Result(Value):
    """One case's result, with its place in the order and whether its process had run a case before."""

    judged: Judged
    case_digest: str
    order: int
    warm: bool


class SuiteRun(Value):
    """The results of a suite, in the order of its cases. `engine` names the code that ran; `waiting` are the cases
    that need what is not built."""

    plan: Plan
    engine: str
    results: tuple[Result, ...]
    waiting: tuple[str, ...] = ()

    def of(self, case: str) -> Judged | None:
        """One case's result."""
        return next((result.judged for result in self.results if result.judged.case == case), None)


def run_suite(
    cases: Sequence[Case],
    plan: Plan,
    *,
    folder: Path,
    jobs: int = 0,
    on_result: OnResult | None = None,
) -> SuiteRun:
    """Run every case that can run. `folder` keeps the results of a run that was cut off, until it is gone on with.

    `jobs` processes run side by side (0: one per processor; 1: this process). Raises what run_case raises.
    """
    ready = [case for case in cases if not case.needs]
    engine = fingerprint(plan.domain)
    kept = _Kept(folder, plan, engine, ready)
    done = kept.results()
    order = [case for case in ready if case.name not in done]
    Random(plan.seed).shuffle(order)
    total = len(ready)
    if on_result:
        on_result(len(done), total)
    with prepared_library(plan.domain) as library:
        for result in _results(order, plan, library, jobs or os.cpu_count() or 1, len(done)):
            done[result.judged.case] = result
            kept.add(result)
            if on_result:
                on_result(len(done), total)
    kept.drop()
    return SuiteRun(
        plan=plan,
        engine=engine,
        results=tuple(done[case.name] for case in ready),
        waiting=tuple(f"{case.name}: {', '.join(case.needs)}" for case in cases if case.needs),
    )


@contextmanager
def prepared_library(domain: str) -> Iterator[Path]:
    """A library that holds a domain's corpus, for the cases to copy: cutting and embedding it once saves most time."""
    with TemporaryDirectory(prefix="evals-", ignore_cleanup_errors=True) as scratch:
        settings = Settings.load(home=Path(scratch) / "home", domain=domain, database_url=None)
        loaded = load_domain(domain, settings.make_home() / "domain", FixedClock(CLOCK))
        try:
            with open_library(settings) as library:
                library.ingest(loaded.corpus, datetime.now(UTC))
        finally:
            loaded.close()
        yield settings.home / "library"


def fingerprint(domain: str) -> str:
    """The name of the code that a run used: a result of other code is never taken for its own."""
    files = [file for package in (*_PACKAGES, domain) for root in _roots(package) for file in sorted(root.rglob("*"))]
    return digest([[file.name, digest(file.read_bytes())] for file in files if file.suffix in _SUFFIXES])[:16]


def _roots(package: str) -> list[Path]:
    spec = find_spec(package)
    return [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []


_ran_before = False


def _one(case: Case, plan: Plan, library: Path, order: int) -> Result:
    global _ran_before
    warm, _ran_before = _ran_before, True
    with TemporaryDirectory(prefix="evals-", ignore_cleanup_errors=True) as scratch:
        judged = run_case(
            case,
            Path(scratch) / "home",
            domain=plan.domain,
            make_model=named_model(plan.model),
            deciding=BOUNDARIES if plan.model == HIJACKED else ALL,
            seed=plan.seed,
            wirings=[ABLATIONS[plan.ablated]] if plan.ablated else (),
            library=library,
        )
    return Result(judged=judged, case_digest=digest(case), order=order, warm=warm)


def _results(order: Sequence[Case], plan: Plan, library: Path, jobs: int, start: int) -> Iterator[Result]:
    numbered = list(enumerate(order, start=start))
    if jobs == 1 or len(order) < 2:
        yield from (_one(case, plan, library, number) for number, case in numbered)
        return
    # Spawned, not forked: the embedder's threads do not survive a fork.
    with ProcessPoolExecutor(min(jobs, len(order)), mp_context=get_context("spawn")) as pool:
        running = [pool.submit(_one, case, plan, library, number) for number, case in numbered]
        try:
            for finished in as_completed(running):
                yield finished.result()
        finally:
            for each in running:
                each.cancel()


class _Kept:
    """The results of a run so far, one line each, under a name that fits this very run only."""

    def __init__(self, folder: Path, plan: Plan, engine: str, cases: Sequence[Case]) -> None:
        # Secrets are written as stars here: which ones are set counts, and what they are does not.
        settings = Settings.load().model_dump(mode="json", exclude={"home"})
        name = digest([plan.model_dump(mode="json"), settings, engine, [digest(case) for case in cases]])[:16]
        self._file = folder / f"unfinished-{name}.jsonl"

    def results(self) -> dict[str, Result]:
        """What an interrupted run left, by case; a line that was cut off is run again."""
        found: dict[str, Result] = {}
        if self._file.exists():
            for line in self._file.read_text(encoding="utf-8").splitlines():
                try:
                    result = Result.model_validate_json(line)
                except ValidationError:
                    continue
                found[result.judged.case] = result
        return found

    def add(self, result: Result) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a", encoding="utf-8") as out:
            out.write(result.model_dump_json() + "\n")

    def drop(self) -> None:
        self._file.unlink(missing_ok=True)
