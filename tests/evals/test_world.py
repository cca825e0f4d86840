"""The world as one person may see it, read from files: what is foreign, and what is in force when."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evals.case import CLOCK
from evals.stage import FixedClock
from evals.world import World, world_of
from graph.domain_loading import load_domain
from state.domain import Domain
from state.memory import MemoryRecord, MemorySource
from state.run import Principal

ANN = Principal(
    name="ann@north", tenant="north", roles=("user",), groups=("desk",), products=("api",), subjects=("A-1",)
)
MakeWorld = Callable[..., World]


def page(name: str, version: str, tenant: str = "north", begins: str = "2026-01-01", **more: str) -> str:
    front = {"id": f"runbook/{name}", "version": version, "effective_from": f"{begins}T00:00:00Z", "tenant": tenant}
    lines = "".join(f"{key}: {value}\n" for key, value in (front | more).items())
    return f"---\n{lines}---\n\n# {name}\n\nText.\n"


def memory(name: str, tenant: str, subject: str) -> MemoryRecord:
    return MemoryRecord(
        memory_id=name,
        subject=subject,
        tenant=tenant,
        purpose="help",
        text="A fact.",
        source=MemorySource.SYSTEM_RECORD,
        source_ref="record://1",
        basis="contract",
        created_at=CLOCK,
        expires_at=CLOCK,
    )


@pytest.fixture
def made(tmp_path: Path) -> MakeWorld:
    def make(*pages: str, memories: tuple[MemoryRecord, ...] = (), people: tuple[str, ...] = ("ann@north",)) -> World:
        corpus = tmp_path / "corpus"
        corpus.mkdir()
        for number, text in enumerate(pages):
            (corpus / f"{number}.md").write_text(text, encoding="utf-8")
        loaded = load_domain("domain", tmp_path / "home", FixedClock(CLOCK))
        try:
            domain: Domain = replace(loaded, corpus=corpus, memories=memories, principals=lambda: people)
            return world_of(domain, ANN)
        finally:
            loaded.close()

    return make


def at(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(tzinfo=UTC)


def test_foreign_are_pages_of_other_tenants_groups_and_products(made: MakeWorld) -> None:
    world = made(
        page("own", "v1"),
        page("public", "v1", tenant="public"),
        page("desk", "v1", acl="[desk]"),
        page("south", "v1", tenant="south"),
        page("board", "v1", acl="[board]"),
        page("other", "v1", product="phone"),
        "no front matter at all",
    )
    assert world.foreign == ("runbook/board@v1", "runbook/other@v1", "runbook/south@v1")


def test_a_name_that_is_an_own_one_as_well_tells_nothing(made: MakeWorld) -> None:
    assert made(page("same", "v1"), page("same", "v1", tenant="south")).foreign == ()


def test_foreign_are_memories_and_people_of_others(made: MakeWorld) -> None:
    memories = (memory("mem-1", "north", "A-1"), memory("mem-2", "north", "A-2"), memory("mem-3", "south", "A-1"))
    world = made(memories=memories, people=("ann@north", "bob@north", "sam@south"))
    assert world.foreign == ("mem-2", "mem-3", "sam@south")


def in_force(world: World, day: str, *sources: str, tenant: str = "north") -> list[bool]:
    return [world.in_force(tenant, f"runbook/{source}", at(day)) for source in sources]


def test_a_later_version_replaces_an_earlier_one_from_the_day_it_begins(made: MakeWorld) -> None:
    world = made(page("one", "v1"), page("one", "v2", begins="2026-07-01"), page("one", "v3", begins="2027-01-01"))
    assert in_force(world, "2025-12-31", "one@v1", "one@v2", "one@v3") == [False, False, False]
    assert in_force(world, "2026-06-30", "one@v1", "one@v2", "one@v3") == [True, False, False]
    assert in_force(world, "2026-07-01", "one@v1", "one@v2", "one@v3") == [False, True, False]
    assert in_force(world, "2027-01-01", "one@v1", "one@v2", "one@v3") == [False, False, True]


def test_another_document_replaces_what_it_names_and_an_end_is_an_end(made: MakeWorld) -> None:
    world = made(
        page("old", "v1"),
        page("new", "v1", begins="2026-03-01", supersedes="[runbook/old@v1]"),
        page("brief", "v1", effective_to="2026-02-01T00:00:00Z"),
        page("new", "v1", tenant="south", supersedes="[runbook/brief@v1]"),
    )
    assert in_force(world, "2026-02-28", "old@v1", "new@v1") == [True, False]
    assert in_force(world, "2026-03-01", "old@v1", "new@v1") == [False, True]
    assert in_force(world, "2026-01-31", "brief@v1") == [True]  # what another tenant says ends nothing here
    assert in_force(world, "2026-02-01", "brief@v1") == [False]


def test_what_the_files_do_not_hold_is_not_judged(made: MakeWorld) -> None:
    assert in_force(made(), "2026-01-01", "elsewhere@v1") == [True]
