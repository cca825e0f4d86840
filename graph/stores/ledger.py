"""The ledger of effects: a claim is committed before the call, closed after its result is stored (L7, H01)."""

from datetime import datetime

from sqlalchemy import Engine, bindparam, select, update

from graph.stores.engine import insert_or_ignore
from graph.stores.schema import claims
from state.ports import Claim, Claimed, ClaimRefused, LedgerRow, RecordDamaged

_FIELDS = tuple(Claim.model_fields)
# What a claim is about. Left out: its call id, since a model that is asked again may name the same call anew;
# and its slot, which a verdict takes from what is free at that moment.
_IDENTITY = tuple(name for name in _FIELDS if name not in ("call_id", "slot"))


class SqlLedger:
    """The port Ledger on SQL. Give it the durable engine: a claim must be on disk before its effect starts.

    Each change is one statement that commits by itself and succeeds for exactly one caller, so threads,
    processes and machines need no lock between them.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        own = claims.c
        self._claim = insert_or_ignore(engine, claims).on_conflict_do_nothing()
        self._one = select(claims).where(own.key == bindparam("key"))
        self._rows = (
            select(claims).where(own.tenant == bindparam("tenant"), own.thread == bindparam("thread")).order_by(own.seq)
        )
        # An unknown effect may still be found done by reading back; a done one never changes.
        self._close = (
            update(claims)
            .where(own.key == bindparam("of_key"), own.state.in_(("open", "unknown")))
            .values(state=bindparam("to_state"), result_ref=bindparam("to_ref"))
        )

    def claim(self, claim: Claim, at: datetime) -> Claimed:
        """Claim an effect: `fresh` for exactly one caller, and for the others what became of it.

        State `spent` says that another call, on another branch of the thread, took this step of the plan.

        Raises ClaimRefused when the key was claimed for another effect, or a field holds what no engine stores.
        """
        if not all(value.isprintable() for value in claim.model_dump().values() if isinstance(value, str)):
            # A call id may be a model's own words.
            raise ClaimRefused("the claim holds characters that do not print; nothing was run")
        with self._engine.connect() as connection:
            row = claim.model_dump() | {"state": "open", "at": at, "result_ref": None}
            if connection.execute(self._claim, row).rowcount == 1:
                return Claimed(fresh=True, state="open")
            held = connection.execute(self._one, {"key": claim.key}).first()
        if held is None:  # the other constraint: another call took this step of the plan
            return Claimed(fresh=False, state="spent")
        if any(held._mapping[name] != getattr(claim, name) for name in _IDENTITY):
            # The key alone is named: the other effect may be another tenant's.
            raise ClaimRefused(f"the key {claim.key} was claimed for another effect; nothing was run")
        return Claimed(fresh=False, state=held.state, result_ref=held.result_ref)

    def close(self, key: str, state: str, result_ref: str | None) -> None:
        """Say what became of a claimed effect: `done` with its result's address, or `unknown`.

        Closing again with the same state and result changes nothing. Raises ClaimRefused for a key never
        claimed, for a state other than done or unknown, and for an effect that is already done otherwise.
        """
        if state not in ("done", "unknown"):
            raise ClaimRefused(f"got state {state!r}; an effect is closed as 'done' or 'unknown'")
        with self._engine.connect() as connection:
            changed = connection.execute(self._close, {"of_key": key, "to_state": state, "to_ref": result_ref})
            if changed.rowcount == 1:
                return
            held = connection.execute(self._one, {"key": key}).first()
        if held is None:
            raise ClaimRefused(f"the key {key} was never claimed")
        if (held.state, held.result_ref) != (state, result_ref):
            raise ClaimRefused(f"the effect of {key} is already {held.state}; that never changes")

    def begun(self, key: str) -> bool:
        """Whether an effect of this key was ever claimed."""
        with self._engine.connect() as connection:
            return connection.execute(self._one, {"key": key}).first() is not None

    def rows(self, tenant: str, thread: str) -> tuple[LedgerRow, ...]:
        """Every effect of a thread, in the order of the claims. Raises RecordDamaged for a row that is none."""
        try:
            with self._engine.connect() as connection:
                found = connection.execute(self._rows, {"tenant": tenant, "thread": thread}).all()
            return tuple(
                LedgerRow(
                    claim=Claim(**{name: row._mapping[name] for name in _FIELDS}),
                    state=row.state,
                    at=row.at,
                    result_ref=row.result_ref,
                )
                for row in found
            )
        except (TypeError, ValueError):  # a column of another type, a time that is none
            raise RecordDamaged(
                f"thread {thread}: a row of its ledger was changed after it was written; restore the database from a "
                "backup"
            ) from None
