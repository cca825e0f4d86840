"""What several tools say of their results and of their failures."""

from collections.abc import Sequence

from pydantic import JsonValue

from state.contract import FailureMode

MOMENT: dict[str, JsonValue] = {
    "type": "string",
    "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
}
KEY_STATUS = ("active", "revoked", "expired", "rate_limited", "disabled", "pending")

# Nothing was done, and the next try may find the system of record again.
_UNAVAILABLE = FailureMode(code="unavailable", passing=True)
_OF_A_CHANGE = (FailureMode(code="idempotency_key_missing"), FailureMode(code="idempotency_key_reused"))


def one_of(values: Sequence[str]) -> dict[str, JsonValue]:
    """The JSON schema of a field that holds one of these."""
    return {"enum": [*values]}


def read_fails(*codes: str) -> tuple[FailureMode, ...]:
    """The ways in which a tool that reads fails, its own first."""
    return (*(FailureMode(code=code) for code in codes), _UNAVAILABLE)


def change_fails(*codes: str) -> tuple[FailureMode, ...]:
    """The ways in which a tool that changes something fails. Its transaction tells: what failed did not happen."""
    return (*read_fails(*codes), *_OF_A_CHANGE)
