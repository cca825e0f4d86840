"""The support agent on a fresh database, and a way to act as one of its principals."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from domain import load
from state.domain import Domain
from state.run import Scope
from state.tools import ToolContext

NOW = datetime(2026, 7, 15, 9, 30, tzinfo=UTC)

Call = Callable[..., Any]
Rows = Callable[..., list[tuple[Any, ...]]]
ScopeOf = Callable[[str], Scope]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def support(folder: Path) -> Domain:
    return load(folder, NOW)


@pytest.fixture
def scope_of(support: Domain) -> ScopeOf:
    def scope(name: str) -> Scope:
        principal = support.principal(name)
        assert principal is not None
        return Scope(principal=principal, actor=principal, thread="thread-1")

    return scope


@pytest.fixture
def call(support: Domain, scope_of: ScopeOf) -> Call:
    """`call("ana@acme", "get_account", account_id=...)`; `effect` is the idempotency key."""
    tools = {tool.contract.name: tool for tool in support.tools}

    def run(name: str, tool: str, effect: str = "effect-1", now: datetime = NOW, **arguments: Any) -> Any:
        context = ToolContext(scope=scope_of(name), now=now, idempotency_key=effect)
        return tools[tool].run(context, **arguments)

    return run


@pytest.fixture
def rows(support: Domain, folder: Path) -> Rows:
    """The database as the operator sees it, past the guard that keeps key values inside."""

    def select(statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(folder / "support.sqlite")) as connection, connection:
            return connection.execute(statement, values).fetchall()

    return select
