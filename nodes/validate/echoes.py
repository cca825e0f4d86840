"""What the effects of a thread wrote by nobody's word that counts: it is untrusted wherever it comes back (S7).

A lap judges by its newest records. What was written long before them may come back all the same, so each record of a
thread is read for it, once in a process: a record never changes.
"""

from collections.abc import Callable

from nodes.validate.repeats import effects_of
from state.checks.keeping import Keeping
from state.checks.known import echo, leaves
from state.labels import Label
from state.ports import DecisionLog
from state.record import DecisionRecord, may_tell_of_effect
from state.run import Scope
from state.verdict import Accepted

_REMEMBERED = 64  # threads
_AT_ONCE = 500  # records that one statement names
_MODELS_OWN = (Label.UNTRUSTED, Label.NOWHERE)


class Echoes:
    """The untrusted values that effects of a thread repeated, on whichever branch."""

    def __init__(self, log: DecisionLog) -> None:
        self._log = log
        self._read: Keeping[tuple[str, str], tuple[frozenset[str], frozenset[str]]] = Keeping(_REMEMBERED)

    def of(self, scope: Scope, read: Callable[[str], str]) -> frozenset[str]:
        """The values. Raises RecordDamaged for a record that was changed."""
        place = (scope.tenant, scope.thread)
        there = frozenset(self._log.names(*place))
        names, found = self._read.get(place) or (frozenset(), frozenset())
        if there <= names:
            return found
        unread = sorted(there - names)
        for start in range(0, len(unread), _AT_ONCE):
            bodies = self._log.bodies(*place, unread[start : start + _AT_ONCE])
            telling = [name for name, body in bodies.items() if may_tell_of_effect(body)]
            found = found.union(*(echoes_of(record, read) for record in self._log.get_all(*place, telling)))
        names |= there
        self._read.keep(place, (names, found), sum(map(len, (*names, *found))))
        return found


def echoes_of(record: DecisionRecord, read: Callable[[str], str]) -> frozenset[str]:
    """The values that the effects of a lap wrote and that were untrusted, or the model's own."""
    traces = {one.call_id: () if isinstance(one, Accepted) else one.trace for one in record.verdicts}
    found: set[str] = set()
    for seen, arguments in effects_of(record, read):
        foreign = {one.argument for one in traces.get(seen.call_id, ()) if one.label in _MODELS_OWN}
        values = (leaf for name in foreign for leaf in leaves(arguments.get(name)))
        found |= {text for leaf in values if (text := echo(leaf)) is not None}
    return frozenset(found)
