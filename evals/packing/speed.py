"""`python -m evals.packing.speed`: what choosing among many candidates takes, and how that grows with their number.

Two figures: choosing alone, and with reading, rendering and counting the candidates before it, which is what pack does.
The texts lie in a real store.
"""

import math
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from statistics import median
from typing import Annotated

import typer
from rich.console import Console

from graph.master_secret import master_secret
from graph.settings import Settings
from graph.stores.artifacts import SqlArtifacts
from graph.stores.engine import open_database
from graph.tokens import EncodingCounter
from nodes.pack.drafts import Drafts
from nodes.pack.scanning import Scans
from nodes.pack.utility import choose
from state.context import Kind, Trust
from state.knowledge import Candidate
from state.policy import UtilityWeights
from state.value import Value

SIZES = (100, 1_000, 10_000)
_TENANT = "bench"
_NOW = datetime(2026, 7, 15, tzinfo=UTC)
_BUDGET_TOKENS = 8_000
_LIMITS = {Kind.EVIDENCE: 5, Kind.MEMORY: 2}


class Took(Value):
    """Median milliseconds for so many candidates."""

    candidates: int
    choose_ms: float
    whole_ms: float


def measured(sizes: tuple[int, ...], runs: int, folder: Path) -> tuple[Took, ...]:
    """Choosing among each number of candidates, seeded: the same candidates on every machine."""
    settings = Settings.load(home=folder)
    settings.make_home()
    database = open_database(settings.database)
    try:
        artifacts = SqlArtifacts(database.everyday, master_secret(settings).keys("artifacts"))
        return tuple(_took(size, runs, artifacts) for size in sizes)
    finally:
        database.close()


def exponent(took: tuple[Took, ...], name: str = "choose_ms") -> float:
    """The power of the number of candidates with which the time grows between the first and the last size."""
    first, last = took[0], took[-1]
    return math.log(getattr(last, name) / getattr(first, name)) / math.log(last.candidates / first.candidates)


def _took(size: int, runs: int, artifacts: SqlArtifacts) -> Took:
    candidates = _candidates(size, artifacts)
    choosing, whole = [], []
    for _ in range(runs):
        # A new guard each time: nothing is remembered of the texts.
        scans = Scans()
        drafts = Drafts(artifacts, EncodingCounter("o200k_base"), _TENANT, _NOW)
        started = time.perf_counter()
        pairs = list(zip(candidates, drafts.candidates(candidates), strict=True))
        read = time.perf_counter()
        choose(pairs, UtilityWeights(), _BUDGET_TOKENS, _LIMITS, scans)
        ended = time.perf_counter()
        choosing.append(1000 * (ended - read))
        whole.append(1000 * (ended - started))
    return Took(candidates=size, choose_ms=median(choosing), whole_ms=median(whole))


def _candidates(size: int, artifacts: SqlArtifacts) -> list[Candidate]:
    random = Random(f"speed/{size}")
    words = [f"word{number}" for number in range(2_000)]
    texts = [" ".join(random.choices(words, k=80)) for _ in range(size)]
    refs = artifacts.put_all(_TENANT, texts)
    return [
        Candidate(
            item_id=f"c{number}",
            kind=Kind.EVIDENCE if number % 10 else Kind.MEMORY,
            source=f"doc/{number // 4}@v1#{number % 4}",
            trust=Trust.UNTRUSTED,
            ref=ref,
            retrieved_at=_NOW,
            tenant=_TENANT,
            scope="bench",
            relevance=random.random(),
            authority=random.random(),
        )
        for number, ref in enumerate(refs)
    ]


def main(runs: Annotated[int, typer.Option(min=1, help="How often each is measured.")] = 7) -> None:
    """Measure choosing among 100, 1,000 and 10,000 candidates."""
    with tempfile.TemporaryDirectory(prefix="expediente-packing-") as folder:
        took = measured(SIZES, runs, Path(folder))
    console = Console()
    for one in took:
        console.print(
            f"{one.candidates:6,} candidates: {one.choose_ms:8.2f} ms to choose, {one.whole_ms:8.2f} ms whole"
        )
    growths = ", ".join(f"{exponent(took, name):.2f} ({name[:-3]})" for name in ("choose_ms", "whole_ms"))
    console.print(f"growth exponent: {growths}")


if __name__ == "__main__":
    typer.run(main)
