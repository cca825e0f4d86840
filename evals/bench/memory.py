"""`python -m evals.bench.memory`: loading from ten thousand memories of one subject, beside the store's plain read.

Loads are measured as a run makes them: most find what was read before, and after every tenth another process has
written, so that all is read again.
"""

import random
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console

from graph.savers import sqlite_store
from retrieval.memory import StoreMemory, namespace
from state.memory import MemoryRecord, MemorySource
from state.run import Principal, Scope
from state.value import Value

AIM_MS = 30.0
NOW = datetime(2026, 7, 15, tzinfo=UTC)
WHO = Principal(name="u1", tenant="t1", roles=(), subjects=("u1",))
SCOPE = Scope(principal=WHO, actor=WHO, thread="T")


class Loads(Value):
    """Milliseconds of a load, where nothing was written since the last and where something was; of reading the same
    records plainly from the store; and how much processor time a load took."""

    memories: int
    loads: int
    p50_ms: float
    p95_ms: float
    cpu_p95_ms: float
    after_a_write_p50_ms: float
    plain_read_p50_ms: float

    @property
    def ratio(self) -> float:
        """How much of a plain read a load takes."""
        return self.p95_ms / self.plain_read_p50_ms


def measured(folder: Path, *, memories: int, loads: int, seed: int = 0) -> Loads:
    """Measure on SQLite, as it is set up for an app."""
    chance = random.Random(seed)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(3_000)]
    with sqlite_store(folder / "memory.db") as store, sqlite_store(folder / "memory.db") as other:
        memory, elsewhere = StoreMemory(store), StoreMemory(other)
        records = [_record(number, chance, words) for number in range(memories)]
        for start in range(0, memories, 1_000):
            memory.add(*records[start : start + 1_000])
        memory.recall(SCOPE, "support", NOW)
        warm: list[float] = []
        cpu: list[float] = []
        cold: list[float] = []
        plain: list[float] = []
        for number in range(loads):
            asked = " ".join(chance.choices(words, k=12))
            written = number % 10 == 9
            if written:
                elsewhere.add(records[number])
            began, computed = time.perf_counter(), time.process_time()
            memory.recall(SCOPE, "support", NOW, asked)
            took = (time.perf_counter() - began) * 1000
            (cold if written else warm).append(took)
            if not written:
                cpu.append((time.process_time() - computed) * 1000)
            if number % 20 == 0:
                began = time.perf_counter()
                store.search(namespace("t1", "u1"), limit=memories)
                plain.append((time.perf_counter() - began) * 1000)
    return Loads(
        memories=memories,
        loads=loads,
        p50_ms=median(warm),
        p95_ms=quantiles(warm, n=20)[-1],
        cpu_p95_ms=quantiles(cpu, n=20)[-1],
        after_a_write_p50_ms=median(cold),
        plain_read_p50_ms=median(plain),
    )


def _record(number: int, chance: random.Random, words: list[str]) -> MemoryRecord:
    return MemoryRecord(
        memory_id=f"m{number:06}",
        subject="u1",
        tenant="t1",
        purpose=chance.choice(["support", "support", "billing"]),
        text=" ".join(chance.choices(words, k=10)),
        source=chance.choice([*MemorySource]),
        source_ref="db://1",
        basis="contract",
        created_at=NOW - timedelta(days=chance.random() * 30),
        expires_at=NOW + timedelta(days=chance.random() * 40 - 5),
        about=chance.choice(["", f"topic_{number}"]),
    )


def main(
    memories: Annotated[int, typer.Option(min=100, help="How many the subject has.")] = 10_000,
    loads: Annotated[int, typer.Option(min=40, help="How many.")] = 400,
) -> None:
    """Print the measurement; exit 1 where a load takes longer than the aim."""
    with TemporaryDirectory() as folder:
        found = measured(Path(folder), memories=memories, loads=loads)
    Console().print(
        f"{found.memories:,} memories: a load {found.p50_ms:.1f} ms, p95 {found.p95_ms:.1f} (aim {AIM_MS:g}; processor "
        f"{found.cpu_p95_ms:.1f}), after another process wrote {found.after_a_write_p50_ms:.0f}; the store's plain "
        f"read {found.plain_read_p50_ms:.0f}, ratio {found.ratio:.3f}",
        highlight=False,
    )
    raise typer.Exit(1 if found.p95_ms > AIM_MS else 0)


if __name__ == "__main__":
    typer.run(main)
