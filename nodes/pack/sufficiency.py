"""Is the working set enough to decide (B6)? Asked before the call."""

from collections.abc import Sequence

from state.context import ContextItem, Kind
from state.run import PUBLIC_TENANT
from state.work import Decision


def missing(decision: Decision, items: Sequence[ContextItem]) -> tuple[str, ...]:
    """What the request lacks for its decision; empty when it is sufficient."""
    lacks = []
    if not any(item.item_id == "objective" for item in items):
        lacks.append("objective")
    citable = [item for item in items if item.kind is Kind.EVIDENCE or item.source.startswith("toolrun://")]
    if decision.min_citations > len(citable):
        lacks.append("evidence to cite")
    return tuple(lacks)


class ForeignItem(AssertionError):
    """An item of another tenant reached pack: a bug in a filter. Nothing is sent."""


def assert_own(tenant: str, items: Sequence[ContextItem]) -> None:
    """The last line of isolation: raises ForeignItem without saying whose item it was (M6)."""
    if any(item.provenance.tenant not in (tenant, PUBLIC_TENANT) for item in items):
        raise ForeignItem("an item of another tenant reached pack; nothing was sent, check the retrieval filter")
