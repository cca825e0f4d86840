"""Where the answer to a turn is: in a change to be made, with an offered tool, with a read elsewhere, in a document.

Decided by the form of the sentence and by which words of it tools and documents share. A value that a system of record
owns is never taken from a document, and a document's matter never from a tool that happens to be offered.
"""

from graph.models.choosing import lists
from graph.models.facts import answerable_from_facts
from graph.models.questions import asks_how, asks_which, ids, is_question, listed, speaks_of_own
from graph.models.reading import Offered, Reading
from graph.models.sentences import AT_LEAST, bearing_on
from graph.models.wishes import wish
from graph.models.words import covered, spoken, stem, terms, terms_and_numbers


def wants_change(reading: Reading) -> bool:
    """Whether the turn is a wish whose verb no offered tool is about.

    To close something is not about what is closed: a tool is about the verb by which it begins. Where no object follows
    it may be no verb at all, as in "status please": then a tool that has the very word is about it too.
    """
    wanted = wish(reading.turn)
    if wanted is None:
        return False
    verb = [stem(wanted.verb)]
    said = set() if wanted.plain else {wanted.verb, f"{wanted.verb}s"}
    return not any(
        covered(verb, tool.verbs, loosely=True) or said.intersection(spoken(tool.text)) for tool in reading.tools
    )


def wants_other_read(reading: Reading) -> bool:
    """Whether the turn asks for a record that no offered tool reads, and nothing was read or refused yet."""
    fresh = not (reading.seen or reading.verdicts or answerable_from_facts(reading))
    return fresh and asks_for_record(reading) and not any(_reads(tool, reading) for tool in reading.tools)


def asks_for_record(reading: Reading) -> bool:
    """Whether the turn asks for a value of the asker's own, or about something by an id that no shown document has."""
    turn = reading.turn
    if wish(turn) is not None or asks_how(turn):
        return False
    return (asks_which(turn) and speaks_of_own(turn)) or ((asks_which(turn) or is_question(turn)) and _unknown(reading))


def _unknown(reading: Reading) -> bool:
    return any(not any(named in document.text for document in reading.documents) for named in ids(reading.turn))


def _reads(tool: Offered, reading: Reading) -> bool:
    noun = listed(reading.turn)
    return bool(covered(terms(reading.turn), tool.text, loosely=True)) and (noun is None or lists(tool, noun))


def asks_for_a_document(reading: Reading) -> bool:
    """Whether the turn is about what a shown document says, not about how something of the asker's stands.

    It names the document, or asks for the way to do something, or for what no offered tool speaks of, or for a value of
    which the document plainly says more than any tool.
    """
    wanted = terms_and_numbers(reading.turn)
    most = max((len(covered(wanted, tool.text)) for tool in reading.tools), default=0)
    if reading.named and most < AT_LEAST:
        return True
    found = [one for one in bearing_on(wanted, (), reading.documents, reading.named) if one.enough]
    if not found or not is_question(reading.turn) or _unknown(reading):
        return False
    how, own = asks_how(reading.turn), speaks_of_own(reading.turn)
    if not own and asks_which(reading.turn) and max(one.shared for one in found) >= most + AT_LEAST:
        return True
    return (how and not own) if most else (how or not own)
