"""What the measures look at: items, sources, effects and texts of a played case."""

import html
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from pydantic import JsonValue

from evals.observed import ToolRun
from evals.play import Played
from state.canonical import canonical_json
from state.checks.hidden import visible
from state.context import ContextItem
from state.contract import Effect
from state.request import Request


def done_effects(played: Played) -> list[ToolRun]:
    """The runs that changed something, in order. One effect that is run again by its key counts once."""
    done = {
        (run.tool, run.key or str(number), plain(run.arguments)): run
        for number, run in enumerate(played.runs)
        if run.done and run.effect is not Effect.READ
    }
    return list(done.values())


def items(played: Played) -> Iterator[ContextItem]:
    """Every item of every request, as the record has it."""
    yield from (item for item, _ in shown(played))


def shown(played: Played) -> Iterator[tuple[ContextItem, datetime]]:
    """Every item of every request with the time of that request: what it says of the asker is always fresh."""
    for decision in played.decisions:
        if decision.manifest is not None:
            at = max(item.retrieved_at for item in decision.manifest.items)
            yield from ((item, at) for item in decision.manifest.items)


def sources_shown(played: Played) -> set[str]:
    """The sources of those items."""
    return {item.source for item in items(played)}


def sent(text: str, requests: Iterable[Request]) -> bool:
    """Whether a text stands in one of these requests, as it is or as a request shows it."""
    contents = [message.content for request in requests for message in request.messages]
    return any(stands_in(form, content) for form in (text, visible(text)) for content in contents)


def stands_in(text: str, content: str) -> bool:
    """Whether a text stands in another one, as it is or escaped. No text stands nowhere."""
    return bool(text) and any(form in content for form in (text, html.escape(text, quote=False), html.escape(text)))


def strings(value: JsonValue) -> Iterator[str]:
    """Every text in a JSON value, names included, as it is and not as JSON would write it."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
    else:
        yield value if isinstance(value, str) else canonical_json(value).decode()


def fits(run: ToolRun, tool: str, arguments: Mapping[str, JsonValue]) -> bool:
    """Whether a run is a call of that tool with at least these arguments."""
    return run.tool == tool and arguments.items() <= run.arguments.items()


def plain(arguments: Mapping[str, JsonValue]) -> str:
    """Arguments as a person reads them."""
    return canonical_json(dict(arguments)).decode()
