"""The records of a thread, and what shows that one is missing: links, checkpoints and the ledger name records too.

Whoever can write the database can make every hash anew, and no seal; can remove a record, and must then find all that
names it. What was put back to an earlier state in every store alike is that state, and nothing in it says otherwise.
"""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

from graph.app import App
from graph.forgetting.naming import Named, named
from graph.inspection.fault import Fault, fault_of
from graph.lap_seal import Sealing
from graph.stores.engine import batched
from graph.stores.filed_effects import DONE
from graph.stores.unavailable import StoreUnavailable
from state.canonical import canonical_json
from state.contract import Effect
from state.ports import DecisionLog, LedgerRow, RecordDamaged, RecordMissing, Seal
from state.record import DecisionRecord, under_seal
from state.run import Scope

_HASH = re.compile(r"[0-9a-f]{64}")
_SHORT = 12
_ECHOED = 100  # characters of a head that a fault repeats: a head may be anything


@dataclass(frozen=True)
class Filed:
    """What is filed of a thread: records by name, in the order of their decisions, with their bytes; and all names,
    readable or not."""

    records: dict[str, DecisionRecord]
    bodies: dict[str, bytes]
    names: frozenset[str]
    faults: tuple[Fault, ...]


def filed(log: DecisionLog, scope: Scope) -> Filed:
    """Every record of a thread, on all its branches, read together; one that cannot be read is a fault."""
    names = log.names(scope.tenant, scope.thread)
    found: dict[str, DecisionRecord] = {}
    bodies: dict[str, bytes] = {}
    faults: list[Fault] = []
    for some in batched(names):
        bodies.update(log.bodies(scope.tenant, scope.thread, some))
        try:
            found.update(zip(some, log.get_all(scope.tenant, scope.thread, some), strict=True))
        except (RecordDamaged, RecordMissing):
            for name in some:
                try:
                    found[name] = log.get(scope.tenant, scope.thread, name)
                except (RecordDamaged, RecordMissing) as fault:
                    how = str(fault).partition(";")[0]  # the rest says to verify
                    faults.append(Fault(record=name, index=None, what="the record", how=how))
    ordered = dict(sorted(found.items(), key=lambda pair: (pair[1].index, pair[0])))
    return Filed(ordered, bodies, frozenset(names), tuple(faults))


def unsound(found: Filed, seal: Seal, scope: Scope) -> Iterator[Fault]:
    """Records that were not filed by us as they are."""
    for name, record in found.records.items():
        parent = found.records.get(record.parent or "")
        how = _unsound(found.bodies[name], record.seal, seal, parent)
        if how is not None:
            yield fault_of(name, record, "the record", how)
        if record.principal != scope.principal.name:
            yield fault_of(name, record, "the record", f"was filed for {record.principal}, who does not own the thread")


def _unsound(body: bytes, made: str | None, seal: Seal, parent: DecisionRecord | None) -> str | None:
    if made is not None and not seal.verify(under_seal(body), made):
        return "was not filed by this system: no key of ours made its seal"
    if made is None and parent is not None and parent.seal is not None:
        return "was not filed by this system: it has no seal, and its parent has one"
    if canonical_json(json.loads(body)) != body:
        return "is not in the form in which it was filed"
    return None


@dataclass(frozen=True)
class Checkpoints:
    """What the checkpoints of a thread say of records, on all branches: how many there are, how many name which head,
    the laps that were open, by the record before and the proposal, every body that one names, with its kind, and the
    effects that a lap as its nodes left it says were begun: key in the ledger and call."""

    count: int
    heads: Counter[str]
    laps: frozenset[tuple[str | None, str]]
    bodies: frozenset[Named] = frozenset()
    begun: frozenset[tuple[str, str]] = frozenset()
    faults: tuple[Fault, ...] = ()


def checkpoints(saver: BaseCheckpointSaver[Any], scope: Scope, sealing: Sealing) -> Checkpoints:
    """What the checkpoints say. One that cannot be read is a fault."""
    config: RunnableConfig = {"configurable": {"thread_id": scope.thread}}
    heads: Counter[str] = Counter()
    laps: set[tuple[str | None, str]] = set()
    bodies: set[Named] = set()
    effects: set[tuple[str, str]] = set()
    count = 0
    faults: tuple[Fault, ...] = ()
    try:
        for one in saver.list(config):
            count += 1
            values = one.checkpoint["channel_values"]
            written = [(channel, value) for _, channel, value in one.pending_writes or ()]
            written_heads = [value for channel, value in written if channel == "head"]
            heads.update({str(head) for head in (values.get("head"), *written_heads) if head is not None})
            bodies.update(named(values), *(named({channel: value}) for channel, value in written))
            request, proposal = values.get("request"), values.get("proposal")
            if isinstance(request, Mapping) and isinstance(proposal, str):
                laps.add((request.get("parent"), proposal))
            for lap in (values, {**values, **dict(written)}):
                if lap.get("observations") and not sealing.edited(scope, lap):
                    effects.update(_begun(lap))
    except (StoreUnavailable, sqlite3.Error):
        raise
    except Exception as error:  # noqa: BLE001 - what a spoilt checkpoint raises is for its serializer to choose
        how = f"cannot be read ({type(error).__name__}): those before it were not looked at"
        faults = (Fault(record="", index=None, what=f"checkpoint {count + 1}, from the newest,", how=how),)
    return Checkpoints(count, heads, frozenset(laps), frozenset(bodies), frozenset(effects), faults)


def _begun(lap: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The effects of a lap whose seal holds: its channels are as its nodes wrote them."""
    bound = {one["call_id"]: one["bound"] for one in lap.get("verdicts") or () if one["verdict"] == "allowed"}
    for seen in lap["observations"]:
        may_be_done = seen["effect"] != Effect.READ and seen["outcome"] in (*DONE, "unknown")
        if may_be_done and seen["call_id"] in bound:
            yield bound[seen["call_id"]], seen["call_id"]


def missing(found: Filed, seen: Checkpoints, rows: Iterable[LedgerRow]) -> Iterator[Fault]:
    """Records that something names and that are not there; or a thread with an owner and nothing else."""
    by_name: dict[str, list[str]] = {}
    for name, record in found.records.items():
        if record.parent is not None:
            by_name.setdefault(record.parent, []).append(f"record {name[:_SHORT]} names it as its parent")
    for head, count in seen.heads.items():
        by_name.setdefault(head, []).append("a checkpoint names it" if count == 1 else f"{count:,} checkpoints name it")
    for row in rows:
        for before, which in ((row.claim.parent, "before"), (row.claim.opened_by, "that opened")):
            if before is not None:
                told = f"the ledger names it as the one {which} the effect of {row.claim.call_id}"
                by_name.setdefault(before, []).append(told)
    for name, by in by_name.items():
        if name in found.names:
            continue
        how = "is not there" if _HASH.fullmatch(name) else "cannot be one"
        told = f"{how}: it was removed, or what names it was written from outside ({'; '.join(by)})"
        yield Fault(record=name[:_ECHOED], index=None, what="the record", how=told)
    if not found.names and not by_name and not seen.count:
        how = "has an owner, no record and no checkpoint: nothing was ever asked on it, or all of it was removed"
        yield Fault(record="", index=None, what="the thread", how=how)


def saver_of(app: App) -> BaseCheckpointSaver[Any]:
    """The saver of an app's checkpoints. Those of a LangGraph server are its own, and are not seen here."""
    saver = app.graph.checkpointer
    assert isinstance(saver, BaseCheckpointSaver)
    return saver
