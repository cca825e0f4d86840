"""The iterative route on the whole graph (S5): a search that the model asks for, what it finds followed to what is in
force, and nothing looked for twice."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph.app import App, open_app
from graph.domain_loading import load_domain
from graph.models.adapter import ChatModelAdapter
from graph.models.inprocess import proposing
from graph.models.scripted import Scripted
from graph.result import RunResult
from state.domain import Domain
from state.work import DecisionKind, Route, Status
from tests.fakes import FakeClock
from tests.fakes_retrieval import WordEmbedder
from tests.graph.conftest import NOW, settings
from tests.retrieval.conftest import document

DESK = "tests.domains.library_desk"
QUESTION = "What does a damaged map cost?"
SEARCH = "atlas repair charges"
IN_FORCE = "desk/binding@v2#fees"


def desk_domain(home: Path, route: Route) -> Domain:
    """The library desk whose gathering takes a route, over three pages that lead to one another."""
    made = load_domain(DESK, home / "domain", FakeClock(NOW))
    pages = home / "pages"
    front: dict[str, Any] = {"tenant": "public"}
    document(pages, "map.md", "# Damaged map\n\nA damaged map is sent away. The reader pays.\n", id="desk/map", **front)
    repair = "# Atlas repair\n\nAtlas repair charges are set out in desk/binding@v1.\n"
    document(pages, "repair.md", repair, id="desk/repair", **front)
    old = {"id": "desk/binding", "effective_from": "2024-01-01", **front}
    document(pages, "binding1.md", "# Fees\n\nNine euros.\n", **old)
    new = {**old, "version": "v2", "effective_from": "2025-01-01"}
    document(pages, "binding2.md", "# Fees\n\nTwelve euros.\n", **new)
    # What is in force shares no word with question or search: it is found by its link, or not at all.
    specs = tuple(
        spec.model_copy(update={"route": route, "evidence_limit": 4, "min_citations": 0})
        if spec.kind is DecisionKind.GATHER
        else spec
        for spec in made.table.specs
    )
    return replace(made, corpus=pages, table=made.table.model_copy(update={"specs": specs}))


class Played:
    """The desk played by a script, with every search of the dense branch on record."""

    def __init__(self, home: Path, route: Route, *searches: str) -> None:
        lines = [proposing(("search", {"queries": [query]})) for query in searches]
        lines.append(proposing(("answer", {"text": "Twelve euros.", "citations": [], "next_steps": []})))
        self.app: App = open_app(
            settings(home, domain=DESK),
            clock=FakeClock(NOW),
            domain=desk_domain(home, route),
            model=ChatModelAdapter(Scripted(lines=lines), "scripted"),
            embedder=WordEmbedder(),
        )
        self.asked: list[str] = []
        search = self.app.ports.index.search

        def counted(query: str, access: Any, k: int) -> Any:
            self.asked.append(query)
            return search(query, access, k)

        self.app.ports.index.search = counted  # type: ignore[method-assign]  # a probe around the real index

    def result(self) -> RunResult:
        """The whole turn."""
        return self.app.ask(QUESTION, as_="maya@northside")


@pytest.fixture
def played(tmp_path: Path) -> Iterator[Any]:
    made: list[Played] = []

    def play(route: Route, *searches: str) -> Played:
        made.append(Played(tmp_path, route, *searches))
        return made[-1]

    yield play
    for one in made:
        one.app.close()


def evidence(result: RunResult) -> list[set[str]]:
    """The sources that each lap's request showed."""
    shown = []
    for decision in result.decisions:
        assert decision.manifest is not None
        shown.append({item.source for item in decision.manifest.items if item.source.startswith("desk/")})
    return shown


def test_a_search_leads_to_what_its_page_names_in_the_version_in_force(played: Any) -> None:
    result = played(Route.ITERATIVE, SEARCH).result()
    assert result.status is Status.ANSWERED
    before, after = evidence(result)
    assert IN_FORCE not in before
    assert {"desk/repair@v1#atlas-repair", IN_FORCE} <= after
    assert not any(source.startswith("desk/binding@v1") for source in after)


def test_the_single_route_finds_the_page_and_follows_nothing(played: Any) -> None:
    _, after = evidence(played(Route.SINGLE, SEARCH).result())
    assert "desk/repair@v1#atlas-repair" in after
    assert IN_FORCE not in after


def test_nothing_is_looked_for_twice(played: Any) -> None:
    """The question is not searched again beside the new search, nor is the same search when it is proposed again."""
    desk = played(Route.ITERATIVE, SEARCH, SEARCH)
    result = desk.result()
    assert result.status is Status.ANSWERED
    assert sorted(query for query in desk.asked if query in (QUESTION, SEARCH)) == sorted([QUESTION, SEARCH])
    _, second, third = evidence(result)
    assert second == third
