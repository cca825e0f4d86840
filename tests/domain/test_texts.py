"""What the domain writes for the model: instructions, examples, runbooks, memories, policies."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

import domain
from domain.instructions import sections
from domain.seed.keys import KEYS
from state.domain import Domain
from state.memory import MemorySource
from state.policy import PolicyMissing, effective
from state.work import DecisionKind
from tests.domain.conftest import NOW, Rows

CORPUS = sorted(domain.CORPUS.glob("*.md"))
REQUIRED = {"id", "title", "version", "effective_from", "tenant", "acl", "product", "language", "classification",
            "authority"}  # fmt: skip
OPTIONAL = {"states", "effective_to", "supersedes"}


def split(path: Path) -> tuple[dict[str, Any], str]:
    _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(front), body


def in_force(fronts: list[dict[str, Any]]) -> set[tuple[str, str]]:
    begun = [front for front in fronts if front["effective_from"] <= NOW]
    newest = {front["id"]: front for front in sorted(begun, key=lambda front: front["effective_from"])}
    return {(front["id"], front["version"]) for front in newest.values()}


def test_the_corpus_has_every_sort_of_runbook() -> None:
    fronts = [split(path)[0] for path in CORPUS]
    every = {(front["id"], front["version"]) for front in fronts}
    assert len(every) == len(fronts)
    assert len({front["id"] for front in fronts}) >= 30
    future = {(front["id"], front["version"]) for front in fronts if front["effective_from"] > NOW}
    assert len(future) >= 4
    assert len(every - future - in_force(fronts)) >= 4  # superseded
    assert {front["tenant"] for front in fronts} == {"public", "acme", "globex", "maravel"}
    assert {front["product"] for front in fronts} == {"api", "sdk", "exports"}
    assert len({front["id"] for front in fronts if front["language"] == "es"}) >= 6
    assert any("staff" in front["acl"] for front in fronts)


def test_some_runbooks_are_several_screens_long_and_some_hold_tables_and_code() -> None:
    bodies = {path.stem: split(path)[1] for path in CORPUS}
    assert sum(len(body.splitlines()) > 50 for body in bodies.values()) >= 2
    assert sum("\n|---|" in body for body in bodies.values()) >= 6
    assert sum("```" in body for body in bodies.values()) >= 6


def test_a_cross_link_names_a_runbook_that_exists() -> None:
    known = {split(path)[0]["id"] for path in CORPUS}
    linked = [link for path in CORPUS for link in re.findall(r"runbook/[a-z-]+", split(path)[1])]
    assert len(linked) >= 10
    assert set(linked) <= known


def test_two_runbooks_in_force_contradict_each_other_on_one_point() -> None:
    """On purpose: how often a delivery is repeated. Both are in force, so a request has to show both."""
    tried = {
        name: re.findall(r"tried again (\w+) times in two days", (domain.CORPUS / f"{name}.md").read_text("utf-8"))
        for name in ("webhooks", "event-endpoints")
    }
    assert tried == {"webhooks": ["eight"], "event-endpoints": ["five"]}
    fronts = [split(path)[0] for path in CORPUS]
    assert {("runbook/webhooks", "v5"), ("runbook/event-endpoints", "v2")} <= in_force(fronts)


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_the_front_matter_of_a_runbook_is_complete(path: Path) -> None:
    front, body = split(path)
    assert set(front) >= REQUIRED
    assert set(front) <= REQUIRED | OPTIONAL
    assert re.fullmatch(r"runbook/[a-z-]+", front["id"])
    assert re.fullmatch(r"v[0-9]+", front["version"])
    assert front["effective_from"].tzinfo is not None
    assert front["tenant"] in {"public", "acme", "globex", "maravel"}
    assert front["product"] in {"api", "sdk", "exports"}
    assert front["classification"] in {"public", "internal"}
    assert 0 < front["authority"] <= 1
    assert body.strip().startswith("# ")


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_each_sentence_of_a_runbook_stands_on_a_line_of_its_own(path: Path) -> None:
    body = re.sub(r"```.*?```", "", split(path)[1], flags=re.DOTALL)
    for line in filter(None, map(str.strip, body.splitlines())):
        if not line.startswith(("#", "|")):
            assert re.fullmatch(r".{10,115}[.]", line), line
            assert ". " not in line, line


def test_of_the_versions_of_a_runbook_one_is_current() -> None:
    versions = {front["version"]: front for front, _ in map(split, CORPUS) if front["id"] == "runbook/api-keys"}
    assert set(versions) == {"v6", "v7", "v8"}
    assert versions["v6"]["effective_from"] == datetime(2025, 3, 1, tzinfo=UTC)
    assert versions["v7"]["effective_from"] == datetime(2026, 2, 1, tzinfo=UTC)
    assert versions["v8"]["effective_from"] == datetime(2031, 1, 1, tzinfo=UTC)
    assert versions["v7"]["supersedes"] == "runbook/api-keys@v6"
    assert versions["v8"]["supersedes"] == "runbook/api-keys@v7"


def test_the_current_runbook_says_what_the_worked_example_needs() -> None:
    body = (domain.CORPUS / "api-keys.v7.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", body, re.MULTILINE)
    assert headings[:3] == ["Check the key first", "Revoked keys", "Rotate a key"]
    revoked = body.split("## Revoked keys")[1].split("##")[0]
    assert "cannot be restored" in revoked
    assert "separately authorised" in revoked


def test_what_the_model_reads_holds_no_id_and_no_value(support: Domain, rows: Rows) -> None:
    texts = [path.read_text(encoding="utf-8") for path in CORPUS]
    texts += [section.text for section in support.instructions]
    texts += [example.text for example in support.examples]
    for text in texts:
        assert not re.search(r"\b(A-[0-9]{3}|K-[0-9]{4}|T-[0-9]{3}|INC-[0-9]+|sk-demo)\b", text)


def test_a_section_is_durable_and_its_version_changes_with_its_text(support: Domain) -> None:
    names = [section.name for section in support.instructions]
    assert names[:4] == ["role", "policy", "tool_guidance", "output"]
    assert {f"decide_{kind}" for kind in ("gather", "plan", "act", "answer", "report", "clarify", "escalate")} <= set(
        names
    )
    files = {path.stem for path in (Path(domain.__file__).parent / "instructions").glob("*.md")}
    assert files == set(names)
    for section in support.instructions:
        assert not re.search(r"[0-9]", section.text), f"{section.name}: a value that changes belongs into the policy"
        assert re.fullmatch(r"h-[0-9a-f]{12}", section.version)
    assert sections() == support.instructions


def test_an_example_shows_right_beside_wrong(support: Domain) -> None:
    # Code builds what closes a run, so there is nothing to show.
    assert {example.kind for example in support.examples} == set(DecisionKind) - {DecisionKind.CLOSE}
    assert len({example.example_id for example in support.examples}) == len(support.examples)
    for example in support.examples:
        assert "\nRight: " in example.text
        assert "\nWrong: " in example.text


def test_one_policy_held_before_one_holds_now_and_one_later(support: Domain) -> None:
    current = effective(support.policies, NOW)
    assert (current.max_decisions, current.self_approval) == (8, True)
    assert current.approver_roles == ("admin", "supervisor")
    before = effective(support.policies, datetime(2024, 1, 1, tzinfo=UTC))
    later = effective(support.policies, datetime(2032, 1, 1, tzinfo=UTC))
    assert len({before.version, current.version, later.version}) == 3
    assert before.values["credit_limit"] == 30
    assert current.values["credit_limit"] == 50
    assert later.values["credit_limit"] == 80
    assert set(before.values) == set(current.values) == set(later.values)
    with pytest.raises(PolicyMissing):
        effective(support.policies, datetime(2020, 1, 1, tzinfo=UTC))


def test_one_memory_passes_the_four_checks_for_ana(support: Domain, rows: Rows) -> None:
    ana = support.principal("ana@acme")
    assert ana is not None
    hers = [memory for memory in support.memories if memory.tenant == "acme" and memory.subject in ana.subjects]
    passing = [
        memory
        for memory in hers
        if memory.purpose == "support" and memory.expires_at > NOW and memory.source is not MemorySource.UNKNOWN
    ]
    assert [memory.memory_id for memory in passing] == ["mem-key-created"]
    (memory,) = passing
    (created,) = rows("SELECT created_at FROM api_keys WHERE key_id = 'K-1007'")
    assert created[0][:10] in memory.text
    assert memory.source is MemorySource.SYSTEM_RECORD
    assert (memory.source_ref, (memory.expires_at - NOW).days) == ("api_key://K-1007", 30)
    # Each check keeps something out, and the other tenant has memories too.
    assert any(memory.expires_at <= NOW for memory in hers)
    assert {memory.source for memory in hers if memory.purpose == "billing"} == {
        MemorySource.USER_STATED,
        MemorySource.MODEL_INFERRED,
    }
    assert any(memory.source is MemorySource.UNKNOWN for memory in hers)
    assert {memory.tenant for memory in support.memories} == {"acme", "globex", "maravel"}


def test_a_memory_names_only_keys_that_exist(support: Domain) -> None:
    known = {row[0] for row in KEYS}
    for memory in support.memories:
        assert set(re.findall(r"K-[0-9]{4}", memory.text + memory.source_ref)) <= known
