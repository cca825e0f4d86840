"""What the commands of `agent memory` do, and how they tell it."""

from collections.abc import Callable
from json import dumps
from typing import TYPE_CHECKING, Any

from rich.text import Text

from graph.cli.exits import OK, SKIPPED
from graph.cli.layout import Hanging
from graph.cli.opening import opened
from graph.cli.screen import Screen, one_line

if TYPE_CHECKING:
    from graph.memories import Memories
    from state.memory import MemoryRecord, Remembered
    from state.run import Principal

_NO_MODEL = "offline"  # nothing is asked here


def listed(screen: Screen, *, as_: str, subject: str | None) -> int:
    """Print what is remembered of a subject. Raises UnknownPrincipal, MemoryUnknown."""
    with opened(screen, _NO_MODEL) as app:
        found = app.memories.listed(app.identity.principal(as_), subject)
        now = app.ports.clock.now()
    if screen.json_wanted:
        plain = {"as": as_, "memories": [_plain(one) for one in found]}
        screen.text(dumps(plain, indent=2, ensure_ascii=False))
        return OK
    for one in found:
        about = one.about or one.purpose
        line = f"{one.memory_id}  {one.subject}, {about}: {one.text} ({_terms(one, ended=not one.stands(now))})"
        screen.out.print(Hanging(Text(one_line(line)), indent=0))
    if not found:
        screen.out.print(Hanging("Nothing is remembered.", indent=0))
    return OK


def written(screen: Screen, as_: str, write: "Callable[[Memories, Principal], Remembered]") -> int:
    """Write, and print what became of it. Raises UnknownPrincipal, MemoryUnknown, MemoryRefused."""
    with opened(screen, _NO_MODEL) as app:
        done = write(app.memories, app.identity.principal(as_))
    if screen.json_wanted:
        screen.text(dumps({"did": done.did, "memory": _plain(done.record)}, indent=2, ensure_ascii=False))
    else:
        kept = "fact" if done.record.is_fact else "hypothesis"
        line = f"{done.did}: {done.record.memory_id}, a {kept} about {done.record.about}: {done.record.text}"
        screen.out.print(Hanging(one_line(line), indent=0))
    return OK


def forget(screen: Screen, memory_id: str, *, as_: str) -> int:
    """Delete one, and say how much that was. Gives 4 where bytes of it may still lie in a file."""
    from graph.forgetting.shred import ON_SERVER

    with opened(screen, _NO_MODEL) as app:
        removed = app.memories.delete(app.identity.principal(as_), memory_id)
    if screen.json_wanted:
        screen.text(removed.model_dump_json(indent=2))
    else:
        shown = sum(removed.bodies.values())
        screen.out.print(
            Hanging(f"forgotten: {removed.memories} with what was replaced, shown {shown} times", indent=0)
        )
        for note in removed.left:
            screen.out.print(Hanging(one_line(note)))
    return SKIPPED if removed.left and removed.left != (ON_SERVER,) else OK


def _terms(one: "MemoryRecord", *, ended: bool) -> str:
    """Who says it, until when it holds, and what became of it."""
    became = f"; replaced by {one.superseded_by}" if one.superseded_by else "; ended" if ended else ""
    return f"{one.source.value}, {', '.join(one.sources)}; until {one.expires_at.date().isoformat()}{became}"


def _plain(one: "MemoryRecord") -> dict[str, Any]:
    return {**one.model_dump(mode="json"), "deletion_path": one.deletion_path}
