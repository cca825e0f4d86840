"""Few-shot examples for the current decision (S4): of its kind, right under the policy in force, nearest the question.

Nearness is the weight of the words that a question and an example share, rare ones more: no model is asked, so the
same question brings the same examples everywhere. What shares no word keeps the domain's order.
"""

import math
from collections import Counter
from collections.abc import Sequence

from retrieval.words import index_words
from state.domain import Example
from state.policy import Policy
from state.work import DecisionKind


class Examples:
    """The domain's examples, their words counted once."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self._examples = tuple(examples)
        self._words = [frozenset(index_words(example.text)) for example in examples]

    def choose(self, kind: DecisionKind, question: str, policy: Policy, k: int) -> tuple[Example, ...]:
        """The k examples nearest the question, the nearest first; of equally near ones the domain's earlier."""
        fitting = [
            (example, words)
            for example, words in zip(self._examples, self._words, strict=True)
            if example.kind is kind and _right_under(example, policy)
        ]
        held_by = Counter(word for _, words in fitting for word in words)
        asked = frozenset(index_words(question))

        def nearness(words: frozenset[str]) -> float:
            # A word that every example has tells none from another.
            return sum(math.log(len(fitting) / held_by[word]) for word in sorted(words & asked))

        ranked = sorted(fitting, key=lambda pair: -nearness(pair[1]))
        return tuple(example for example, _ in ranked[: max(0, k)])


def _right_under(example: Example, policy: Policy) -> bool:
    return all(policy.values.get(name) == value for name, value in example.holds_while.items())
