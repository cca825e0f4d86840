"""Age as a feature: half per half-life of the kind of source, and nothing where nobody said so (B2, S10)."""

from datetime import timedelta

import pytest

from nodes.pack.freshness import aged, source_kind
from retrieval.access import ALWAYS
from state.context import Kind
from state.knowledge import Candidate
from state.policy import Policy
from tests.desk import POLICY
from tests.fakes import NOW
from tests.nodes.packing import Packing
from tests.nodes.parts import Parts

HALF_LIVES = {"runbook": 30.0, "memory": 7.0}


def dated(source: str, days: float | None) -> Candidate:
    begins = None if days is None else NOW - timedelta(days=days)
    return Packing(Parts()).candidate(source, "text", source=source, effective_from=begins)


@pytest.mark.parametrize(
    ("source", "days", "freshness"),
    [
        ("runbook/keys@v7#limits", 0, 1.0),
        ("runbook/keys@v7#limits", 30, 0.5),
        ("runbook/keys@v7#limits", 60, 0.25),
        ("memory://m-1", 7, 0.5),
        ("runbook@v7#limits", 30, 0.5),
        ("manual/keys@v7#limits", 300, 1.0),
        ("runbook/keys@v7#limits", None, 1.0),
        ("runbook/keys@v7#limits", -1, 1.0),
    ],
)
def test_freshness_halves_with_each_half_life_of_its_kind(source: str, days: float | None, freshness: float) -> None:
    assert aged(dated(source, days), HALF_LIVES, NOW).freshness == freshness


def test_a_document_that_says_no_date_has_no_age() -> None:
    candidate = dated("runbook/keys@v7", 0).model_copy(update={"effective_from": ALWAYS})
    assert aged(candidate, HALF_LIVES, NOW) == candidate


@pytest.mark.parametrize(("source", "kind"), [("runbook/a@v1", "runbook"), ("memory://m", "memory"), ("", "")])
def test_the_kind_stands_first_in_the_address(source: str, kind: str) -> None:
    assert source_kind(source) == kind


def test_of_two_alike_in_all_else_the_fresh_one_comes_first_and_both_say_how_fresh_they_are(parts: Parts) -> None:
    packing = Packing(parts, policy=POLICY.model_copy(update={"half_life_days": {"news": 10.0}}))
    old, new = (
        packing.candidate(f"news/{name}", f"{name} words", effective_from=NOW - timedelta(days=days))
        for name, days in (("old", 20), ("new", 0))
    )
    manifest = packing.manifest([old, new])
    found = [item for item in manifest.items if item.kind is Kind.EVIDENCE]
    assert {item.item_id: item.provenance.scores["freshness"] for item in found} == {"news/new": 1.0, "news/old": 0.25}
    assert {item.item_id: item.provenance.scores["rank"] for item in found} == {"news/new": 1.0, "news/old": 2.0}


def test_a_policy_without_half_lives_is_written_as_before() -> None:
    policy = Policy(version="1", effective_from=NOW, approver_roles=())
    assert "half_life_days" not in policy.model_dump_json()
    assert Policy.model_validate_json(policy.model_dump_json()) == policy
