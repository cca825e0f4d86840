"""The models know nothing of any domain: no word of the shipped one stands in their code, and a random one works."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from domain.tools import tools
from graph.models import registry
from graph.models.registry import open_model
from state.work import DecisionKind, Form
from tests.domains.random_desk import Desk, random_tools
from tests.domains.random_names import Names
from tests.graph.models.rendered import Working

READER = open_model("offline")
SEEDS = range(40)
CODE = sorted(Path(registry.__file__).parent.glob("*.py"))


def proposed(working: Working) -> tuple[str, dict[str, Any]]:
    (call,) = READER.reply(working.request()).calls
    return call.name, json.loads(call.arguments)


@pytest.fixture(params=SEEDS, ids=lambda seed: f"seed {seed}")
def desk(request: pytest.FixtureRequest) -> Desk:
    return Desk(Names(request.param))


def test_gather_reads_what_the_question_is_about(desk: Desk) -> None:
    found, listed, _ = (tool.contract for tool in random_tools(desk))
    owner = desk.names.things[0]
    working = Working(desk.question, tools=[listed, found])
    working.fact(f"{owner}_id", desk.holder_id)
    assert proposed(working) == (found.name, {f"{owner}_id": desk.holder_id})


def test_gather_takes_a_choice_from_the_users_words(desk: Desk) -> None:
    found, listed, _ = (tool.contract for tool in random_tools(desk))
    place, state = desk.names.things[3], desk.names.states[1]
    assert proposed(Working(f"Is the {place} {state.upper()}?", tools=[found, listed])) == (listed.name, {place: state})


def test_a_wish_is_planned_with_the_read_that_it_needs_and_then_done(desk: Desk) -> None:
    found, listed, changed = (tool.contract for tool in random_tools(desk))
    owner, item = desk.names.things[:2]
    assert proposed(Working(desk.wish, tools=[found, listed]))[0] == "plan"

    planning = Working(desk.wish, kind=DecisionKind.PLAN, forms=(Form.PLAN, Form.CLARIFY, Form.ESCALATE))
    planning.fact(f"{owner}_id", desk.holder_id)
    planning.capabilities([changed, found, listed])
    assert proposed(planning)[1]["steps"] == [found.name, changed.name]

    reading = Working(desk.wish, tools=[listed, found], steps=[found.name, changed.name])
    reading.fact(f"{owner}_id", desk.holder_id)
    assert proposed(reading) == (found.name, {f"{owner}_id": desk.holder_id})

    acting = Working(desk.wish, kind=DecisionKind.ACT, tools=[changed], forms=(Form.CLARIFY,), steps=[changed.name])
    acting.observation(found.name, {f"{item}_id": desk.item_id})
    assert proposed(acting) == (changed.name, {f"{item}_id": desk.item_id})


def test_the_answer_states_the_value_and_cites_the_sentence_about_it(desk: Desk) -> None:
    names = desk.names
    _, item, part = names.things[:3]
    working = Working(desk.question, kind=DecisionKind.ANSWER)
    working.observation(f"{names.deeds[0]}_{item}", {f"{item}_id": desk.item_id, part: desk.state})
    working.document(f"{names.things[4]}@v1#a", f"Nobody reads this. {names.deeds[2].capitalize()} every {item}.")
    working.document(desk.section, f"Hello. A {item} whose {part} is {desk.state} does not work. Bye.")
    name, arguments = proposed(working)
    assert name == "answer"
    assert arguments["text"].splitlines() == [
        f"{names.deeds[0]}_{item}: {item}_id is {desk.item_id}, {part} is {desk.state} [toolrun://req-1/call-1]",
        f"A {item} whose {part} is {desk.state} does not work. [{desk.section}]",
    ]
    assert arguments["citations"] == [{"source": "toolrun://req-1/call-1"}, {"source": desk.section}]


def domain_words() -> set[str]:
    """Names of the shipped domain's tools, parameters and fields, and the words they are made of."""
    contracts = [tool.contract for tool in tools(None)]  # type: ignore[arg-type]  # contracts need no database
    names = {contract.name for contract in contracts}
    for contract in contracts:
        properties = contract.parameters["properties"]
        assert isinstance(properties, dict)
        names |= set(properties)
    names |= {field.name for contract in contracts for field in contract.output}
    pages = (Path(__file__).parents[3] / "domain" / "corpus").glob("*.md")
    names |= {page.stem.partition(".")[0] for page in pages}
    return names


# Ordinary words that are field names by chance, and mean in this code what they mean anywhere.
ORDINARY = {"reason", "status", "query", "plan", "title", "label", "summary", "incidents", "onboarding"}


@pytest.mark.parametrize("path", CODE, ids=lambda path: path.name)
def test_no_word_of_the_shipped_domain_stands_in_the_code(path: Path) -> None:
    written = path.read_text(encoding="utf-8")
    found = {word for word in domain_words() - ORDINARY if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", written)}
    stems = set(re.findall(r"rotat\w*|revok\w*|incident\w*|account\w*|webhook\w*|runbook\w*|support agent", written))
    assert found | stems == set()
