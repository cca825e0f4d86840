"""The argument types that several tools share, and the failures they may report."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from pydantic import Field

from state.domain import DomainUnavailable
from state.tools import ToolError

# No example ids in the descriptions: an id must come from the request's facts or results, never from a schema.
AccountId = Annotated[str, Field(pattern=r"^A-[0-9]{3}$", description="The id of an account.")]
KeyId = Annotated[str, Field(pattern=r"^K-[0-9]{4}$", description="The id of an API key.")]

EVERY_ROLE = ("customer", "admin")


@contextmanager
def failing_typed() -> Iterator[None]:
    """Turn a database that cannot be used into the tool error `unavailable`; paths stay out of the detail."""
    try:
        yield
    except DomainUnavailable as error:
        raise ToolError("unavailable", "the system of record cannot be used right now") from error


def not_found(kind: str) -> ToolError:
    """The one answer for a missing row and for somebody else's, so that neither can be told from the other."""
    return ToolError("not_found", f"you have no {kind} with this id")
