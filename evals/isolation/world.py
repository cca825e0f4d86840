"""A random world of tenants, groups, products and dates that changes while it is searched, and the oracle beside it."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from state.run import PUBLIC_TENANT, Access

TENANTS = ("acorn", "acorn-eu", "ACORN", "globe")
GROUPS = ("hr", "fin", "ops", "everyone", "group:hr", "*")
PRODUCTS = ("api", "app", "web")
START = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 40


@dataclass(frozen=True)
class Stored:
    """A document as it lies in the folder; `start` and `end` in days from START."""

    name: str
    tenant: str
    acl: tuple[str, ...]
    product: str
    start: int
    end: int | None
    word: str

    def may_be_read(self, access: Access) -> bool:
        """The rule, written a second time and in other words than the engine's."""
        day = (access.now - START) / timedelta(days=1)
        return (
            self.tenant in (access.tenant, PUBLIC_TENANT)
            and (self.acl == () or any(group in self.acl for group in access.groups or ()))
            and (self.product == "" or access.products == () or self.product in access.products)
            and self.start <= day
            and (self.end is None or day < self.end)
        )


@dataclass
class World:
    """The documents in a folder. Every change is written there; an ingest makes it so in the library."""

    folder: Path
    chance: random.Random
    stored: dict[str, Stored] = field(default_factory=dict)
    made: int = 0

    def grow(self, count: int) -> None:
        """Write new documents."""
        for _ in range(count):
            start = self.chance.randrange(0, 20)
            one = Stored(
                name=f"doc{self.made}",
                tenant=self.chance.choice([*TENANTS, PUBLIC_TENANT]),
                acl=self._acl(),
                product=self.chance.choice(["", *PRODUCTS]),
                start=start,
                end=self.chance.choice([None, start + self.chance.randrange(1, 20)]),
                word=_word(self.made),
            )
            self.made += 1
            self._write(one)

    def change(self, count: int) -> None:
        """Take access away, give it, move documents to another tenant, and delete some."""
        for name in self.chance.sample(sorted(self.stored), min(count, len(self.stored))):
            one = self.stored[name]
            what = self.chance.randrange(4)
            if what == 0:
                (self.folder / f"{name}.md").unlink()
                del self.stored[name]
            elif what == 1:
                self._write(Stored(**{**one.__dict__, "tenant": self.chance.choice(TENANTS)}))
            else:
                self._write(Stored(**{**one.__dict__, "acl": self._acl()}))

    def accesses(self) -> Iterator[Access]:
        """Callers without end: known and unknown tenants, few and many groups, any day."""
        while True:
            yield Access(
                tenant=self.chance.choice([*TENANTS, PUBLIC_TENANT, "nobody"]),
                groups=tuple(self.chance.sample([*GROUPS, "else"], self.chance.randrange(4))),
                products=tuple(self.chance.sample([*PRODUCTS, "other"], self.chance.randrange(3))),
                now=START + timedelta(hours=self.chance.randrange(DAYS * 24)),
            )

    def _acl(self) -> tuple[str, ...]:
        return tuple(sorted(self.chance.sample(GROUPS, self.chance.choice([0, 0, 1, 2]))))

    def _write(self, one: Stored) -> None:
        acl = ", ".join(f'"{group}"' for group in one.acl)
        lines = [f"id: {one.name}", "version: v1", f"tenant: {one.tenant}", f"acl: [{acl}]"]
        lines += [f'product: "{one.product}"', f"effective_from: {(START + timedelta(days=one.start)).date()}"]
        if one.end is not None:
            lines.append(f"effective_to: {(START + timedelta(days=one.end)).date()}")
        front = "\n".join(lines)
        (self.folder / f"{one.name}.md").write_text(f"---\n{front}\n---\n# Keys\n\nkeys {one.word}\n", "utf-8")
        self.stored[one.name] = one


def _word(number: int) -> str:
    """A word of letters only, so that no part of it is shared with another."""
    return "".join("abcdefghij"[int(digit)] for digit in f"{number:05}") + "zz"
