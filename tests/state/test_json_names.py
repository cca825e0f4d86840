"""The JSON names of an item, a manifest and an attempt are fixed (M1, M2): records of years are read by them."""

import json

from state.context import (
    Classification,
    ContextItem,
    ContextManifest,
    Dropped,
    DropReason,
    Flag,
    Kind,
    Masked,
    MaskReason,
    Provenance,
    RequestSettings,
    Span,
    Truncated,
    Trust,
)
from state.request import Attempt, AttemptOutcome, Usage
from tests.fakes import NOW

ITEM = ContextItem(
    item_id="runbook/api-keys@v7#revoked-keys",
    kind=Kind.EVIDENCE,
    source="runbook/api-keys@v7#revoked-keys",
    trust=Trust.UNTRUSTED,
    retrieved_at=NOW,
    version="v7",
    token_count=42,
    ref="art-1",
    provenance=Provenance(
        tenant="acme",
        scope="customers",
        classification=Classification.INTERNAL,
        span=Span(start=10, end=20, section="Revoked keys"),
        content_hash="art-1",
        scores={"relevance": 0.5},
        effective_from=NOW,
        effective_to=NOW,
        origin_turn=3,
        derived_from=("art-0",),
    ),
)
ITEM_JSON = {
    "item_id": "runbook/api-keys@v7#revoked-keys",
    "kind": "evidence",
    "source": "runbook/api-keys@v7#revoked-keys",
    "trust": "untrusted",
    "retrieved_at": "2026-07-15T09:30:00Z",
    "version": "v7",
    "token_count": 42,
    "ref": "art-1",
    "provenance": {
        "tenant": "acme",
        "scope": "customers",
        "classification": "internal",
        "span": {"start": 10, "end": 20, "section": "Revoked keys"},
        "content_hash": "art-1",
        "scores": {"relevance": 0.5},
        "effective_from": "2026-07-15T09:30:00Z",
        "effective_to": "2026-07-15T09:30:00Z",
        "origin_turn": 3,
        "derived_from": ["art-0"],
    },
}
MANIFEST = ContextManifest(
    request_id="req-1",
    tenant_id="acme",
    decision_kind="gather",
    toolset="diagnose",
    items=(ITEM,),
    total_input_tokens=50,
    overhead_tokens=8,
    budget_tokens=100,
    window_tokens=200,
    reserved_output_tokens=50,
    dropped=(
        Dropped(
            item_id="d",
            kind=Kind.MEMORY,
            source="memory://d",
            version="v1",
            token_count=9,
            scores={"utility": -0.5},
            reason=DropReason.UTILITY_NOT_POSITIVE,
        ),
    ),
    truncated=(Truncated(item_id="t", original_ref="art-2", kept_tokens=1, full_tokens=2, reason="cap"),),
    masked=(Masked(item_id="m", original_ref="art-3", reason=MaskReason.REPEATED),),
    flags=(Flag(item_id="f", name="injection_signs", count=12, score=0.6),),
    tokenizer="o200k_base",
    prefix_hash="p",
    policy_version="support-1",
    policy_ref="art-4",
    settings=RequestSettings(max_output_tokens=50, temperature=0.0),
)
MANIFEST_JSON = {
    "request_id": "req-1",
    "tenant_id": "acme",
    "decision_kind": "gather",
    "toolset": "diagnose",
    "items": [ITEM_JSON],
    "total_input_tokens": 50,
    "overhead_tokens": 8,
    "budget_tokens": 100,
    "window_tokens": 200,
    "reserved_output_tokens": 50,
    "dropped": [
        {
            "item_id": "d",
            "kind": "memory",
            "source": "memory://d",
            "version": "v1",
            "token_count": 9,
            "scores": {"utility": -0.5},
            "reason": "utility_not_positive",
        }
    ],
    "truncated": [{"item_id": "t", "original_ref": "art-2", "kept_tokens": 1, "full_tokens": 2, "reason": "cap"}],
    "masked": [{"item_id": "m", "original_ref": "art-3", "reason": "repeated"}],
    "flags": [{"item_id": "f", "name": "injection_signs", "count": 12, "score": 0.6}],
    "tokenizer": "o200k_base",
    "prefix_hash": "p",
    "policy_version": "support-1",
    "policy_ref": "art-4",
    "settings": {"max_output_tokens": 50, "temperature": 0.0},
}


def test_the_names_of_an_item() -> None:
    assert json.loads(ITEM.model_dump_json()) == ITEM_JSON
    assert ContextItem.model_validate(ITEM_JSON) == ITEM


def test_the_names_of_a_manifest() -> None:
    assert json.loads(MANIFEST.model_dump_json()) == MANIFEST_JSON
    assert ContextManifest.model_validate(MANIFEST_JSON) == MANIFEST


def test_the_names_of_an_attempt_and_usage_that_nobody_reported() -> None:
    attempt = Attempt(
        manifest_ref="art-5",
        request_hash="r",
        mode="tools",
        model="m",
        usage=Usage(output_tokens=3),
        outcome=AttemptOutcome(name="proposal"),
    )
    assert json.loads(attempt.model_dump_json()) == {
        "manifest_ref": "art-5",
        "request_hash": "r",
        "mode": "tools",
        "model": "m",
        "usage": {"input_tokens": None, "output_tokens": 3, "cached_tokens": None, "reasoning_tokens": None},
        "outcome": {"name": "proposal", "detail": ""},
    }


def test_the_kinds_and_trusts_are_the_fixed_ones() -> None:
    assert [kind.value for kind in Kind] == ["instruction", "task_state", "evidence", "memory", "tool"]
    assert [trust.value for trust in Trust] == ["policy", "system", "user", "untrusted"]
