"""What is measured of a run: each request as it went out, by tokens, prefix and probes."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from state.value import Value


class Probe(Value):
    """A question that the next step may depend on. It is kept where its values stand in the request as they are, so
    often all together."""

    name: str
    values: tuple[str, ...]
    times: int = 1

    def is_kept(self, text: str) -> bool:
        """Whether the request answers it."""
        return sum(text.count(value) for value in self.values) >= self.times


class Asked(Value):
    """One request: its tokens, whole and by category, the bytes it shares with the one before, and its probes."""

    kind: str
    tokens: int
    by_category: dict[str, int] = {}
    size_bytes: int
    shared_bytes: int
    stable_bytes: int
    stable_shared_bytes: int
    kept: dict[str, int] = {}
    probes: dict[str, int] = {}
    lost: tuple[str, ...] = ()


class Played(Value):
    """One run under one strategy. `budget_tokens` is what a request may count, `finished` whether the task was done
    right, `reread` how often a result was read again. Without a budget the run is not compacted."""

    strategy: str
    run: str
    budget_tokens: int
    finished: bool | None
    decisions: int
    reread: int
    seconds: float
    asked: tuple[Asked, ...]

    @property
    def tokens(self) -> int:
        """All input tokens of the run."""
        return sum(one.tokens for one in self.asked)

    @property
    def most_tokens(self) -> int:
        """The largest request."""
        return max((one.tokens for one in self.asked), default=0)

    @property
    def over(self) -> int:
        """Requests over the budget."""
        return sum(one.tokens > self.budget_tokens for one in self.asked)

    def kept(self, name: str | None = None) -> float | None:
        """The share of probes that were kept, of one name or all; None where there were none."""
        asked = sum(count for one in self.asked for probe, count in one.probes.items() if name in (None, probe))
        held = sum(count for one in self.asked for probe, count in one.kept.items() if name in (None, probe))
        return held / asked if asked else None

    @property
    def prefix_share(self) -> float:
        """The part of all bytes that the request before of the same kind began with too."""
        size = sum(one.size_bytes for one in self.asked)
        return sum(one.shared_bytes for one in self.asked) / size if size else 0.0

    @property
    def stable_share(self) -> float:
        """The part of the stable block's bytes that the request before of the same kind began with too."""
        size = sum(one.stable_bytes for one in self.asked)
        return sum(one.stable_shared_bytes for one in self.asked) / size if size else 0.0

    @property
    def growth(self) -> float:
        """Mean tokens of the last third of the requests against the middle third: about 1 is flat."""
        third = len(self.asked) // 3
        if third == 0:
            return 1.0
        middle = sum(one.tokens for one in self.asked[third : 2 * third])
        return sum(one.tokens for one in self.asked[-third:]) / middle

    def category_tokens(self) -> dict[str, float]:
        """Mean tokens per request by category."""
        sums: Counter[str] = Counter()
        for one in self.asked:
            sums.update(one.by_category)
        return {name: count / len(self.asked) for name, count in sorted(sums.items())}


@dataclass
class Meter:
    """Takes requests as they go out. Of each kind it remembers the bytes of the newest."""

    asked: list[Asked] = field(default_factory=list)
    _before: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)

    def take(
        self,
        *,
        kind: str,
        tokens: int,
        stable: bytes,
        rest: bytes,
        text: str,
        probes: list[Probe],
        by_category: Mapping[str, int] | None = None,
    ) -> None:
        """One request: `stable` begins it, `rest` follows, `text` is what probes are looked for in."""
        whole = stable + rest
        old_stable, old_whole = self._before.get(kind, (stable, b""))
        kept = [probe.name for probe in probes if probe.is_kept(text)]
        self.asked.append(
            Asked(
                kind=kind,
                tokens=tokens,
                by_category=dict(by_category or {}),
                size_bytes=len(whole),
                shared_bytes=_shared(whole, old_whole),
                stable_bytes=len(stable),
                stable_shared_bytes=_shared(stable, old_stable),
                kept=dict(Counter(kept)),
                probes=dict(Counter(probe.name for probe in probes)),
                lost=tuple(f"{probe.name}: {probe.values[0][:60]}" for probe in probes if not probe.is_kept(text)),
            )
        )
        self._before[kind] = (stable, whole)


def _shared(one: bytes, other: bytes) -> int:
    if one[: len(other)] == other:
        return len(other)
    low, high = 0, min(len(one), len(other))
    while low < high:  # the longest common beginning, by halves
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low
