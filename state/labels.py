"""Where a value comes from, and which origins suffice for what an argument does (X4): labels, roles, declared words."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal

from state.value import Value


class Label(StrEnum):
    """The origin of a value, best first. What joins two texts has the worse label of both."""

    USER = "user"  # the user's own words, or a person who edits a call
    STATE = "state"  # our own state, the policy record, a contract's default
    PRINCIPAL = "principal"  # what the system of record holds about the principal
    SERVER = "server"  # made by the server: ids, bank amounts, dates
    DIRECTORY = "directory"  # from a trusted directory
    OWN = "own"  # written by the principal
    UNTRUSTED = "untrusted"  # writable by third parties: names, titles, bodies, pages
    NOWHERE = "nowhere"  # shown by nothing: the model's own


_ORDER = {label: place for place, label in enumerate(Label)}
BY_THE_PRINCIPAL = frozenset({Label.USER, Label.STATE, Label.PRINCIPAL})
FROM_A_FIELD = frozenset({Label.SERVER, Label.DIRECTORY, Label.OWN})


def joined(labels: Iterable[Label]) -> Label:
    """The label of what was made of several values: the worst of theirs. Of none at all: ours."""
    return max(labels, key=_ORDER.__getitem__, default=Label.STATE)


def best(labels: Iterable[Label]) -> Label:
    """The label of a value that several places show: the best of theirs. Of none: nowhere."""
    return min(labels, key=_ORDER.__getitem__, default=Label.NOWHERE)


Role = Literal["target", "object", "amount", "time", "day", "permission", "url", "title", "memory", "payload"]


class Argument(Value):
    """What an argument decides, and so which origins suffice for it.

    All roles but `title`, `memory` and `payload` are control. A value that a trusted field shows suffices for a control
    role where the user's words choose it (state.checks.selection). `time` is traced to day and hour, `day` to the day
    alone. A `title` is made of the user's words and of what trusted fields say: all else is a third party's sentence or
    the model's. A `memory` is kept for later conversations: untrusted text is none. `kind` names what the value
    identifies, as fields do in `identifies`. `means` are the words by which a user asks for a value of an enumeration;
    `harmless` values need no origin. `may_choose`: the model may choose a value that nothing shows.
    """

    role: Role
    kind: str | None = None
    means: dict[str, tuple[str, ...]] = {}
    harmless: tuple[str | int | float | bool, ...] = ()
    may_choose: bool = False

    @property
    def control(self) -> bool:
        """Whether the argument decides what is done, to whom, when or how much."""
        return self.role not in ("title", "memory", "payload")


class Opens(Value):
    """The words by which a user's request names an effect: one of each group opens it, in the turn it was said.

    `stems` begin a word: `transfer` stands for transferred too. A word with a space is looked for as it is.
    """

    stems: tuple[tuple[str, ...], ...]


# How a value came to be meant. `told`: by what somebody wrote, where the user's words send there. `excepted`: the
# user's words name it to leave it out, or only ask about it.
Chosen = Literal[
    "named", "described", "extreme", "all", "titled", "related", "derived", "author", "place", "told", "excepted"
]


class Traced(Value):
    """Where one argument came from: its label, the items and the field that show it, how a trusted field was chosen.

    Ids and names alone, no value: a verdict outlives what is forgotten.
    """

    argument: str
    label: Label
    item_ids: tuple[str, ...] = ()
    field: str | None = None
    chosen: Chosen | None = None
