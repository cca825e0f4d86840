"""Which bodies records, checkpoints, manifests and snapshots name, and as what.

Read leniently, by the names of fields: a body must be found whatever release wrote what names it.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from state.context import Classification, Kind, Trust

_ADDRESS = re.compile(r"art-[0-9a-f]{64}")
MANIFEST, SNAPSHOT, POLICY = "manifests", "snapshots", "policies"
# What an address stands for, by the field that holds it, or by the object whose `ref` it is.
_KINDS = {
    "turn_ref": "turns",
    "objective": "turns",
    "constraints": "turns",
    "manifest_ref": MANIFEST,
    "manifest": MANIFEST,
    "candidates": SNAPSHOT,
    "snapshot_ref": SNAPSHOT,
    "policy_ref": POLICY,
    "proposal": "proposals",
    "proposal_ref": "proposals",
    "questions": "proposals",
    "observations": "results",
    "result_ref": "results",
    "whole_ref": "results",
    "summary": "results",
    "edited": "edits",
    "query_refs": "searches",
    "tool_query_refs": "searches",
    "queries": "searches",
    "handover_ref": "handovers",
}
OTHER = "other bodies"
MESSAGES = "messages"
"""The channel that holds texts and no addresses: what a user typed must not name anything."""


class Named(NamedTuple):
    """One address, and what it was named as."""

    kind: str
    ref: str


def named(value: Any, field: str = "") -> Iterator[Named]:
    """Every address in plain data, with its kind."""
    match value:
        case str() if _ADDRESS.fullmatch(value):
            yield Named(_KINDS.get(field, OTHER), value)
        case Mapping():
            for name, inner in value.items():
                if name != MESSAGES:
                    yield from named(inner, field if name == "ref" else str(name))
        case list() | tuple():
            for inner in value:
                yield from named(inner, field)


class Item(NamedTuple):
    """An item of a manifest, or a candidate of a snapshot: what decides whose it is."""

    kind: str
    trust: str
    classification: str
    subject: str
    item_id: str
    ref: str

    @property
    def of_nobody(self) -> bool:
        """Whether it is the operator's own text, or a document's: those are no subject's, whoever was shown them."""
        document = self.kind == Kind.EVIDENCE and self.classification != Classification.PERSONAL
        return self.trust == Trust.POLICY or document

    def remembers(self, subject: str | None, only: Collection[str] | None = None) -> bool:
        """Whether it is a memory of this subject; where `only` says which, one of those."""
        own = subject is not None and self.kind == Kind.MEMORY and self.subject == subject
        return own and (only is None or self.item_id in only)


def items(body: str | None) -> Iterator[Item]:
    """The items of a manifest's body, or the candidates of a snapshot's; none of a body that is gone."""
    for each in _listed(body, "items") + _listed(body, "candidates"):
        if isinstance(each, Mapping) and _ADDRESS.fullmatch(str(each.get("ref"))):
            provenance = each.get("provenance")
            if not isinstance(provenance, Mapping):
                provenance = each  # a candidate holds what an item has in its provenance
            yield Item(
                kind=str(each.get("kind")),
                trust=str(each.get("trust")),
                classification=str(provenance.get("classification")),
                subject=str(provenance.get("scope")),
                item_id=str(each.get("item_id")),
                ref=str(each["ref"]),
            )


def beside_items(body: str | None) -> Iterator[Named]:
    """What else a manifest or a snapshot names: its policy record, queries, the originals of what was shown in part."""
    yield from named(_parsed(body).get("policy_ref"), "policy_ref")
    for field in ("queries", "truncated", "masked"):
        for each in _listed(body, field):
            ref = each.get("original_ref") if isinstance(each, Mapping) else each
            yield from named(ref, field)


def decided_at(record: bytes) -> datetime | None:
    """When the decision of a filed record was made; None where that cannot be read."""
    try:
        return datetime.fromisoformat(plain(record)["at"])
    except (KeyError, TypeError, ValueError):
        return None


def plain(record: bytes) -> Mapping[str, Any]:
    """A filed record as plain data; empty for one that was spoilt, which `agent verify` names."""
    try:
        found = json.loads(record)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _listed(body: str | None, field: str) -> list[Any]:
    inner = _parsed(body).get(field)
    return inner if isinstance(inner, list) else []


def _parsed(body: str | None) -> Mapping[str, Any]:
    try:
        found = json.loads(body or "{}")
    except (ValueError, RecursionError):  # a body may be a user's own words, of any form
        return {}
    return found if isinstance(found, dict) else {}
