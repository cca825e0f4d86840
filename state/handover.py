"""The handover (C5): what is kept of turns that a request no longer shows, in fixed sections, rewritten by code.

It holds places and codes, no text of its own: the words of a user stand in their turn alone, so that erasing the turn
erases them here too. Each section keeps the newest lines; what went is exact in the record chain.
"""

from typing import Literal

from state.value import Value

LINES = 8  # of a section
EFFECTS = 32  # what was changed outlives what was said

Outcome = Literal["ok", "empty", "error", "denied", "rejected", "unknown"]


class Said(Value):
    """What was said in a turn: the address of the user's words, or of the proposal that answered."""

    turn: int
    ref: str


class Call(Value):
    """A call that was made, with how it ended and the public name of what it brought."""

    turn: int
    tool: str
    outcome: Outcome
    artifact: str | None = None


class Settled(Value):
    """What was decided about a proposal: the rule, and the person where one decided."""

    turn: int
    about: str
    rule: str
    by: str | None = None


class Named(Value):
    """An identifier that the user typed: its place in the stored turn, end exclusive."""

    turn: int
    ref: str
    start: int
    end: int


class Handover(Value):
    """`through` is the last turn that it covers. `intent` are the user's words, `findings` our answers, which nobody
    vouches for; `changed` what effects did, `checked` what was read, `decisions` what was refused. `identifiers` are
    those that the user typed, each at the last place where it stands."""

    through: int
    intent: tuple[Said, ...] = ()
    findings: tuple[Said, ...] = ()
    changed: tuple[Call, ...] = ()
    checked: tuple[Call, ...] = ()
    decisions: tuple[Settled, ...] = ()
    identifiers: tuple[Named, ...] = ()

    def with_more(self, newer: "Handover") -> "Handover":
        """Both, the newest lines of each section: only what was newly cut is merged in, and nothing is said anew."""
        return Handover(
            through=newer.through,
            intent=(*self.intent, *newer.intent)[-LINES:],
            findings=(*self.findings, *newer.findings)[-LINES:],
            changed=(*self.changed, *newer.changed)[-EFFECTS:],
            checked=_newest_of_each((*self.checked, *newer.checked))[-LINES:],
            decisions=(*self.decisions, *newer.decisions)[-EFFECTS:],
            identifiers=(*self.identifiers, *newer.identifiers),
        )


def _newest_of_each(calls: tuple[Call, ...]) -> tuple[Call, ...]:
    """Reads of one tool that ended alike say the same: where the newest stands is enough."""
    kept = {(call.tool, call.outcome): call for call in calls}
    return tuple(call for call in calls if kept[call.tool, call.outcome] is call)
