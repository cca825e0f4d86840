"""Few-shot examples for the current decision (S4)."""

from collections.abc import Sequence

from state.domain import Example
from state.work import DecisionKind

MAX_EXAMPLES = 3


def choose_examples(examples: Sequence[Example], kind: DecisionKind, k: int = MAX_EXAMPLES) -> tuple[Example, ...]:
    """The first k examples of a decision kind, in the domain's order: the same ones in every lap."""
    return tuple(example for example in examples if example.kind is kind)[: max(0, k)]
