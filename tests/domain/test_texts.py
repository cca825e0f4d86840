"""What the domain writes for the model: instructions, examples, runbooks, memories, policies, cases."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

import domain
from domain.instructions import sections
from domain.seed import KEYS
from state.domain import Domain
from state.memory import MemorySource
from state.policy import PolicyMissing, effective
from state.work import DecisionKind
from tests.domain.conftest import NOW, Rows

CORPUS = sorted(domain.CORPUS.glob("*.md"))
CASES = sorted((Path(domain.__file__).parent / "cases").glob("*.yaml"))
REQUIRED = {"id", "title", "version", "effective_from", "tenant", "acl", "product", "language", "classification",
            "authority"}  # fmt: skip
OPTIONAL = {"effective_to", "supersedes"}


def split(path: Path) -> tuple[dict[str, Any], str]:
    _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(front), body


def test_there_are_ten_runbooks() -> None:
    fronts = [split(path)[0] for path in CORPUS]
    assert len({(front["id"], front["version"]) for front in fronts}) == len(fronts) == 10
    assert [front["id"] for front in fronts if front["tenant"] != "public"] == ["runbook/globex-uploads"]
    assert [front["id"] for front in fronts if front["language"] == "es"] == ["runbook/usage-quota"]


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_the_front_matter_of_a_runbook_is_complete(path: Path) -> None:
    front, body = split(path)
    assert set(front) >= REQUIRED
    assert set(front) <= REQUIRED | OPTIONAL
    assert re.fullmatch(r"runbook/[a-z-]+", front["id"])
    assert re.fullmatch(r"v[0-9]+", front["version"])
    assert front["effective_from"].tzinfo is not None
    assert front["tenant"] in {"public", "acme", "globex"}
    assert front["product"] == "api"
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
    assert {f"decide_{kind}" for kind in ("gather", "plan", "act", "answer", "report", "escalate")} <= set(names)
    files = {path.stem for path in (Path(domain.__file__).parent / "instructions").glob("*.md")}
    assert files == set(names)
    for section in support.instructions:
        assert not re.search(r"[0-9]", section.text), f"{section.name}: a value that changes belongs into the policy"
        assert re.fullmatch(r"h-[0-9a-f]{12}", section.version)
    assert sections() == support.instructions


def test_an_example_shows_right_beside_wrong(support: Domain) -> None:
    assert {example.kind for example in support.examples} == {
        DecisionKind.GATHER,
        DecisionKind.PLAN,
        DecisionKind.ANSWER,
    }
    for example in support.examples:
        assert "\nRight: " in example.text
        assert "\nWrong: " in example.text


def test_one_policy_holds_now_and_one_later(support: Domain) -> None:
    current = effective(support.policies, NOW)
    assert (current.max_decisions, current.approver_roles, current.self_approval) == (8, ("admin",), True)
    later = effective(support.policies, datetime(2032, 1, 1, tzinfo=UTC))
    assert later.version != current.version
    assert later.values != current.values
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
    assert any(memory.tenant == "globex" for memory in support.memories)


def test_a_memory_names_only_keys_that_exist(support: Domain) -> None:
    known = {row[0] for row in KEYS}
    for memory in support.memories:
        assert set(re.findall(r"K-[0-9]{4}", memory.text + memory.source_ref)) <= known


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case_has_the_form_that_evals_use(path: Path, support: Domain) -> None:
    case = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert set(case) - {"fixture"} == {
        "name", "input", "actor", "required_evidence", "required_tools", "forbidden_tools", "must_not_contain",
        "expected_outcome",
    }  # fmt: skip
    assert case["name"] == path.stem
    found = support.principal(case["actor"]["principal"])
    assert found is not None
    facts = {fact.name: fact.value for fact in found.facts}
    assert {name: facts[name] for name in ("account_id", "plan")} == {
        name: case["actor"][name] for name in ("account_id", "plan")
    }
    assert case["required_evidence"] == ["runbook/api-keys@v7#revoked-keys"]
    assert set(case["required_tools"]) <= {tool.contract.name for tool in support.tools}
    assert case["must_not_contain"] == ["sk-demo-"]
