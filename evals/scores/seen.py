"""What the measures look at: items, sources, effects and texts of a played case."""

import html
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from evals.observed import ToolRun
from evals.play import Played
from state.canonical import canonical_json
from state.checks.hidden import visible
from state.context import ContextItem
from state.tools import Effect


def done_effects(played: Played) -> list[ToolRun]:
    """The runs that changed something, in order. One effect that is run again by its key counts once."""
    done = {
        (run.tool, run.key or str(number)): run
        for number, run in enumerate(played.runs)
        if run.done and run.effect is not Effect.READ
    }
    return list(done.values())


def items(played: Played) -> Iterator[ContextItem]:
    """Every item of every request, as the record has it."""
    for decision in played.decisions:
        if decision.manifest is not None:
            yield from decision.manifest.items


def sources_shown(played: Played) -> set[str]:
    """The sources of those items."""
    return {item.source for item in items(played)}


def sent(text: str, played: Played) -> bool:
    """Whether a text stands in a request that was sent, as it is or escaped."""
    forms = {text, html.escape(visible(text), quote=False), html.escape(visible(text))}
    return any(form in message.content for request in played.requests for message in request.messages for form in forms)


def plain(arguments: Mapping[str, JsonValue]) -> str:
    """Arguments as a person reads them."""
    return canonical_json(dict(arguments)).decode()
