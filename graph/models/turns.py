"""Which turns a request is about: the one that opened the matter, and what the user said to our questions about it.

A question of ours leaves the matter open. What follows settles it, unless it asks or wishes for something else. Only
the opening turn chooses a tool: a sentence that was asked for as a text must not choose one.
"""

from collections.abc import Sequence
from typing import NamedTuple

from graph.models.questions import ids, is_question
from graph.models.wishes import wished_verb
from graph.models.words import covered, terms


class Said(NamedTuple):
    """A turn of the user, and whether a question of ours ended it."""

    text: str
    asked_back: bool = False


class Matter(NamedTuple):
    """The opening turn, and the turns that answered us, oldest first."""

    opening: str
    answers: tuple[str, ...] = ()


def matter(earlier: Sequence[Said], current: str, deeds: str) -> Matter:
    """What the current turn is about. `deeds` says what the shown changes do: a wish for one of them is new."""
    if not (earlier and earlier[-1].asked_back):
        # "A-17" alone is about what was said before; "thanks" is not, which would ask for what was done once more.
        about_before = earlier and not terms(current) and ids(current)
        return Matter(f"{earlier[-1].text}\n{current}" if about_before else current)
    opening = ""
    answers: list[str] = []
    for turn in (*_open(earlier), current):
        if not opening or _is_new(turn, opening, deeds):
            opening, answers = turn, []
        else:
            answers.append(turn)
    return Matter(opening, tuple(answers))


def _open(earlier: Sequence[Said]) -> list[str]:
    """The turns before the current one that our questions left open, oldest first."""
    texts: list[str] = []
    for turn in reversed(earlier):
        if not turn.asked_back:
            break
        texts.insert(0, turn.text)
    return texts


def _is_new(turn: str, opening: str, deeds: str) -> bool:
    if not terms(turn):
        return False
    if not terms(opening) or is_question(turn):
        return True
    wish = wished_verb(turn)
    # What answers a wish may be a sentence without a subject, as in a report: it looks like a wish.
    return wish is not None and (wished_verb(opening) is None or bool(covered([wish], deeds, loosely=True)))
