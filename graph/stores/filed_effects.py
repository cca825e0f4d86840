"""What the records of a thread say was begun: a ledger that lacks it was changed, and would let it be done again."""

import threading
from collections import OrderedDict
from collections.abc import Iterator

from sqlalchemy import Connection, bindparam, select

from graph.stores.engine import batched
from graph.stores.records import unchanged, verified
from graph.stores.schema import records
from state.contract import Effect
from state.record import DecisionRecord, may_tell_of_effect
from state.tools import Observation
from state.verdict import Allowed

DONE = ("ok", "empty")  # what a tool said itself; anything else may be told otherwise later, once it is known
Key = tuple[str, bool]
"""An effect's key in the ledger, and whether it was done."""

_REMEMBERED = 64  # threads
_OF_THREAD = (records.c.tenant == bindparam("tenant"), records.c.thread == bindparam("thread"))
_NAMES = select(records.c.hash).where(*_OF_THREAD)
_BODIES = select(records.c.hash, records.c.parent, records.c.body).where(
    *_OF_THREAD, records.c.hash.in_(bindparam("wanted", expanding=True))
)


def begun(record: DecisionRecord) -> Iterator[tuple[Allowed, Observation]]:
    """The effects that a record says were done or may have been, each with the verdict whose `bound` is its key in the
    ledger.

    None for a record without a seal: it is of a release that knew its rows by other keys, or of somebody else.
    """
    verdicts = {verdict.call_id: verdict for verdict in record.verdicts if isinstance(verdict, Allowed)}
    for seen in record.observations if record.seal is not None else ():
        verdict = verdicts.get(seen.call_id)
        if verdict is not None and seen.effect is not Effect.READ and seen.outcome in (*DONE, "unknown"):
            yield verdict, seen


class FiledEffects:
    """The keys of all effects that the records of a thread, on every branch, say were begun, done or not.

    A record never changes, so each is read once in a process; one that is removed later still counts.
    """

    def __init__(self) -> None:
        self._read: OrderedDict[tuple[str, str], tuple[frozenset[str], frozenset[Key]]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, connection: Connection, tenant: str, thread: str) -> frozenset[Key]:
        """The keys. Raises RecordDamaged for a record that was changed."""
        place = {"tenant": tenant, "thread": thread}
        there = frozenset(connection.scalars(_NAMES, place))
        with self._lock:
            names, keys = self._read.get((tenant, thread), (frozenset(), frozenset()))
        if there <= names:
            return keys
        for wanted in batched(sorted(there - names)):
            for row in connection.execute(_BODIES, {**place, "wanted": wanted}):
                body = unchanged(row, thread)
                if may_tell_of_effect(body):
                    filed = begun(verified(row, tenant, thread))
                    keys |= {(verdict.bound, seen.outcome in DONE) for verdict, seen in filed}
        with self._lock:
            self._read[tenant, thread] = (names | there, keys)
            self._read.move_to_end((tenant, thread))
            while len(self._read) > _REMEMBERED:
                self._read.popitem(last=False)
        return keys
