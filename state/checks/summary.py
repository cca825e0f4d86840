"""Whether a summary that a model wrote may stand for a text: it says something of it, shortly, and nothing else."""

import re

from state.checks.hidden import hidden_characters
from state.checks.kept import kept

MOST_CHARS = 1_200
# What a reader would act by has to stand in the text as it is: links, addresses, ids, figures, dates.
_EXACT = re.compile(r"[^\s<>\"'()\[\]{},;]*(?:\d|://|@)[^\s<>\"'()\[\]{},;]*")
_ENDS = ".:!?*`_"


@kept(most=256)
def summary_fault(summary: str, source: str) -> str | None:
    """The code of what is wrong with a summary of a source; None where nothing is."""
    told = summary.strip()
    if not told:
        return "summary_empty"
    if hidden_characters(told):
        return "summary_hidden_characters"
    if len(told) > MOST_CHARS:
        return "summary_too_long"
    if 2 * len(told) > len(source) or not _words(told) & _words(source):
        return "summary_useless"
    exact = (found.strip(_ENDS) for found in _EXACT.findall(told))
    if any(one and not _stands_in(one, source) for one in exact):
        return "summary_unfaithful"
    return None


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in re.findall(r"\w+", text.casefold()) if len(word) > 3)


def _stands_in(exact: str, source: str) -> bool:
    """Whether it stands there whole: 12 is not said by 120."""
    return re.search(rf"(?<![\w.-]){re.escape(exact)}(?![\w-])", source) is not None
