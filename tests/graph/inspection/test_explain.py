"""Explain (M5): every item of a decision has a reason, on the figures that decided."""

from itertools import pairwise

import pytest

from graph.inspection.explain import CHOSEN, REQUIRED, Explanation, explain
from graph.inspection.finding import NoSuchDecision
from tests.graph.conftest import OpenApp

QUESTION = "Why is my API key not working?"


@pytest.fixture
def explained(start: OpenApp) -> Explanation:
    app = start()
    app.ask(QUESTION, as_="ana@acme", thread="t")
    return explain(app, "t", 0, as_="ana@acme")


def test_every_item_and_every_candidate_left_out_has_its_rule(start: OpenApp) -> None:
    app = start()
    app.ask(QUESTION, as_="ana@acme", thread="t")
    manifest = app.records("t", as_="ana@acme")[0].manifest
    assert manifest is not None
    found = explain(app, "t", 0, as_="ana@acme")
    assert [why.item_id for why in found.items if why.chosen] == [item.item_id for item in manifest.items]
    assert {why.item_id for why in found.items if not why.chosen} == {one.item_id for one in manifest.dropped}
    assert all(why.rule for why in found.items)


def test_what_was_scored_tells_its_utility_from_features_and_weights(explained: Explanation) -> None:
    assert explained.weights is not None
    scored = [why for why in explained.items if why.utility is not None]
    assert len(scored) > 5
    for why in scored:
        weight, feature = explained.weights, why.features
        worth = 1.0
        for name in ("relevance", "authority", "freshness"):
            worth *= weight[name] * feature[name]
        less = sum(weight[name] * feature.get(name, 0.0) for name in ("redundancy", "injection_risk"))
        assert why.utility == pytest.approx(worth - less, abs=1e-5)


def test_ranks_follow_worth_and_the_budget_shrinks_by_what_was_chosen(explained: Explanation) -> None:
    ranked = sorted((why for why in explained.items if why.rank is not None), key=lambda why: why.rank or 0)
    assert [why.rank for why in ranked] == list(range(1, len(ranked) + 1))
    for before, after in pairwise(ranked):
        assert before.budget_left_tokens is not None
        taken = before.tokens or 0 if before.chosen else 0
        assert after.budget_left_tokens == before.budget_left_tokens - taken


def test_required_items_are_told_apart_from_chosen_ones(explained: Explanation) -> None:
    rules = {why.item_id: why.rule for why in explained.items if why.chosen}
    assert rules["policy"] == rules["objective"] == rules["check_api_key_status"] == REQUIRED
    assert rules["runbook/api-keys@v7#revoked-keys"] == rules["mem-key-created"] == CHOSEN


def test_one_item_is_found_by_id_or_source_and_an_unknown_one_told(start: OpenApp) -> None:
    app = start()
    app.ask(QUESTION, as_="ana@acme", thread="t")
    (old,) = explain(app, "t", 0, as_="ana@acme", item="runbook/api-keys@v6").items
    assert (old.chosen, old.rule) == (False, "a newer version is in force, or another memory of its topic")
    (own,) = explain(app, "t", 0, as_="ana@acme", item="memory://mem-key-created").items
    assert own.item_id == "mem-key-created"
    with pytest.raises(NoSuchDecision, match=r"got item 'absent'; decision 0 knows: role, policy"):
        explain(app, "t", 0, as_="ana@acme", item="absent")


def test_it_shows_itself_as_a_table(explained: Explanation) -> None:
    shown = explained._repr_html_()
    assert "runbook/api-keys@v7#revoked-keys" in shown
    assert "a newer version is in force, or another memory of its topic" in shown
