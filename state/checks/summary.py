"""Whether a summary that a model wrote may stand for a result: it says something of it, shortly, and nothing else."""

import json
import re
from collections.abc import Iterator

from pydantic import JsonValue

from state.checks.hidden import unseen, visible
from state.checks.links import linked, urls

MOST_CHARS = 1_200
# What a reader would act by has to stand in the result as it is: addresses, ids, figures, dates. A comma between two
# digits belongs to a figure.
_PART = r"(?:[^\s<>\"'()\[\]{},;]|(?<=\d),(?=\d))*"
_EXACT = re.compile(rf"{_PART}(?:\d|://|@){_PART}")
_ENDS = ".:!?*`_"


def summary_fault(summary: str, body: str) -> str | None:
    """The code of what is wrong with a summary of a result's body; None where nothing is."""
    told = summary.strip()
    if not told:
        return "summary_empty"
    if len(told) > MOST_CHARS:
        return "summary_too_long"
    if unseen(told.replace("\r\n", "\n")):
        return "summary_hidden_characters"
    source = _readable(body)
    if 2 * len(told) > len(source) or not _words(told) & _words(source):
        return "summary_useless"
    told = visible(told)
    exact = (found.strip(_ENDS) for found in _EXACT.findall(told))
    if any(one and not _stands_in(one, source) for one in exact):
        return "summary_unfaithful"
    # With and without a scheme: what a screen makes a link of is followed, whoever made it up.
    return "summary_unfaithful" if _links(told) - _links(source) else None


def _readable(body: str) -> str:
    """What a body says, a line for each name and value: its own escapes would hide where a word begins and ends."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return visible(body)
    return visible("\n".join(_lines(found)))


def _lines(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for inner in value:
                yield from _lines(inner)
        case dict():
            for name, inner in value.items():
                yield name
                yield from _lines(inner)
        case _:
            yield json.dumps(value)


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in re.findall(r"\w+", text.casefold()) if len(word) > 3)


def _links(text: str) -> frozenset[str]:
    return urls(text) | linked(text)


def _stands_in(exact: str, source: str) -> bool:
    """Whether it stands there whole: 12 is not said by 120, and 250 is not said by 1,250."""
    before = r"(?<!\d[.,:/])" if exact[0].isdigit() else ""
    after = r"(?![.,:/]\d)" if exact[-1].isdigit() else ""
    return re.search(rf"(?<![\w.-]){before}{re.escape(exact)}(?![\w-]){after}", source) is not None
