"""Replay (M4): the exact bytes of an attempt, rebuilt from the record and the stores, and proved by their hash."""

from html import escape

from pydantic import ValidationError

from graph.app import App
from graph.inspection.finding import NoSuchDecision, decision_of
from graph.reading import Reading
from state.context import ContextManifest
from state.ports import RecordDamaged
from state.record import DecisionRecord
from state.render import render
from state.request import Attempt, Request
from state.value import Value

GONE = "gone"


class Replay(Value):
    """One attempt rebuilt. `request` is null where a body was erased: then `gone` names each such item; or where one
    was changed so that nothing can be made of it.

    `recorded` is the hash that propose filed, `rebuilt` the one of the bytes made now.
    """

    thread: str
    index: int
    attempt: int
    model: str
    outcome: str
    recorded: str
    rebuilt: str | None
    gone: tuple[str, ...] = ()
    request: Request | None = None

    @property
    def proved(self) -> bool:
        """Whether the rebuilt bytes are those that were sent."""
        return self.rebuilt == self.recorded

    def _repr_html_(self) -> str:
        said = "proved" if self.proved else f"not proved: gone {', '.join(self.gone)}" if self.gone else "differs"
        text = "" if self.request is None else "\n\n".join(message.content for message in self.request.messages)
        return (
            f"<p>decision {self.index}, attempt {self.attempt}, {escape(self.model)}: <b>{escape(said)}</b><br>"
            f"<code>{self.recorded}</code></p><pre>{escape(text)}</pre>"
        )


def replay(app: App, thread: str, index: int, *, as_: str, attempt: int | None = None) -> Replay:
    """Rebuild an attempt of a decision: the last one, or the one of that number.

    Raises UnknownPrincipal, UnknownThread, NoSuchDecision.
    """
    decision, reading = decision_of(app, thread, index, as_)
    count = len(decision.attempts)
    if not count:
        raise NoSuchDecision(f"decision {index} of thread {thread} called no model: there is nothing to replay")
    number = count - 1 if attempt is None else attempt
    if not 0 <= number < count:
        raise NoSuchDecision(f"got attempt {number} of decision {index}; allowed: 0 to {count - 1}")
    return _rebuilt(thread, index, number, decision.attempts[number], reading)


def replays(thread: str, record: DecisionRecord, reading: Reading) -> tuple[Replay, ...]:
    """Every attempt of a record, rebuilt."""
    return tuple(_rebuilt(thread, record.index, n, attempt, reading) for n, attempt in enumerate(record.attempts))


def _rebuilt(thread: str, index: int, number: int, attempt: Attempt, reading: Reading) -> Replay:
    try:
        manifest = reading.manifest(attempt.manifest_ref)
    except (ValidationError, RecordDamaged):
        return _replay(thread, index, number, attempt)
    if manifest is None:
        return _replay(thread, index, number, attempt, gone=("manifest",))
    texts = {item.ref: reading.body(item.ref) for item in manifest.items}
    gone = tuple(f"{item.item_id} ({item.source})" for item in manifest.items if texts[item.ref] is None)
    if gone:
        return _replay(thread, index, number, attempt, gone=gone)
    return _replay(thread, index, number, attempt, request=_rendered(manifest, texts))


def _rendered(manifest: ContextManifest, texts: dict[str, str | None]) -> Request | None:
    try:
        return render(manifest.items, lambda ref: texts[ref] or "", manifest.settings)
    except (ValidationError, RecordDamaged):
        return None  # a tool's definition was changed into something that is none


def _replay(
    thread: str,
    index: int,
    number: int,
    attempt: Attempt,
    *,
    request: Request | None = None,
    gone: tuple[str, ...] = (),
) -> Replay:
    return Replay(
        thread=thread,
        index=index,
        attempt=number,
        model=attempt.model,
        outcome=attempt.outcome.name,
        recorded=attempt.request_hash,
        rebuilt=None if request is None else request.hash(),
        gone=gone,
        request=request,
    )
