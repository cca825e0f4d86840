"""Utility (B2): the known answer, and what more room may and may not change."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.pack.budget import Window
from nodes.pack.drafts import Draft, Drafts
from nodes.pack.scanning import Scans
from nodes.pack.utility import Chosen, choose
from state.context import Kind
from state.policy import UtilityWeights
from tests.fakes import NOW, CharCounter
from tests.nodes.packing import Packing
from tests.nodes.parts import Parts

RULE = "refunds within thirty days of delivery are paid back to the card"
FEATURES = ("relevance", "authority", "freshness", "redundancy", "injection_risk", "crowding")
WANTED = {
    "policy-v3": {"tokens": 900, "relevance": 0.9, "authority": 1.0, "freshness": 1.0, "text": RULE},
    "forum-post": {"tokens": 400, "relevance": 0.9, "authority": 0.3, "freshness": 1.0, "text": "I got mine in May"},
    "policy-v2": {"tokens": 900, "relevance": 0.9, "authority": 1.0, "freshness": 0.2, "text": RULE},
}


def chosen(offers: dict[str, dict[str, Any]], budget_tokens: int, places: int = 99, diversity: float = 0.3) -> Chosen:
    """The choice among candidates of these features, each of as many tokens as it says."""
    packing = Packing(Parts())
    drafts = Drafts(packing.parts.artifacts, CharCounter(), "t1", NOW)
    candidates = [
        packing.candidate(name, **{key: value for key, value in offer.items() if key != "tokens"})
        for name, offer in offers.items()
    ]
    pairs = [
        (candidate, _of(draft, offers[draft.item.item_id]["tokens"]))
        for candidate, draft in zip(candidates, drafts.candidates(candidates), strict=True)
    ]
    weights = UtilityWeights(diversity=diversity)
    return choose(pairs, weights, budget_tokens, {Kind.EVIDENCE: places}, Scans())


def _of(draft: Draft, tokens: int) -> Draft:
    return draft._replace(item=draft.item.model_copy(update={"token_count": tokens}))


@pytest.mark.parametrize("window_tokens", [4_000, 5_000])
def test_the_known_answer(window_tokens: int) -> None:
    # Another tenant's document is no candidate: it was filtered before ranking, and stands in neither list.
    window = Window(window_tokens=window_tokens, reserved_output_tokens=1_500)
    found = chosen(WANTED, window.input_tokens() - 500)
    assert [draft.item.item_id for draft in found.drafts] == ["policy-v3", "forum-post"]
    assert [(dropped.item_id, dropped.reason) for dropped in found.dropped] == [("policy-v2", "utility_not_positive")]
    assert sum(draft.item.token_count for draft in found.drafts) == 1_300


def test_every_feature_is_recorded_between_0_and_1() -> None:
    found = chosen(WANTED, 2_000)
    for scores in (*(draft.item.provenance.scores for draft in found.drafts), *(one.scores for one in found.dropped)):
        features = {name: scores[name] for name in FEATURES}
        assert all(0 <= value <= 1 for value in features.values()), features


def of_sources(**relevance: list[float]) -> dict[str, dict[str, Any]]:
    """Texts of some sources, each of words of its own: `a=[.9, .8]` gives a1 and a2, both of the document a."""
    return {
        f"{source}{n}": {"tokens": 1, "relevance": one, "source": f"{source}@v1#part-{n}", "text": f"{source}{n} alone"}
        for source, values in relevance.items()
        for n, one in enumerate(values, start=1)
    }


@pytest.mark.parametrize(
    ("offers", "places", "diversity", "expected"),
    [
        pytest.param(of_sources(a=[1.0, 0.99, 0.98], b=[0.75]), 2, 0.3, ["a1", "b1"], id="the other comes near"),
        pytest.param(of_sources(a=[1.0, 0.99, 0.98], b=[0.65]), 2, 0.3, ["a1", "a2"], id="the other is far off"),
        pytest.param(of_sources(a=[1.0, 0.99], b=[0.7]), 2, 0.3, ["a1", "b1"], id="the other at the very bound"),
        pytest.param(of_sources(a=[1.0, 0.5], b=[0.75]), 3, 0.3, ["a1", "b1", "a2"], id="all have a place"),
        pytest.param(of_sources(a=[1.0, 0.6], b=[0.65]), 2, 0.3, ["a1", "b1"], id="worth more by itself"),
        pytest.param(of_sources(a=[1.0, 0.99], b=[0.9, 0.89], c=[0.8]), 4, 0.3, ["a1", "b1", "c1", "a2"], id="three"),
        pytest.param(of_sources(a=[1.0, 0.99, 0.98], b=[0.97]), 3, 0.0, ["a1", "a2", "a3"], id="without diversity"),
        pytest.param(of_sources(a=[1.0, 0.99], b=[0.1]), 2, 1.0, ["a1", "b1"], id="each once before any twice"),
    ],
)
def test_one_source_does_not_crowd_out_another(
    offers: dict[str, dict[str, Any]], places: int, diversity: float, expected: list[str]
) -> None:
    for order in (offers, dict(reversed(offers.items()))):
        assert [draft.item.item_id for draft in chosen(order, 99, places, diversity).drafts] == expected


def test_what_a_hint_found_moves_nobody() -> None:
    offers = of_sources(a=[1.0, 0.99], b=[0.9])
    offers["b1"]["scores"] = {"hint": 0.6}
    assert [draft.item.item_id for draft in chosen(offers, 99, 2).drafts] == ["a1", "a2"]


def test_by_how_much_a_turn_fell_is_recorded() -> None:
    found = chosen(of_sources(a=[1.0, 0.9], b=[0.8]), 99)
    crowding = {draft.item.item_id: draft.item.provenance.scores["crowding"] for draft in found.drafts}
    assert crowding == {"a1": 0.0, "b1": 0.0, "a2": 0.2}


SHARE = st.integers(1, 10).map(lambda tenths: tenths / 10)
OFFER = st.fixed_dictionaries(
    {"tokens": st.integers(1, 400), "relevance": SHARE, "authority": SHARE, "freshness": SHARE}
)


@settings(max_examples=200, deadline=None)
@given(
    offers=st.lists(st.tuples(OFFER, st.sampled_from("abc")), max_size=8),
    budget=st.integers(0, 900),
    more=st.integers(0, 900),
)
def test_more_room_never_chooses_worse_by_rank(
    offers: list[tuple[dict[str, Any], str]], budget: int, more: int
) -> None:
    # Each text has words of its own, so that no choice changes another's score.
    named = {
        f"d{n}": {**offer, "text": f"word{n} only{n} here{n}", "source": f"{source}@v1#part-{n}"}
        for n, (offer, source) in enumerate(offers)
    }
    small, large = (chosen(named, room) for room in (budget, budget + more))
    assert _ranks(large) <= _ranks(small)  # the first rank where they differ is in the larger one


def _ranks(found: Chosen) -> list[float]:
    """The ranks of what was chosen, ended by a rank that nothing has: a longer list of the same beginning is better."""
    return [*(draft.item.provenance.scores["rank"] for draft in found.drafts), float("inf")]
