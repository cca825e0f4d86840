"""`python -m evals.isolation.memory`: whoever asks for whatever purpose at whatever time, no memory loads that may not.

Beside the store stands the rule, written a second time and in other words than the engine's; between the loads records
are written, replaced and deleted, by this process and by another one's store.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console

from graph.savers import sqlite_store
from retrieval.memory import StoreMemory
from state.memory import MemoryRecord, MemorySource
from state.memory_ports import Recalled
from state.run import Principal, Scope
from state.value import Value

TENANTS = ("acorn", "acorn-eu", "ACORN", "globe", "a.b", "a%2Eb")
SUBJECTS = ("u1", "u10", "U1", "u1.x", "ana@acorn", "A-1")
PURPOSES = ("support", "billing", "support ")
TOPICS = ("", "", "contact", "window")
START = datetime(2026, 1, 1, tzinfo=UTC)
HOURS = 240
PLACES = 20  # records that one recall lets in at most, of each kind


class MemoryTrial(Value):
    """What was tried and found. `foreign` counts records of others that were loaded, listed or counted, `wrong` loads
    that differ from the rule in anything else: both must be 0. `let_in` and `left_out` say that there was something to
    be wrong about."""

    seed: int
    loads: int
    let_in: int
    left_out: int
    foreign: int
    wrong: int


@dataclass
class World:
    """The records as they were written, by place and id."""

    chance: random.Random
    held: dict[tuple[str, str, str], MemoryRecord] = field(default_factory=dict)
    made: int = 0

    def change(self, stores: tuple[StoreMemory, ...]) -> None:
        """Write a record, replace one, or delete one, through one of the stores."""
        store, what = self.chance.choice(stores), self.chance.random()
        if what < 0.15 and self.held:
            place = self.chance.choice(sorted(self.held))
            store.remove(*place[:2], [place[2]])
            del self.held[place]
        elif what < 0.25 and self.held:
            place = self.chance.choice(sorted(self.held))
            self._write(store, self.held[place].model_copy(update={"superseded_by": "another"}))
        else:
            self._write(store, self._fresh())

    def may_load(self, scope: Scope, purpose: str, now: datetime) -> set[str]:
        """The ids that may be loaded, where no limit stands in the way."""
        found: set[str] = set()
        for subject in scope.principal.subjects:
            own = [
                one
                for one in self.held.values()
                if one.subject == subject
                and one.tenant == scope.tenant
                and one.purpose == purpose
                and one.expires_at > now
                and (one.review_at is None or one.review_at > now)
                and one.superseded_by is None
                and one.source != "unknown"
                and one.source_ref
            ]
            found |= {one.memory_id for one in own if not one.about}
            for topic in TOPICS:
                of_topic = [one for one in own if topic and one.about == topic]
                ranks = {"model_inferred": 0, "user_stated": 1, "system_record": 2}
                best = max(of_topic, key=lambda one: (ranks[one.source], one.created_at, _after(one)), default=None)
                found |= {best.memory_id} if best else set()
        return found

    def _write(self, store: StoreMemory, record: MemoryRecord) -> None:
        store.add(record)
        self.held[record.tenant, record.subject, record.memory_id] = record

    def _fresh(self) -> MemoryRecord:
        self.made += 1
        hours = self.chance.randrange(HOURS)
        return MemoryRecord(
            memory_id=f"m{self.made:06}",
            subject=self.chance.choice(SUBJECTS),
            tenant=self.chance.choice(TENANTS),
            purpose=self.chance.choice(PURPOSES),
            text=f"word{self.made % 7} of number {self.made}",
            source=self.chance.choice([*MemorySource]),
            source_ref=self.chance.choice(["db://1", "db://2", "db://3", ""]),
            basis="contract",
            created_at=START + timedelta(hours=self.chance.randrange(3)),
            expires_at=START + timedelta(hours=hours),
            review_at=self.chance.choice([None, None, START + timedelta(hours=self.chance.randrange(HOURS))]),
            about=self.chance.choice(TOPICS),
        )


def _after(one: MemoryRecord) -> tuple[int, ...]:
    """Of two of one moment the smaller id stands."""
    return tuple(-ord(sign) for sign in one.memory_id)


def scopes(chance: random.Random) -> Iterator[Scope]:
    """Askers without end: known and unknown tenants and subjects, of one, several or none."""
    while True:
        tenant = chance.choice([*TENANTS, "nobody"])
        subjects = tuple(chance.choices([*SUBJECTS, "else"], k=chance.randrange(4)))
        who = Principal(name="asker", tenant=tenant, roles=(), subjects=subjects)
        yield Scope(principal=who, actor=who, thread="T")


def trial(folder: Path, *, loads: int, seed: int = 0) -> MemoryTrial:
    """Load so often, with a change of the world before every fourth load."""
    chance = random.Random(seed)
    world, askers = World(chance), scopes(chance)
    tally = {"let_in": 0, "left_out": 0, "foreign": 0, "wrong": 0}
    with sqlite_store(folder / "memory.db") as one, sqlite_store(folder / "memory.db") as other:
        stores = (StoreMemory(one), StoreMemory(other))
        for _ in range(600):
            world.change(stores)
        for number in range(loads):
            if number % 4 == 0:
                world.change(stores)
            scope, purpose = next(askers), chance.choice([*PURPOSES, "none", ""])
            now = START + timedelta(hours=chance.randrange(-1, HOURS + 1), seconds=chance.choice([-1, 0, 1]))
            recalled = chance.choice(stores).recall(scope, purpose, now, f"word{number % 7}")
            _judge(world, scope, recalled, world.may_load(scope, purpose, now), tally)
    return MemoryTrial(seed=seed, loads=loads, **tally)


def _judge(world: World, scope: Scope, recalled: Recalled, may: set[str], tally: dict[str, int]) -> None:
    own = {
        one.memory_id
        for one in world.held.values()
        if one.tenant == scope.tenant and one.subject in scope.principal.subjects
    }
    facts, guesses = ({one.memory_id for one in kind} for kind in (recalled.facts, recalled.hypotheses))
    let_in = facts | guesses
    left_out = sum(recalled.excluded_by_reason.values())
    listed = {name for name, _ in recalled.excluded}
    tally["let_in"] += len(let_in)
    tally["left_out"] += left_out
    tally["foreign"] += len((let_in | listed) - own) + max(0, left_out + len(let_in) - len(own))
    sources = {one.memory_id: one.source for one in world.held.values()}
    inferred = {name for name in may if sources[name] is MemorySource.MODEL_INFERRED}
    right = [
        let_in <= may,
        len(facts) == min(PLACES, len(may - inferred)),
        len(guesses) == min(PLACES, len(inferred)),
        guesses <= inferred and not facts & inferred,
        left_out == len(own) - len(let_in),
        not listed & let_in,
    ]
    tally["wrong"] += not all(right)


def main(
    loads: Annotated[int, typer.Option(min=1, help="How many.")] = 20_000,
    seed: Annotated[int, typer.Option(help="Of the world and the loads.")] = 0,
) -> None:
    """Exit 1 where anything foreign was loaded, or anything else differed from the rule."""
    with TemporaryDirectory() as folder:
        found = trial(Path(folder), loads=loads, seed=seed)
    Console().out(found.model_dump_json(), highlight=False)
    raise typer.Exit(1 if found.foreign or found.wrong else 0)


if __name__ == "__main__":
    typer.run(main)
