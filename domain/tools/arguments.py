"""The argument types that several tools share, and the failures they may report."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from pydantic import Field

from state.domain import DomainUnavailable
from state.tools import ToolContext, ToolError

# Descriptions name a few things in Spanish too: half of those who ask do.
# No example ids in the descriptions: an id must come from the request's facts or results, never from a schema.
AccountId = Annotated[str, Field(pattern=r"^A-[0-9]{3}$", description="The id of an account.")]
KeyId = Annotated[str, Field(pattern=r"^K-[0-9]{4}$", description="The id of an API key.")]
TicketId = Annotated[str, Field(pattern=r"^T-[0-9]{3}$", description="The id of a support ticket.")]


@contextmanager
def failing_typed() -> Iterator[None]:
    """Turn a database that cannot be used into the tool error `unavailable`; paths stay out of the detail."""
    try:
        yield
    except DomainUnavailable as error:
        raise ToolError("unavailable", "the system of record cannot be used right now") from error


def effect_key(context: ToolContext) -> str:
    """The key of this one effect, by which a repeated call is recognised."""
    if not context.idempotency_key:
        raise ToolError("idempotency_key_missing", "a change needs the key of its effect")
    return context.idempotency_key


def key_reused() -> ToolError:
    """One effect's key came with another call."""
    return ToolError("idempotency_key_reused", "this effect's key belongs to another change")


def not_found(kind: str) -> ToolError:
    """The one answer for a missing row and for somebody else's, so that neither can be told from the other."""
    return ToolError("not_found", f"you have no {kind} with this id")
