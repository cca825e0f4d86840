"""The system's clock and its fresh identifiers."""

import secrets
from datetime import UTC, datetime


class SystemClock:
    """The time of this machine, aware, in UTC."""

    def now(self) -> datetime:
        """The time now."""
        return datetime.now(UTC)


class RandomIds:
    """Identifiers that nobody can guess: `new("req")` gives `req-` and 16 hex digits (64 random bits).

    Short on purpose: a request id is part of names that stand in requests, where each character costs.
    """

    def new(self, prefix: str) -> str:
        """A fresh identifier."""
        return f"{prefix}-{secrets.token_hex(8)}"
