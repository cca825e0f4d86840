"""The engine has no domain word: a fork that replaces `domain/` finds nothing of it elsewhere (U7)."""

import re
from pathlib import Path

import pytest
import yaml

from graph.domain_loading import load_domain
from state.domain import Domain
from tests.fakes import NOW, FakeClock

ROOT = Path(__file__).resolve().parent.parent
ENGINE = [path for room in ("state", "nodes", "retrieval", "graph", "evals") for path in (ROOT / room).rglob("*.py")]


@pytest.fixture(scope="module")
def support(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    return load_domain("domain", tmp_path_factory.mktemp("support"), FakeClock(NOW))


def words(domain: Domain) -> dict[str, str]:
    """The domain's own words, each with what it is."""
    found = {tool.contract.name: "tool" for tool in domain.tools}
    found |= {key: "policy key" for policy in domain.policies for key in policy.values}
    found |= dict.fromkeys(domain.principals(), "principal")
    for page in domain.corpus.rglob("*.md"):
        front = yaml.safe_load(page.read_text(encoding="utf-8").split("---")[1])
        found[front["id"]] = "document"
        found[front["tenant"]] = "tenant"
    found.pop("public")
    return found


def test_the_engine_names_nothing_of_the_domain(support: Domain) -> None:
    own = words(support)
    assert len(own) > 40
    code = {path: path.read_text(encoding="utf-8") for path in ENGINE}
    # Docstrings may give examples of an address or a principal; a tool or a policy key may stand nowhere.
    example = ("principal", "document", "tenant")
    found = [
        f"{path.relative_to(ROOT)}: {kind} {word}"
        for path, text in code.items()
        for word, kind in own.items()
        if re.search(rf"(?<![\w/]){re.escape(word)}(?!\w)", _code(text) if kind in example else text)
    ]
    assert found == []


def _code(text: str) -> str:
    """The text without docstrings and comments."""
    return re.sub(r'"""(?:.|\n)*?"""|#[^\n]*', "", text)
