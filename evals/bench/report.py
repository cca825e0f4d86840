"""What was measured, as values; only ratios travel from one machine to another."""

from collections.abc import Sequence
from statistics import quantiles

from state.value import Value

FLAT = 0.05  # how far from 1 the last may be from the first, and still count as flat


class Ratio(Value):
    """A ratio taken turn by turn: median and quartiles.

    `quiet` divides the fastest tenth of the one by the fastest tenth of the other: what is left when no neighbour
    uses the machine. Contention slows the empty loop more than it slows the app, so `median` flatters on a busy one.
    """

    median: float
    lower: float
    upper: float
    quiet: float


class Mark(Value):
    """The cost of a decision around one place in a long thread: medians and means of the decisions before it.

    `ratio` and `cpu_ratio` are of the graph to the empty loop. The bytes are what one decision adds to the checkpoints;
    `task_bytes` and `messages_bytes` are what two of the channels hold at the mark, as JSON.
    """

    decision: int
    graph_ms: float
    ask_ms: float
    floor_ms: float
    ratio: Ratio
    cpu_ratio: Ratio
    checkpoint_bytes: float
    floor_bytes: float
    task_bytes: int
    messages_bytes: int


class Turn(Value):
    """Milliseconds of one turn, per decision: the graph's run, the whole `ask` around it, the empty loop."""

    graph_ms: float
    graph_cpu_ms: float
    ask_ms: float
    floor_ms: float
    floor_cpu_ms: float


class Part(Value):
    """Milliseconds of one part of a decision: at the end of the long thread, and in a young thread beside it."""

    name: str
    old_ms: float
    young_ms: float


class Aged(Value):
    """A turn at the end of the long thread over one of a young thread beside it, pair by pair: what age alone costs."""

    ratio: Ratio
    cpu_ratio: Ratio
    parts: tuple[Part, ...]


class Verified(Value):
    """One `verify` of the whole thread at the end."""

    records: int
    bodies: int
    attempts: int
    seconds: float


class Report(Value):
    """Everything that was measured on one engine. `window` is how many decisions a mark looks back."""

    engine: str
    machine: dict[str, str | int]
    decisions: int
    window: int
    graph_ms: float
    ask_ms: float
    floor_ms: float
    graph_ratio: Ratio
    graph_cpu_ratio: Ratio
    ask_ratio: Ratio
    marks: tuple[Mark, ...]
    aged: Aged
    verified: Verified
    turns: tuple[Turn, ...]

    @property
    def bytes_grew(self) -> float:
        """The bytes that a decision adds to the checkpoints at the last mark, over those at the first."""
        return self.marks[-1].checkpoint_bytes / self.marks[0].checkpoint_bytes

    @property
    def time_grew(self) -> float:
        """A decision's time over the empty loop's at the last mark, over the same at the first."""
        return self.marks[-1].ratio.median / self.marks[0].ratio.median

    @property
    def cpu_grew(self) -> float:
        """The same of the processor's time, which neighbours disturb less, and which a server's work is not part of."""
        return self.marks[-1].cpu_ratio.median / self.marks[0].cpu_ratio.median


def ratio_of(ours: Sequence[float], others: Sequence[float]) -> Ratio:
    """The ratio of measurements that were taken in pairs."""
    lower, middle, upper = quantiles([one / other for one, other in zip(ours, others, strict=True)], n=4)
    quiet = quantiles(ours, n=10)[0] / quantiles(others, n=10)[0]
    return Ratio(median=middle, lower=lower, upper=upper, quiet=quiet)


def is_flat(grew: float) -> bool:
    """Whether something is the same at the end of a long thread as at its beginning."""
    return abs(grew - 1) <= FLAT
