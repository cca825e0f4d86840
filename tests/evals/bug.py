"""A bug of an engine, put in within this process, and the cases that have to notice it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import wraps
from typing import Any

import pytest

from evals.scores import Measure
from graph import rows
from graph.rows import make_nodes
from nodes.validate import rules
from nodes.validate.case import Case, Finding
from state.contract import ToolContract
from state.node import Node
from state.ports import Clock
from state.tools import Tool

PutIn = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Caught:
    """A case that fails with the bug, and a measure by which it does."""

    case: str
    measure: Measure
    model: str = "offline"


@dataclass(frozen=True)
class SeededBug:
    """One bug: what is wrong then, the cases that notice it, and how it is put in."""

    name: str
    breaks: str
    caught: tuple[Caught, ...]
    put_in: PutIn

    def by_case(self) -> dict[tuple[str, str], list[Measure]]:
        """The measures that notice it, by case and model."""
        found: dict[tuple[str, str], list[Measure]] = {}
        for caught in self.caught:
            found.setdefault((caught.case, caught.model), []).append(caught.measure)
        return found


def entering(table: list[SeededBug]) -> Callable[..., Callable[[PutIn], PutIn]]:
    """A decorator that enters a function into a table of bugs; its docstring says what the bug breaks."""

    def bug(name: str, *caught: Caught) -> Callable[[PutIn], PutIn]:
        def enter(put_in: PutIn) -> PutIn:
            table.append(SeededBug(name, " ".join((put_in.__doc__ or "").split()), caught, put_in))
            return put_in

        return enter

    return bug


def change_contracts(patch: pytest.MonkeyPatch, changed: Callable[[ToolContract], ToolContract]) -> None:
    """Hand other contracts to all nodes."""

    def made(settings: Any, ports: Any, pause: Any) -> Any:
        tools = tuple(Tool(changed(tool.contract), tool.run) for tool in ports.domain.tools)
        return make_nodes(settings, replace(ports, domain=replace(ports.domain, tools=tools)), pause)

    patch.setattr("graph.app.make_nodes", made)


def drop_rules(patch: pytest.MonkeyPatch, *names: str) -> None:
    """Take rules for calls out of the list."""
    assert set(names) <= {rule.__name__ for rule in rules.RULES}
    patch.setattr(rules, "RULES", tuple(rule for rule in rules.RULES if rule.__name__ not in names))


def change_rule(patch: pytest.MonkeyPatch, name: str, seen: Callable[[Case], Case]) -> None:
    """Let one rule look at another case than the one it judges."""
    assert name in {rule.__name__ for rule in rules.RULES}

    def changed(rule: Callable[[Case], Finding | None]) -> Callable[[Case], Finding | None]:
        return wraps(rule)(lambda case: rule(seen(case))) if rule.__name__ == name else rule

    patch.setattr(rules, "RULES", tuple(map(changed, rules.RULES)))


def standing_clock(patch: pytest.MonkeyPatch, make: str) -> None:
    """Give one node a clock that stands since the first app was opened: for it nothing ever ends."""
    made = getattr(rows, make)
    opened: list[datetime] = []

    class Standing:
        def now(self) -> datetime:
            return opened[0]

    def standing(*, clock: Clock, **ports: Any) -> Node:
        opened.append(clock.now())
        node: Node = made(clock=Standing(), **ports)
        return node

    patch.setattr(rows, make, standing)
