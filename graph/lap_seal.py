"""The seal of a lap: what one node wrote is what the next one reads, or the lap was edited from outside.

The channel `seal` names the node that ran last and holds a digest of each channel of the lap as it was left, under one
MAC with tenant, thread and owner. So a channel written by `update_state`, one taken over from another branch, and a
node that was skipped are all seen by the next node. An edited lap opens nothing, runs nothing and is filed as edited;
the loop goes on from the state before it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue, ValidationError

from state.canonical import digest
from state.node import Node
from state.ports import Seal
from state.run import Edited, Scope
from state.value import Value

CHANNEL = "seal"
# What belongs to a lap, with what it began from. `messages` is the caller's to write.
SEALED = (
    "head", "task", "request", "decision", "candidates", "manifest", "proposal", "attempts", "verdicts", "observations",
)  # fmt: skip
# Which nodes may have run last when a node begins; resolve begins a lap, and log ends one wherever it got to.
_AFTER = {
    "plan": ("resolve",),
    "retrieve": ("plan",),
    "pack": ("retrieve", "propose"),
    "propose": ("pack",),
    "validate": ("propose", "validate"),
    "execute": ("validate",),
}
# What log cannot do without stays, edited or not.
_NEEDED = ("head", "task", "request")
_DIGEST_CHARS = 32


class LapSeal(Value):
    """The channel's value. `edited` stays until the lap is over."""

    node: str
    digests: dict[str, str]
    edited: bool = False
    mac: str = ""


@dataclass(frozen=True)
class Lap:
    """What a node finds: the digests as they were sealed, and which channels of its slice differ from them."""

    digests: Mapping[str, str] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    edited: bool = False


class Sealing:
    """Checks a lap before a node and seals it after."""

    def __init__(self, seal: Seal) -> None:
        self._seal = seal

    def found(self, node: Node, scope: Scope, channels: Mapping[str, Any]) -> Lap:
        """How the lap stands before a node."""
        if node.name == "resolve":
            return Lap()
        sealed = self._verified(scope, channels.get(CHANNEL))
        digests = sealed.digests if sealed else {}
        present = _digests(node.reads.model_fields, channels)
        changed = frozenset(
            name for name in SEALED if name in node.reads.model_fields and present.get(name) != digests.get(name)
        )
        in_order = sealed is not None and sealed.node in _AFTER.get(node.name, (sealed.node,))
        return Lap(digests, changed, bool(changed) or not in_order or (sealed is not None and sealed.edited))

    def edited(self, scope: Scope, channels: Mapping[str, Any]) -> bool:
        """Whether an open lap was written into from outside, as far as its seal tells before the next node runs."""
        sealed = self._verified(scope, channels.get(CHANNEL))
        return sealed is None or sealed.edited or _digests(SEALED, channels) != sealed.digests

    def shown(self, node: Node, lap: Lap, channels: Mapping[str, Any]) -> Mapping[str, Any]:
        """The channels as the node is to see them: the request says that the lap was edited; log does not see what was
        changed."""
        if not lap.edited:
            return channels
        shown = dict(channels)
        if node.name == "log":
            shown |= dict.fromkeys(lap.changed - set(_NEEDED))
        if isinstance(request := shown.get("request"), Mapping):
            shown["request"] = {**request, "edited": Edited.LAP.value}
        return shown

    def after(
        self, node: Node, scope: Scope, lap: Lap, channels: Mapping[str, Any], written: Mapping[str, JsonValue]
    ) -> dict[str, JsonValue]:
        """What a node wrote, with the seal over the lap as it now stands; without one when the lap is over."""
        if node.name == "log":
            return {**written, CHANNEL: None}
        digests = dict(lap.digests) if node.name != "resolve" else _digests(node.reads.model_fields, channels)
        for name in written.keys() & set(SEALED):
            digests.pop(name, None)
        digests |= _digests(written, written)
        made = LapSeal(node=node.name, digests=digests, edited=lap.edited)
        made = made.model_copy(update={"mac": self._seal.sign(_payload(scope, made))})
        return {**written, CHANNEL: made.model_dump(mode="json")}

    def _verified(self, scope: Scope, given: Any) -> LapSeal | None:
        try:
            sealed = LapSeal.model_validate(given)
        except ValidationError:
            return None
        return sealed if self._seal.verify(_payload(scope, sealed), sealed.mac) else None


def _digests(names: Any, values: Mapping[str, Any]) -> dict[str, str]:
    """The digests of those channels that hold something. What JSON cannot carry matches nothing."""
    found = {}
    for name in SEALED:
        if name in names and (value := values.get(name)) is not None:
            try:
                found[name] = digest({"": value})[:_DIGEST_CHARS]
            except (TypeError, ValueError):
                found[name] = "none"
    return found


def _payload(scope: Scope, sealed: LapSeal) -> dict[str, JsonValue]:
    return {
        "tenant": scope.tenant,
        "thread": scope.thread,
        "owner": scope.principal.name,
        "lap": {"node": sealed.node, "digests": {**sealed.digests}, "edited": sealed.edited},
    }
