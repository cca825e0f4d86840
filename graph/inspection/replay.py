"""Replay (M4): the exact bytes of an attempt, rebuilt from the record and the stores, and proved by their hash."""

from collections.abc import Sequence
from html import escape

from pydantic import ValidationError

from graph.app import App
from graph.inspection.bodies import Bodies
from graph.inspection.finding import NoSuchDecision, decision_of
from state.asking import asked
from state.context import ContextItem, ContextManifest
from state.ports import RecordDamaged
from state.record import DecisionRecord
from state.render import render
from state.request import Attempt, Request
from state.value import Value

_MANIFEST = "manifest"


class Replay(Value):
    """One attempt rebuilt. `request` is null where a body was erased: then `gone` names each such item; or where one
    was changed so that nothing can be made of it. `changed` names the items that are not what was stored, where the
    bytes differ.

    `recorded` is the hash that propose filed, `rebuilt` the one of the bytes made now. `edited` says that the lap was
    written into from outside; `filed` that there is a record of it: an open lap is read from channels.
    """

    thread: str
    index: int
    attempt: int
    model: str
    outcome: str
    recorded: str
    rebuilt: str | None
    gone: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    request: Request | None = None
    edited: bool = False
    filed: bool = True

    @property
    def proved(self) -> bool:
        """Whether the rebuilt bytes are those that were sent. What an edited lap says before it is filed, anybody may
        have written: manifest and hash."""
        return self.rebuilt == self.recorded and (self.filed or not self.edited)

    def _repr_html_(self) -> str:
        said = "proved" if self.proved else f"not proved: gone {', '.join(self.gone)}" if self.gone else "differs"
        said += " (edited from outside)" if self.edited else ""
        text = "" if self.request is None else "\n\n".join(message.content for message in self.request.messages)
        return (
            f"<p>decision {self.index}, attempt {self.attempt}, {escape(self.model)}: <b>{escape(said)}</b><br>"
            f"<code>{self.recorded}</code></p><pre>{escape(text)}</pre>"
        )


def replay(app: App, thread: str, index: int, *, as_: str, attempt: int | None = None) -> Replay:
    """Rebuild an attempt of a decision: the last one, or the one of that number.

    Raises UnknownPrincipal, UnknownThread, NoSuchDecision; RecordDamaged where the decisions cannot be read.
    """
    decision, _ = decision_of(app, thread, index, as_)
    count = len(decision.attempts)
    if not count:
        raise NoSuchDecision(f"decision {index} of thread {thread} called no model: there is nothing to replay")
    number = count - 1 if attempt is None else attempt
    if not 0 <= number < count:
        raise NoSuchDecision(f"got attempt {number} of decision {index}; allowed: 0 to {count - 1}")
    bodies = Bodies(app.ports.artifacts, app.owned(thread, as_=as_).tenant)
    found = _rebuilt(thread, index, number, decision.attempts, bodies)
    return found.model_copy(update={"edited": decision.edited, "filed": decision.record is not None})


def replays(thread: str, record: DecisionRecord, bodies: Bodies) -> tuple[Replay, ...]:
    """Every attempt of a record, rebuilt."""
    found = (_rebuilt(thread, record.index, number, record.attempts, bodies) for number in range(len(record.attempts)))
    return tuple(one.model_copy(update={"edited": record.edited}) for one in found)


def _rebuilt(thread: str, index: int, number: int, attempts: Sequence[Attempt], bodies: Bodies) -> Replay:
    attempt = attempts[number]
    made = Replay(
        thread=thread,
        index=index,
        attempt=number,
        model=attempt.model,
        outcome=attempt.outcome.name,
        recorded=attempt.request_hash,
        rebuilt=None,
    )
    try:
        manifest = bodies.manifest(attempt.manifest_ref)
    except RecordDamaged:
        return made.model_copy(update={"changed": (_MANIFEST,)})
    if manifest is None:
        return made.model_copy(update={"gone": (_MANIFEST,)})
    gone = tuple(_named(item) for item in manifest.items if bodies.at(item.ref) is None)
    if gone:
        return made.model_copy(update={"gone": gone})
    rendered = _rendered(manifest, bodies)
    request = None if rendered is None else asked(rendered, attempt.mode, attempts[:number], attempt.manifest_ref)
    rebuilt = None if request is None else request.hash()
    changed = () if rebuilt == attempt.request_hash else tuple(_changed(attempt.manifest_ref, manifest, bodies))
    return made.model_copy(update={"request": request, "rebuilt": rebuilt, "changed": changed})


def _rendered(manifest: ContextManifest, bodies: Bodies) -> Request | None:
    texts = {item.ref: body.text for item in manifest.items if (body := bodies.at(item.ref)) is not None}
    if None in texts.values():
        return None  # a body was changed into bytes that are no text
    try:
        return render(manifest.items, lambda ref: texts[ref] or "", manifest.settings)
    except ValidationError:
        return None  # a tool's definition was changed into something that is none


def _changed(ref: str, manifest: ContextManifest, bodies: Bodies) -> list[str]:
    named = [(ref, _MANIFEST), *((item.ref, _named(item)) for item in manifest.items)]
    return [name for ref, name in named if (body := bodies.at(ref)) is not None and not body.intact]


def _named(item: ContextItem) -> str:
    return f"{item.item_id} ({item.source})"
