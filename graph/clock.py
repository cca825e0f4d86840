"""The system's clock, waiting, and its fresh identifiers."""

import asyncio
import random
import secrets
import time
from datetime import UTC, datetime


class SystemClock:
    """The time of this machine, aware, in UTC."""

    def now(self) -> datetime:
        """The time now."""
        return datetime.now(UTC)


class SystemWaiting:
    """Waits a little longer than it is told, each time otherwise: so that runs which were refused together do not come
    back together."""

    def wait(self, duration_s: float) -> None:
        """Wait in this thread."""
        time.sleep(_spread(duration_s))

    async def await_(self, duration_s: float) -> None:
        """Wait without holding a thread."""
        await asyncio.sleep(_spread(duration_s))


def _spread(duration_s: float) -> float:
    return duration_s * random.uniform(1.0, 1.25)


class RandomIds:
    """Identifiers that nobody can guess: `new("req")` gives `req-` and 16 hex digits (64 random bits).

    Short on purpose: a request id is part of names that stand in requests, where each character costs.
    """

    def new(self, prefix: str) -> str:
        """A fresh identifier."""
        return f"{prefix}-{secrets.token_hex(8)}"
