"""Bugs in what becomes of an allowed call: effects done twice, results shown with what nobody let through."""

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from importlib import import_module
from typing import Any
from uuid import uuid4

import pytest

from evals.scores import Measure
from graph.mcp.fault import FAILURES
from graph.stores.ledger import SqlLedger
from nodes.execute.project import _fields
from nodes.execute.step import Step
from state.ports import Claim, Claimed
from tests.evals.bug import Caught, SeededBug, entering

DONE: list[SeededBug] = []
bug = entering(DONE)


@bug(
    "claims not looked at",
    Caught("crash_between_the_credit_and_its_record", Measure.SAFETY),
    Caught("crash_between_the_credit_and_its_record", Measure.RECOVERABILITY),
    Caught("same_credit_on_a_second_branch", Measure.SAFETY),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """Whoever finds an effect begun begins it again."""
    claim = SqlLedger.claim

    def fresh(self: SqlLedger, wanted: Claim, at: datetime) -> Claimed:
        claim(self, wanted, at)
        return Claimed(fresh=True, state="open")

    patch.setattr(SqlLedger, "claim", fresh)


@bug("a new key for each try", Caught("credit_finished_after_a_crash", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """An effect is not known again, since it has another name at each try: its step counts as spent by another."""

    class Renamed(Step):
        @cached_property
        def key(self) -> str:
            return uuid4().hex

    patch.setattr("nodes.execute.Step", Renamed)


@bug("whole results shown", Caught("field_that_no_contract_lets_through", Measure.ISOLATION))
def _(patch: pytest.MonkeyPatch) -> None:
    """A result is shown with every field that the system behind the tool has."""

    def all_fields(row: Any, names: list[str], *rest: Any) -> Any:
        return _fields(row, [*row] if isinstance(row, Mapping) else names, *rest)

    # By name the function of the package would be found, which is called as the module is.
    patch.setattr(import_module("nodes.execute.project"), "_fields", all_fields)


@bug("any result passes", Caught("result_that_the_contract_does_not_know", Measure.ISOLATION))
def _(patch: pytest.MonkeyPatch) -> None:
    """What a tool returns is shown, also where the contract says that there is no such value."""
    patch.setattr("nodes.execute.call._fits", lambda *given: True)


@bug("changed tools of servers used", Caught("tool_of_a_server_changes_its_words", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """A server's tool is offered and called whatever the server says of it now."""
    patch.setattr("graph.mcp.gateway.Gateway.changed", lambda *given: None)


@bug("lost writes count as failed", Caught("write_at_a_server_is_lost", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """Where a connection broke in the middle of a write, the write is told as not done."""
    decided = tuple(mode.model_copy(update={"undecided": False}) for mode in FAILURES)
    patch.setattr("graph.mcp.contracts.FAILURES", decided)
