"""What a request states under a name, and whether that is what a turn asks for.

A record or a policy owns such a value: where a turn names one, no document and no tool has a better answer.
"""

from graph.models.questions import asks_which, ids, is_question, listed
from graph.models.reading import Fact, Reading
from graph.models.vocabulary import AUXILIARY, INTERROGATIVE
from graph.models.wishes import wish
from graph.models.words import spoken, terms

_INTERROGATIVE = INTERROGATIVE - AUXILIARY


def named_facts(reading: Reading) -> list[Fact]:
    """The facts and policy values whose whole name stands in the turn, the longest of those that share words.

    A policy names what it sets for everybody: where its name is a single word, nothing else may be asked.
    """
    asked = set(terms(reading.turn))
    named = [(set(name_of(fact)), fact) for fact in reading.facts]
    named += [(name, fact) for fact in reading.policy if len(name := set(name_of(fact))) > 1 or name == asked]
    whole = [(name, fact) for name, fact in named if name and name <= asked]
    return [fact for name, fact in whole if not any(name < other for other, _ in whole)]


def answerable_from_facts(reading: Reading) -> bool:
    """Whether the turn asks for what the request states: for a policy value, or for nothing but facts.

    A fact is one thing: it answers no question for a list. A policy value may be the number of some.
    """
    return _asks_for_policy(reading) or _asks_for_facts(reading)


def _asks_for_policy(reading: Reading) -> bool:
    """Whether it asks for a value: "is it so" asks for none, unless that is what the value says."""
    if wish(reading.turn) is not None or ids(reading.turn):
        return False
    asked = [fact for fact in named_facts(reading) if fact in reading.policy]
    if asks_which(reading.turn) or not _INTERROGATIVE.isdisjoint(spoken(reading.turn)):
        return bool(asked)
    return is_question(reading.turn) and any(fact.value in ("true", "false") for fact in asked)


def _asks_for_facts(reading: Reading) -> bool:
    asked = terms(reading.turn)
    return (
        bool(asked)
        and listed(reading.turn) is None
        and all(any(term in name_of(fact) for fact in reading.facts) for term in asked)
    )


def name_of(fact: Fact) -> list[str]:
    """The words of a fact's name."""
    return terms(fact.name.replace("_", " "))
