"""At a bound, code speaks: a partial answer or an escalation from what the manifest holds (L9)."""

from collections.abc import Callable

from state.context import ContextManifest, Kind, Trust
from state.work import Escalate

_LONGEST = 2_000  # characters: what is said here is history in the turns that follow


def partial(manifest: ContextManifest, read: Callable[[str], str]) -> Escalate:
    """What was found out, and what is missing: the trusted lines of the working set, nothing composed."""
    found = [
        read(item.ref)
        for item in manifest.items
        if item.trust is Trust.SYSTEM and (item.kind is Kind.TOOL or item.source.startswith("verdict://"))
    ]
    reason = "The bound of this run was reached before an answer was ready."
    if found:
        reason = f"{reason} Found so far: {' '.join(found)}"[:_LONGEST]
    return Escalate(reason=reason, missing=("an answer to the question",))
