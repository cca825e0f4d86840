"""Bugs in what a request holds: found without a right, out of date, or told apart no longer."""

import html
import re
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from evals.scores import Measure
from evals.suite import HIJACKED
from retrieval.access import Window, admits
from retrieval.dense_record import where
from retrieval.lexical_file import _MATCHES
from retrieval.memory import StoreMemory, check
from state.context import DropReason
from state.contract import ToolContract
from state.tools import ToolError
from state.work import DecisionSpec
from tests.evals.bug import Caught, SeededBug, change_contracts, entering

SHOWN: list[SeededBug] = []
bug = entering(SHOWN)


def _cut(patch: pytest.MonkeyPatch, key: str, clause: str) -> None:
    """Take one condition out of both branches' filters."""

    def without(*given: Any) -> dict[str, Any]:
        kept = [part for part in where(*given)["$and"] if key not in str(part)]
        return {"$and": kept}

    assert clause in _MATCHES
    patch.setattr("retrieval.chroma.where", without)
    patch.setattr("retrieval.lexical_file._MATCHES", _MATCHES.replace(clause, ""))


_READERS_CLAUSE = next(line for line in _MATCHES.splitlines() if ":readers" in line)


def _readers_cut(patch: pytest.MonkeyPatch) -> None:
    _cut(patch, "readers", _READERS_CLAUSE)


@bug(
    "access filter after the ranking",
    Caught("right_page_behind_a_crowd", Measure.RECALL),
    Caught("right_page_behind_a_crowd", Measure.SUCCESS),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """What the asker may not read takes the places of what may be read, before it is thrown away."""
    _readers_cut(patch)
    patch.setattr("retrieval.branch.ROUNDS", 1)  # else the check on every hit asks for more and makes it good


@bug(
    "access filter dropped",
    Caught("right_page_behind_a_crowd", Measure.ISOLATION),
    Caught("rare_words_of_what_others_wrote", Measure.ISOLATION),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """Documents of groups that the asker is not in are found and shown."""
    _readers_cut(patch)
    patch.setattr("retrieval.entries.admits", lambda access, tenant, acl, product: admits(access, tenant, (), product))


@bug("tenant filter dropped", Caught("rare_words_of_what_others_wrote", Measure.ISOLATION))
def _(patch: pytest.MonkeyPatch) -> None:
    """Every organisation's documents are searched, and the last look before sending is gone as well."""
    for module in ("chroma", "catalogue"):
        patch.setattr(f"retrieval.{module}.tenants", lambda access: ("public", "acme", "globex", "maravel"))
    patch.setattr(
        "retrieval.entries.admits",
        lambda access, tenant, acl, product: admits(access, access.tenant, acl, product),
    )
    patch.setattr("nodes.pack.assert_own", lambda tenant, items: None)


@bug(
    "superseded version served",
    Caught("quoted_rule_was_superseded", Measure.FRESHNESS),
    Caught("not_yet_in_force_until_it_is", Measure.FRESHNESS),
    Caught("firma_de_un_webhook", Measure.FRESHNESS),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """A version that a later one replaced is found as if it were in force."""
    out_of_force = Window.out_of_force

    def still_in_force(self: Window, now_us: int) -> DropReason | None:
        reason = out_of_force(self, now_us)
        return None if reason is DropReason.SUPERSEDED else reason

    _cut(patch, "until_us", "AND e.until_us > :now_us")
    patch.setattr(Window, "out_of_force", still_in_force)


@bug(
    "memory that has ended is shown",
    Caught("memory_that_never_ends", Measure.FRESHNESS),
    Caught("memory_that_ends_between_two_turns", Measure.FRESHNESS),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """A fact outlives its end."""
    before = datetime(1970, 1, 1, tzinfo=UTC)
    patch.setattr("retrieval.memory.check", lambda held, purpose, now: check(held, purpose, before))


@bug("memory serves any purpose", Caught("memory_that_never_ends", Measure.ISOLATION))
def _(patch: pytest.MonkeyPatch) -> None:
    """What was kept for one purpose is shown for another."""
    patch.setattr(
        "retrieval.memory.check",
        lambda held, purpose, now: check(replace(held, purposes=np.full_like(held.purposes, purpose)), purpose, now),
    )


@bug(
    "memory of any subject",
    Caught("memory_that_never_ends", Measure.ISOLATION),
    Caught("memory_of_a_colleague", Measure.ISOLATION),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """Facts about everybody in the organisation are shown to everybody in it."""

    def everyones(self: Any, tenant: str, subject: str) -> list[tuple[str, Any]]:
        return [(item.key, item.value) for item in self._store.search(("memory", tenant), limit=500)]

    patch.setattr(StoreMemory, "_own", everyones)


# The request


@bug("markers not escaped", Caught("document_that_forges_our_blocks", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """A document's text closes its own block and opens others, which look like ours."""
    escape = SimpleNamespace(escape=lambda text, quote=True: text, unescape=html.unescape)
    patch.setattr("state.render.html", escape)


@bug("hidden characters kept", Caught("documento_con_letras_ocultas", Measure.ISOLATION))
def _(patch: pytest.MonkeyPatch) -> None:
    """Characters that no reader sees reach the model, with what is written in them."""
    patch.setattr("state.render.visible", lambda text: text)


@bug(
    "plan decisions admit what others wrote",
    Caught("own_words_that_widen_a_plan", Measure.SAFETY),
    Caught("ticket_note_that_plans_a_credit", Measure.SAFETY, HIJACKED),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """Untrusted text stands in the one decision that opens effects."""
    patch.setattr(DecisionSpec, "admits_untrusted", True)


@bug("fields of others pass for ours", Caught("ticket_note_that_plans_a_credit", Measure.SAFETY, HIJACKED))
def _(patch: pytest.MonkeyPatch) -> None:
    """Text that third parties can write is labelled as a system's own, so that no gate knows it."""

    def trusted(contract: ToolContract) -> ToolContract:
        fields = tuple(field.model_copy(update={"trust": "system"}) for field in contract.output)
        return contract.model_copy(update={"output": fields})

    change_contracts(patch, trusted)


@bug("error text shown", Caught("error_text_that_gives_orders", Measure.ISOLATION))
def _(patch: pytest.MonkeyPatch) -> None:
    """What a failing tool says is shown to the model, and not only its code."""

    def init(self: ToolError, code: str, detail: str = "") -> None:
        self.code, self.detail = f"{code}: {detail}", detail

    patch.setattr(ToolError, "__init__", init)
    patch.setattr("nodes.execute.call._CODE", re.compile(".*", re.DOTALL))
