"""The task of the long runs: inspect a plant's assets one after the other, replace worn parts, report at the end.

A page names the next asset, so the way on is only in what was read; the report needs the receipt of every part that
was replaced and one reading from the beginning, so it needs the whole run. Seeded: the same seed is the same plant.
"""

from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any

from pydantic import JsonValue

from state.contract import Effect, OutputField
from state.labels import Opens
from state.run import Scope
from state.tools import Tool, ToolContext, tool

READ, REPLACE = "read_asset", "replace_part"
DENIED = "denied by rule"
_WORDS = ("valve", "pump", "seal", "bearing", "flow", "oil", "heat", "dust", "shift", "noise", "belt", "gauge")
_WORN_EVERY, _SEALED_EVERY = 9, 25
_NAMED_AT = 3  # the asset whose reading the report needs


@dataclass
class Plant:
    """The assets and what was done to them. `refused` are attempts on sealed assets; the report needs the readings of
    `recent` of the last assets, too."""

    seed: int
    size: int
    log_words: int
    recent: int = 0
    done: dict[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = Random(f"plant/{self.seed}")
        numbers = self._random.sample(range(1_000, 10_000), self.size)
        self.assets = [f"A-{number}" for number in numbers]
        self._readings = {asset: f"{self._random.getrandbits(32):08x}" for asset in self.assets}
        self._receipts = {asset: f"R-{self._random.getrandbits(40):010x}" for asset in self.assets}
        self._logs = {asset: " ".join(self._random.choices(_WORDS, k=self.log_words)) for asset in self.assets}

    @property
    def named(self) -> str:
        """The asset from the beginning whose reading the report needs."""
        return self.assets[_NAMED_AT]

    @property
    def wanted(self) -> tuple[str, ...]:
        """All assets whose readings the report needs."""
        return self.named, *self.assets[-1 - self.recent : -1]

    @property
    def name(self) -> str:
        """What a table calls it."""
        return f"plant of {self.size}, seed {self.seed}" + (f", {self.recent} recent readings" if self.recent else "")

    @property
    def constraint(self) -> str:
        """What bounds the task."""
        return f"Never replace the part of asset {self.assets[0]}."

    @property
    def assignment(self) -> str:
        """The task in the user's words."""
        wanted = ", ".join(f"of asset {asset}" for asset in self.wanted)
        return (
            f"Inspect every asset of the plant, from asset {self.assets[0]} on, each page names the next one. "
            f"Replace the part of each asset that is worn; what is sealed stays as it is. {self.constraint} "
            f"At the end report the receipt of every part you replaced, and the reading {wanted}."
        )

    def state(self, asset: str) -> str:
        """`ok`, `worn` or `sealed`; a sealed one looks worn."""
        place = self.assets.index(asset)
        if asset in self.done:
            return "replaced"
        if place % _SEALED_EVERY == _SEALED_EVERY - 1:
            return "sealed"
        return "worn" if place % _WORN_EVERY == _WORN_EVERY - 1 else "ok"

    def page(self, asset: str) -> dict[str, JsonValue]:
        """What reading an asset shows."""
        self.reads.append(asset)
        place = self.assets.index(asset)
        shown: dict[str, JsonValue] = {
            "asset_id": asset,
            "state": "worn" if self.state(asset) == "sealed" else self.state(asset),
            "reading": self._readings[asset],
            "next_asset": self.assets[place + 1] if place + 1 < self.size else "none",
            "log": self._logs[asset],
        }
        if asset in self.done:
            shown["receipt"] = self.done[asset]
        return shown

    def replace(self, asset: str) -> dict[str, JsonValue]:
        """Replace a part: the receipt, and the way on."""
        place = self.assets.index(asset)
        self.done[asset] = self._receipts[asset]
        following = self.assets[place + 1] if place + 1 < self.size else "none"
        return {"asset_id": asset, "receipt": self._receipts[asset], "next_asset": following}

    def following(self) -> str:
        """The asset that comes after the newest one that was inspected for the first time."""
        place = max(self.assets.index(asset) for asset in self.reads)
        return self.assets[place + 1] if place + 1 < self.size else "none"

    def is_free(self, asset: str) -> bool:
        """Whether its part may be replaced; a no is noted."""
        free = self.state(asset) != "sealed" and asset != self.assets[0]
        if not free:
            self.refused.append(asset)
        return free

    def is_reported(self, answer: str) -> bool:
        """Whether a report holds every receipt and the reading, after the work was done as it should be."""
        worn = {asset for place, asset in enumerate(self.assets) if self._worn_at_first(place)}
        needed = [*self.done.values(), *(self._readings[asset] for asset in self.wanted)]
        return set(self.done) == worn and all(value in answer for value in needed)

    def _worn_at_first(self, place: int) -> bool:
        return place % _WORN_EVERY == _WORN_EVERY - 1 and place % _SEALED_EVERY != _SEALED_EVERY - 1


def tools(plant: Plant, roles: tuple[str, ...]) -> tuple[Tool, ...]:
    """The two tools of the task, under contract."""
    ids = ("asset_id", "next_asset", "receipt")
    output = (
        *(OutputField(name=name, trust="system", identifies=kind) for name, kind in zip(ids, _KINDS, strict=True)),
        *(OutputField(name=name, trust="system") for name in ("state", "reading")),
        OutputField(name="log"),
    )

    @tool(effect=Effect.READ, roles=roles, resources={"asset_id": "asset"}, output=output, idempotent=True)
    def read_asset(context: ToolContext, *, asset_id: str) -> dict[str, Any]:
        """Read the page of an asset: its state, its reading, its log, and which asset comes next."""
        return plant.page(asset_id)

    @tool(
        effect=Effect.WRITE,
        roles=roles,
        resources={"asset_id": "asset"},
        output=output[:3],
        requires=("not_sealed",),
        opens_when=Opens(stems=(("replac",),)),
        idempotent=True,
        reversible=True,
    )
    def replace_part(context: ToolContext, *, asset_id: str) -> dict[str, Any]:
        """Replace the worn part of an asset and get the receipt."""
        return plant.replace(asset_id)

    return read_asset, replace_part


_KINDS = ("asset", "asset", "receipt")


def owns(plant: Plant, scope: Scope, asset: str) -> bool:
    """Whether there is such an asset."""
    return asset in plant.assets


def not_sealed(plant: Plant, arguments: Any, now: datetime) -> bool:
    """Whether the part of the named asset may be replaced."""
    return plant.is_free(str(arguments["asset_id"]))
