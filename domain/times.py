"""How the domain writes moments: UTC, whole seconds, `2026-07-15T09:30:00Z`."""

from datetime import UTC, datetime


def stamp(moment: datetime) -> str:
    """An aware moment as text. Raises ValueError for a naive one, which names no moment."""
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no time zone; pass an aware datetime such as datetime.now(UTC)")
    return moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def moment(text: str) -> datetime:
    """The aware moment that `stamp` wrote."""
    return datetime.fromisoformat(text.removesuffix("Z")).replace(tzinfo=UTC)
