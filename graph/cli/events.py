"""`agent notify` and `agent events`: what is put into the queue of events, and what became of it on a thread."""

from json import dumps
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from rich.text import Text

from graph.cli.exits import OK, WrongUse
from graph.cli.layout import Hanging
from graph.cli.opening import opened, opened_to_look
from graph.cli.screen import Screen, one_line
from state.events import Event

if TYPE_CHECKING:
    from state.events import Told

_NO_MODEL = "offline"
_OFTEN = 3  # requests in a row


def notify(
    screen: Screen, kind: str, about: str, *, tenant: str, principal: str | None, thread: str | None, key: str | None
) -> int:
    """Queue one event. Raises WrongUse for one that nobody could be told."""
    with opened(screen, _NO_MODEL) as app:
        from graph.producing import EventRefused

        now = app.ports.clock.now()
        try:
            event = Event(tenant=tenant, principal=principal, thread=thread, kind=kind, about=about, at=now, key=key)
            number = app.producing.put(event)
        except ValidationError as wrong:
            field = wrong.errors()[0]["loc"][0]
            got = f"got {field}={wrong.errors()[0]['input']!r:.80}"
            raise WrongUse(f"{got}; allowed: one short line of characters that print") from None
        except EventRefused as refused:
            raise WrongUse(str(refused)) from None
    if screen.json_wanted:
        screen.text(dumps({"event_id": number, **event.model_dump(mode="json")}, indent=2, ensure_ascii=False))
    else:
        screen.out.print(Hanging(f"event {number} is queued", indent=0))
    return OK


def events(screen: Screen, thread: str, *, as_: str) -> int:
    """The queue's own record of a thread: what was queued, when, and how it was settled there."""
    with opened_to_look(screen) as app:
        told = app.events(thread, as_=as_)
        closed = app.identity.forgotten_at(thread) is not None
    often = standing(told)
    if screen.json_wanted:
        plain: dict[str, Any] = {
            "events": [one.model_dump(mode="json") for one in told],
            "belongs_in_instructions": [f"{kind} {about}" for kind, about in often],
        }
        screen.text(dumps(plain, indent=2, ensure_ascii=False))
        return OK
    for one in told:
        screen.out.print(Hanging(Text(one_line(_line(one, closed))), indent=0))
    if not told:
        screen.out.print(Hanging("No event was queued for this thread.", indent=0))
    for kind, about in often:
        screen.warning(
            f"{one_line(f'{kind} {about}')} was told in {_OFTEN} requests in a row: what always holds belongs in the "
            "instructions"
        )
    return OK


def standing(told: "tuple[Told, ...]") -> list[tuple[str, str]]:
    """What was told in three consecutive requests or more: it is no news."""
    decisions: dict[tuple[str, str], set[int]] = {}
    for one in told:
        if one.decision is not None and one.dropped is None:
            decisions.setdefault((one.queued.event.kind, one.queued.event.about), set()).add(one.decision)
    return [
        what for what, at in decisions.items() if any({index + step for step in range(_OFTEN)} <= at for index in at)
    ]


def _line(one: "Told", closed: bool) -> str:
    event = one.queued.event
    if one.decision is None and closed:
        became = "is not told here (any more): the thread was forgotten"
    elif one.decision is None:
        became = "waits for the next request"
    elif one.dropped is None:
        became = f"told by decision {one.decision}"
    else:
        became = f"left out of decision {one.decision}: {one.dropped.value}"
    return f"{one.queued.event_id}  {event.at.isoformat(timespec='seconds')}  {event.kind} {event.about}: {became}"
