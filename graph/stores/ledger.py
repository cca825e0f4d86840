"""The ledger of effects: a claim is committed before the call, closed after its result is stored (L7, H01).

A row decides whether an effect may run again, so each has a keyed seal over all that it says, made anew with each
change. A row that was changed, made or moved by whoever can write the database and has not the key is seen wherever
its thread's rows are read; and so is one that was removed, since its record says what was done.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, RowMapping, String, bindparam, select, type_coerce, update

from graph.stores.fence import FencedInsert
from graph.stores.filed_effects import FiledEffects
from graph.stores.schema import Utc, claims
from state.ports import Claim, Claimed, ClaimRefused, LedgerRow, RecordDamaged, Seal

_FIELDS = tuple(Claim.model_fields)
# What a claim is about. Left out: its call id, since a model that is asked again may name the same call anew;
# and its slot, which a verdict takes from what is free at that moment.
_IDENTITY = tuple(name for name in _FIELDS if name not in ("call_id", "slot"))
_SEALED = (*_FIELDS, "state", "at", "result_ref")
_NEXT = (
    "run `agent verify` on the thread to see which, and restore the database from a backup, or ask on another thread"
)


class SqlLedger:
    """The port Ledger on SQL. Give it the durable engine: a claim must be on disk before its effect starts.

    Each change is one statement that commits by itself and succeeds for exactly one caller, so threads,
    processes and machines need no lock between them.
    """

    def __init__(self, engine: Engine, seal: Seal) -> None:
        self._engine, self._seal, self._filed = engine, seal, FiledEffects()
        own = claims.c
        self._claim = FencedInsert(engine, claims, (*_SEALED, "seal"))
        # Times as they are written: what is none shows itself in its row, and not in all that are read with it.
        held = select(*(own[name] for name in (*_FIELDS, "state", "result_ref", "seal")), type_coerce(own.at, String()))
        self._one = held.where(own.key == bindparam("key"))
        of_thread = (own.tenant == bindparam("tenant"), own.thread == bindparam("thread"))
        self._rows = held.where(*of_thread).order_by(own.seq)
        # An unknown effect may still be found done by reading back; a done one never changes. Whoever closes it has
        # seen the row as it is: its new seal is over what that one said.
        seen = (own.state.in_(("open", "unknown")), own.seal == bindparam("seen"))
        self._close = (
            update(claims)
            .where(own.key == bindparam("of_key"), *seen)
            .values(state=bindparam("to_state"), result_ref=bindparam("to_ref"), seal=bindparam("to_seal"))
        )

    def claim(self, claim: Claim, at: datetime) -> Claimed:
        """Claim an effect: `fresh` for exactly one caller, and for the others what became of it.

        State `spent` says that another call, on another branch of the thread, took this step of the plan.

        Raises ClaimRefused when the key was claimed for another effect, or a field holds what no engine stores;
        RecordDamaged where a row of the thread is not as it was written, or is not there; LeaseLost where a node claims
        whose run lost the thread.
        """
        if not all(value.isprintable() for value in claim.model_dump().values() if isinstance(value, str)):
            # A call id may be a model's own words.
            raise ClaimRefused("the claim holds characters that do not print; nothing was run")
        with self._engine.connect() as connection:
            self._trusted(connection, claim.tenant, claim.thread)
            row = claim.model_dump() | {"state": "open", "at": at, "result_ref": None}
            sealed = self._seal.sign(_under_seal({**row, "at": Utc().process_bind_param(at, connection.dialect)}))
            if self._claim.put(connection, row | {"seal": sealed}):
                return Claimed(fresh=True, state="open")
            held = connection.execute(self._one, {"key": claim.key}).mappings().first()
        if held is None:  # the other constraint: another call took this step of the plan
            return Claimed(fresh=False, state="spent")
        if any(held[name] != getattr(claim, name) for name in _IDENTITY):
            # The key alone is named: the other effect may be another tenant's.
            raise ClaimRefused(f"the key {claim.key} was claimed for another effect; nothing was run")
        found = self._whole(held, claim.thread)
        return Claimed(fresh=False, state=found.state, result_ref=found.result_ref)

    def close(self, key: str, state: str, result_ref: str | None) -> None:
        """Say what became of a claimed effect: `done` with its result's address, or `unknown`.

        Closing again with the same state and result changes nothing. Raises ClaimRefused for a key never
        claimed, for a state other than done or unknown, and for an effect that is already done otherwise;
        RecordDamaged for a row that is not as it was written.
        """
        if state not in ("done", "unknown"):
            raise ClaimRefused(f"got state {state!r}; an effect is closed as 'done' or 'unknown'")
        with self._engine.connect() as connection:
            while True:
                held = connection.execute(self._one, {"key": key}).mappings().first()
                if held is None:
                    raise ClaimRefused(f"the key {key} was never claimed")
                found = self._whole(held, held["thread"])
                if (found.state, found.result_ref) == (state, result_ref):
                    return
                if found.state == "done":
                    raise ClaimRefused(f"the effect of {key} is already done; that never changes")
                changed = {"state": state, "result_ref": result_ref}
                to = {f"to_{name}": value for name, value in (("state", state), ("ref", result_ref))}
                to["to_seal"] = self._seal.sign(_under_seal({**held, **changed}))
                if connection.execute(self._close, {"of_key": key, "seen": held["seal"], **to}).rowcount == 1:
                    return
                # Another process closed it in between: what it said then is looked at.

    def begun(self, key: str) -> bool:
        """Whether an effect of this key was ever claimed."""
        with self._engine.connect() as connection:
            return connection.execute(self._one, {"key": key}).first() is not None

    def rows(self, tenant: str, thread: str) -> tuple[LedgerRow, ...]:
        """Every effect of a thread, in the order of the claims. Raises RecordDamaged where a row of it is not as it
        was written, or one is not there that a record tells of."""
        with self._engine.connect() as connection:
            return self._trusted(connection, tenant, thread)

    def examined(self, tenant: str, thread: str) -> tuple[LedgerRow | None, ...]:
        """The rows of a thread as they lie there, trusted or not; None for one that is none any more."""
        with self._engine.connect() as connection:
            found = connection.execute(self._rows, {"tenant": tenant, "thread": thread}).mappings().all()
        return tuple(map(self._read, found))

    def _trusted(self, connection: Connection, tenant: str, thread: str) -> tuple[LedgerRow, ...]:
        # Records before rows: a lap that is filed meanwhile has closed its row before.
        told = self._filed.of(connection, tenant, thread)
        found = connection.execute(self._rows, {"tenant": tenant, "thread": thread}).mappings().all()
        rows = tuple(self._whole(row, thread) for row in found)
        state = {row.claim.key: row.state for row in rows}
        if any(key not in state or (done and state[key] != "done") for key, done in told):
            raise RecordDamaged(
                f"thread {thread}: its ledger lacks an effect that a record tells of, so no effect runs on it; {_NEXT}"
            )
        return rows

    def _whole(self, row: RowMapping, thread: str) -> LedgerRow:
        found = self._read(row)
        if found is None or not found.intact:
            raise RecordDamaged(
                f"thread {thread}: a row of its ledger is not as it was written, so no effect runs on it; {_NEXT}"
            )
        return found

    def _read(self, row: RowMapping) -> LedgerRow | None:
        """A row; None where a column holds what is none of its values."""
        try:
            return LedgerRow(
                claim=Claim(**{name: row[name] for name in _FIELDS}),
                state=row["state"],
                at=datetime.fromisoformat(row["at"]),
                result_ref=row["result_ref"],
                intact=self._seal.verify(_under_seal({**row}), row["seal"] or ""),
            )
        except (TypeError, ValueError):
            return None


def _under_seal(row: Mapping[str, Any]) -> dict[str, Any]:
    """What the seal of a row is over. No other seal is over an object of this form."""
    return {"effect": {name: row[name] for name in _SEALED}}
