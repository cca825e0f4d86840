"""A domain that names what it does not have is refused when the app opens, with every place."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from graph.domain_check import DomainBroken, check_domain
from graph.domain_loading import DomainNotLoaded, load_domain
from graph.home import claim_home
from graph.settings import SettingsError
from state.contract import Limit, OutputField, Rate
from state.domain import Domain, Rule
from state.labels import Argument
from state.memory import MemoryTerms, MemoryTopic
from state.tools import Tool
from state.work import DecisionKind, DecisionSpec
from tests.fakes import NOW, FakeClock


@pytest.fixture(scope="module")
def support(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    return load_domain("domain", tmp_path_factory.mktemp("support"), FakeClock(NOW))


def with_spec(spec: DecisionSpec) -> Callable[[Domain], Domain]:
    return lambda domain: replace(domain, table=domain.table.model_copy(update={"specs": (*domain.table.specs, spec)}))


def with_rule(rule: Rule) -> Callable[[Domain], Domain]:
    return lambda domain: replace(domain, table=domain.table.model_copy(update={"rules": (*domain.table.rules, rule)}))


def with_tool(**changes: object) -> Callable[[Domain], Domain]:
    def changed(domain: Domain) -> Domain:
        first = domain.tools[0]
        return replace(domain, tools=(*domain.tools, Tool(first.contract.model_copy(update=changes), first.run)))

    return changed


def for_no_decision(domain: Domain) -> Domain:
    topic = MemoryTopic(purpose="support", serves="act/nothing", basis="b", fact_days=1, hypothesis_days=1)
    terms = MemoryTerms(topics={"contact": topic})
    return replace(domain, policies=tuple(one.model_copy(update={"memory": terms}) for one in domain.policies))


reads_on = with_spec(DecisionSpec(kind=DecisionKind.GATHER, toolset="read_on", tools=("read_result",)))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param(
            with_spec(DecisionSpec(kind=DecisionKind.GATHER, toolset="x", tools=("no_tool",))),
            "decision gather/x names the tool 'no_tool', which there is not",
            id="a tool",
        ),
        pytest.param(
            with_tool(arguments={"acount_id": Argument(role="target")}),
            "names the argument 'acount_id', which there is not",
            id="an argument",
        ),
        pytest.param(
            with_tool(rates=(Rate(policy_key="n", per="turn", counts="amount", parameter="account_id"),)),
            "has a rate of the amounts of 'account_id', which is not always a number",
            id="a sum of what is no number",
        ),
        pytest.param(
            with_tool(output=(OutputField(name="subject", own_if="writer"),)),
            "names the field 'writer', which there is not",
            id="a field that says who wrote",
        ),
        pytest.param(
            with_tool(output=(OutputField(name="readers", told_in="body"),)),
            "names the field 'body', which there is not",
            id="a field that mentions people",
        ),
        pytest.param(
            with_spec(DecisionSpec(kind=DecisionKind.ANSWER, toolset="x", instructions=("decide_plam",))),
            "decision answer/x names the instruction 'decide_plam', which there is not",
            id="an instruction",
        ),
        pytest.param(
            with_spec(DecisionSpec(kind=DecisionKind.CLARIFY, toolset="x")),
            "decision clarify/x offers neither a tool nor a form",
            id="nothing to propose",
        ),
        pytest.param(with_rule(Rule(name="odd", then="gather/nowhere")), "leads to 'gather/nowhere'", id="a rule"),
        pytest.param(
            with_tool(name="disable_api_key"), "tool disable_api_key stands in no decision", id="a tool in no decision"
        ),
        pytest.param(with_tool(name="answer"), "tool answer has the name of an answer form", id="a form's name"),
        pytest.param(
            with_tool(name="other", roles=(), resources={"id": "planet"}),
            "names the resource 'planet'",
            id="a resource",
        ),
        pytest.param(
            with_tool(name="other", roles=(), limits=(Limit(parameter="n", policy_key="most"),)),
            "tool other needs most, which policy",
            id="a limit",
        ),
        pytest.param(
            with_tool(name="other", roles=(), limits=(Limit(parameter="n", policy_key="most"),)),
            "tool other names the argument 'n', which there is not",
            id="a limit's argument",
        ),
        pytest.param(
            lambda domain: replace(
                domain, examples=(domain.examples[0].model_copy(update={"holds_while": {"most": 1}}),)
            ),
            "example check-before-change names the policy value 'most'",
            id="an example's policy value",
        ),
        pytest.param(
            for_no_decision,
            "memory topic contact serves act/nothing for the purpose 'support', and no such decision loads",
            id="a memory for no decision",
        ),
        pytest.param(with_tool(name="read_result"), "has the name of the engine's own tool", id="the engine's tool"),
        pytest.param(with_tool(), "2 tools are named check_api_key_status", id="one name twice"),
        pytest.param(
            lambda domain: replace(reads_on(domain), resources={**domain.resources, "result": lambda scope, one: True}),
            "the resource 'result' is what read_result reads",
            id="the engine's resource",
        ),
    ],
)
def test_what_is_named_and_not_there_is_told(support: Domain, change: Callable[[Domain], Domain], says: str) -> None:
    check_domain(support)
    with pytest.raises(DomainBroken) as broken:
        check_domain(change(support))
    assert says in str(broken.value)
    assert "\n" not in str(broken.value)


def test_the_engines_own_tool_may_be_offered(support: Domain) -> None:
    check_domain(reads_on(support))


def test_a_home_belongs_to_one_domain(tmp_path: Path) -> None:
    claim_home(tmp_path, "domain")
    claim_home(tmp_path, "domain")
    with pytest.raises(SettingsError, match="holds the data of domain 'domain'; allowed: one domain a home"):
        claim_home(tmp_path, "garden")


def test_a_mark_that_was_left_half_written_is_nobodys(tmp_path: Path) -> None:
    (tmp_path / "of-domain").touch()
    claim_home(tmp_path, "domain")
    claim_home(tmp_path, "domain")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["of-domain"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = = 1\n", "line 1: invalid syntax; mend it there"),
        ("raise RuntimeError('tools are gone')\n", "line 1: RuntimeError; mend it there"),
        ("def load(folder, now):\n    return 1 / 0\n", "line 2: ZeroDivisionError; mend it there"),
        ("import no_such_module\n", "No module named 'no_such_module'"),
        ("x = 1\n", "exports no load(folder, now)"),
    ],
    ids=["syntax", "import", "load", "a missing module", "no load"],
)
def test_a_domain_that_cannot_be_loaded_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, says: str
) -> None:
    name = f"broken_{abs(hash(text))}"
    (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(DomainNotLoaded) as refused:
        load_domain(name, tmp_path / "data", FakeClock(NOW))
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("odd", [{"counts": "amount"}, {"parameter": "amount"}, {"counts": "cost", "parameter": "a"}])
def test_a_rate_of_amounts_names_its_argument_and_no_other_rate_does(odd: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="a rate of amounts names the parameter"):
        Rate.model_validate({"policy_key": "n", "per": "turn", **odd})
