"""Which of the domain's examples a question brings (S4), against questions with the one that helps most."""

from pathlib import Path

import yaml

from retrieval.examples import Examples
from state.domain import Domain
from state.policy import effective
from state.work import DecisionKind
from tests.fakes import NOW

LABELLED = yaml.safe_load((Path(__file__).parent / "examples.yaml").read_text(encoding="utf-8"))


def test_the_example_that_helps_most_stands_first(support: Domain) -> None:
    chosen = Examples(support.examples)
    policy = effective(support.policies, NOW)
    missed = []
    for one in LABELLED:
        (first, *_) = chosen.choose(DecisionKind(one["kind"]), one["ask"], policy, 2)
        if first.example_id != one["wants"]:
            missed.append((one["ask"], first.example_id))
    by_order = sum(
        next(example for example in support.examples if example.kind.value == one["kind"]).example_id == one["wants"]
        for one in LABELLED
    )
    assert by_order == 7  # of 16: what the order alone would give
    assert missed == []
