"""Twenty typical questions on the real app with the shipped reader: how each ends, and what it cites.

Endings and sources were written down before anything was tuned (tests/domain/questions.yaml). What does not hold is
marked there with its reason, and this test asserts exactly that list: it can only shrink.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from graph.app import App
from graph.result import RunResult
from tests.graph.conftest import OpenApp

FILE = Path(__file__).parents[1] / "domain" / "questions.yaml"
QUESTIONS: list[dict[str, Any]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
RESULT = "result:"


class Told(NamedTuple):
    """One turn as it went: its ending, and what its answer cites, tools by name instead of by run."""

    ends: str
    cites: tuple[str, ...]


def told(result: RunResult) -> Told:
    sources = result.answer.sources if result.answer else ()
    turn = max(decision.turn for decision in result.decisions)
    tool_of = {
        str(seen.body["artifact_ref"]): f"{RESULT}{seen.tool}"
        for decision in result.decisions
        if decision.turn == turn
        for seen in decision.observations
    }
    return Told(result.status.value, tuple(tool_of.get(source, source) for source in sources))


def asked(app: App, question: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Told]]:
    for turn in question["turns"]:
        yield turn, told(app.ask(turn["ask"], as_=question["as"], thread=question["name"]))


def misses(app: App, question: dict[str, Any]) -> list[str]:
    """What of a question's turns is not as it should be."""
    found = []
    for turn, seen in asked(app, question):
        if seen.ends != turn["ends"]:
            found.append(f"{turn['ask']!r} ends {seen.ends}, not {turn['ends']}")
        found += [
            f"{turn['ask']!r} does not cite {source}, but {', '.join(seen.cites) or 'nothing'}"
            for source in turn["cites"]
            if source not in seen.cites
        ]
    return found


def test_there_are_twenty_questions_a_third_in_spanish_some_with_several_turns_and_some_of_staff() -> None:
    assert len(QUESTIONS) == len({question["name"] for question in QUESTIONS}) == 20
    assert sum("¿" in turn["ask"] or "mi " in turn["ask"] for question in QUESTIONS for turn in question["turns"]) >= 7
    assert sum(len(question["turns"]) > 1 for question in QUESTIONS) >= 3
    assert {question["as"].partition("@")[0] for question in QUESTIONS} >= {"leo", "gael"}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["name"])
def test_a_question_holds_or_is_marked_as_not_holding(start: OpenApp, question: dict[str, Any]) -> None:
    missed = misses(start(), question)
    if question.get("holds", True):
        assert not missed, "\n".join(missed)
    else:
        assert question["reason"]
        assert missed, f"{question['name']} holds now: take its mark away"
