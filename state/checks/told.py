"""What a user describes by what somebody wrote: a link, a place, the people of a list (X4).

Others wrote the text, so alone it decides nothing. It opens a page; beyond that it tells which of those is meant that
trusted fields of the same row hold, where the user's words send there: to whom the user names as its author, or to a
thing that the words describe.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from state.checks.asked import asked_for
from state.checks.gathered import every_link_in
from state.checks.known import Cell, Row, leaves
from state.checks.links import address, urls
from state.checks.meaning import Meaning, mailbox, meaning, norm, same, words_of
from state.checks.selection import Selection, longest_run
from state.labels import Chosen, Label

_WHERE = r"(?:where|(?:in|on|to|into) which|that|donde|en (?:el|la) que)"
_CLAUSE_ENDS = re.compile(r"[,;:.!?\n]|\b(?:and|then|y|luego)\b")
_AUTHOR_NEAR = 3  # words before an author: `where my colleague Alice asked`
_SHORTEST_RUN = 2  # words in a row of a description that fits in part
_SHORTEST_MATCH = 2  # words of a sentence that a message has, wherever they stand
_LOOKS = re.compile(r"\b(?:find|look|search|read|check|see|open|visit|go through|summar\w+|busca\w*|lee|mira|abre)\b")
_MENTIONED = re.compile(
    r"\b(?:(?:each|every|all)(?: of)?(?: the| my| our| those)? (?:person|persons|people|one|members?|colleagues?"
    r"|attendees?|participants?|contacts?)|everyone|everybody"
    r"|(?:cada|todas las|todos los) (?:personas?|miembros?|asistentes?))"
    r"(?: (?:who|that) (?:is|are))? (?:mentioned|named|listed|mencionad[oa]s?|nombrad[oa]s?|que figuran?)\b"
    r"(?!.*\b(?:who|whom|whose|that|if|unless|without|only|when|while|but|que|si|sin)\b)",
    re.DOTALL,
)


class Words(NamedTuple):
    """What the user's words ask for and leave out, and what they choose among rows."""

    asked: Meaning
    left_out: Meaning
    selection: Selection


def link_wanted(value: JsonValue, words: Words, rows: Sequence[Row]) -> Chosen | None:
    """Why the user wants a link that others wrote: somebody wrote it whom the user names and the server names too
    (`author`), it stands in a place of which the user asks for all links (`place`), or in the one message there of
    which the user's words tell (`told`)."""
    wanted = address(str(value))
    for row in rows:
        for cell in row.cells:
            if row.steered or wanted not in urls(str(cell.value)):
                continue
            author, place = _held(row, cell.field.by), _held(row, cell.field.within)
            if author is not None and words.asked.says(author.value):
                return "author"
            if place is None or words.left_out.words:
                continue
            if every_link_in(str(place.value), words.asked.text):
                return "place"
            if urls(str(cell.value)) == {wanted} and _only_one_told(row, cell, place, words.asked, rows):
                return "told"
    return None


def told(value: JsonValue, kind: str | None, words: Words, rows: Sequence[Row]) -> bool | None:
    """Whether the words tell of this value of a trusted field by what somebody wrote beside it; None where they tell so
    of another place."""
    if words.left_out.words:
        return False
    places = {str(place) for place in _places(kind, words.asked, rows)} if kind else set()
    if places:
        return (len(places) == 1 and same(value, places.pop())) or None
    return _outsider(value, words, rows) or any(
        any(same(value, leaf) for leaf in leaves(cell.value)) and _mentioned(value, row, cell, words)
        for row in rows
        for cell in row.trusted
        if cell.field.told_in is not None
    )


def _held(row: Row, name: str | None) -> Cell | None:
    """A field of a row that the server or a directory made."""
    made = (one for one in row.cells if one.field.name == name and one.label in (Label.SERVER, Label.DIRECTORY))
    return next(made, None)


def _only_one_told(row: Row, cell: Cell, place: Cell, asked: Meaning, rows: Sequence[Row]) -> bool:
    """Whether a sentence that looks for something in a place has two words of this message and none of another there:
    whoever wrote one that fits as well, or a little, makes it ask."""
    for sentence in asked_for(asked.text):
        said = meaning(sentence, asked.today)
        if not said.holds(str(place.value)) or not _LOOKS.search(said.plain):
            continue
        about = frozenset(said.sequence) - frozenset(words_of(str(place.value)))
        others = [
            about.intersection(words_of(str(other.value)))
            for one in rows
            for other in one.cells
            if one is not row and other.field == cell.field and _stands_in(one, place)
        ]
        if len(about.intersection(words_of(str(cell.value)))) >= _SHORTEST_MATCH and not any(others):
            return True
    return False


def _stands_in(row: Row, place: Cell) -> bool:
    return any(one.field.name == place.field.name and same(one.value, place.value) for one in row.cells)


def _places(kind: str, asked: Meaning, rows: Sequence[Row]) -> Iterator[JsonValue]:
    """The places of which the words say that somebody wrote something there, and the server that he did. That the model
    chose which places it read hides no more than another that fits."""
    where = re.compile(rf"\b{re.escape(kind)} {_WHERE}\b", re.IGNORECASE)
    for sentence in asked_for(asked.text):
        for found in where.finditer(sentence):
            clause = _CLAUSE_ENDS.split(sentence[found.end() :], maxsplit=1)[0]
            for row in rows:
                for cell in row.cells:
                    author, place = _held(row, cell.field.by), _held(row, cell.field.within)
                    if author is not None and place is not None and _says_there(clause, str(author.value), cell.value):
                        yield place.value


def _says_there(clause: str, author: str, text: JsonValue) -> bool:
    """Whether a clause says of an author what stands in a text of his: `Alice asked about her coffee mug`."""
    found = re.search(rf"(?<![\w-]){re.escape(author)}(?![\w-])", clause)
    if found is None or len(clause[: found.start()].split()) > _AUTHOR_NEAR:
        return False
    about = words_of(clause[found.end() :])[1:]  # behind the verb
    run = longest_run(words_of(str(text)), about)
    return bool(run) and (len(run) >= _SHORTEST_RUN or len(run) == len(about))


def _mentioned(value: JsonValue, row: Row, cell: Cell, words: Words) -> bool:
    """Whether the words ask for everyone whom a thing mentions that they describe, and its text mentions this one."""
    if not any(_MENTIONED.search(sentence.casefold()) for sentence in asked_for(words.asked.text)):
        return False
    if not _described(row, words, cell.field.name):
        return False
    name = words_of(re.sub(r"[._+-]", " ", str(value).partition("@")[0]))
    texts = (words_of(str(one.value)) for one in row.cells if one.field.name == cell.field.told_in)
    return bool(name) and any(longest_run(name, text) == name for text in texts)


def _described(row: Row, words: Words, but: str) -> bool:
    """Whether the words describe the thing of a row, and not only by who stands in one field of it."""
    chosen = (words.selection.choice(one.value, row, one) for one in row.trusted if one.field.identifies is not None)
    named = (
        longest_run(words_of(str(one.value)), words.asked.sequence) for one in row.trusted if one.field.name != but
    )
    return "described" in chosen and any(named)


def _named(row: Row, words: Words, but: str, rows: Sequence[Row]) -> bool:
    """Whether the words say a whole name of the thing of a row, and nothing of another row says it too."""
    names = [one.value for one in row.trusted if isinstance(one.value, str) and one.field.name != but]
    own = {norm(one.value) for one in row.trusted if one.field.identifies is not None}
    others = [one for one in rows if not own & one.holds]
    return any(
        len(words_of(name)) >= _SHORTEST_RUN
        and words.asked.holds(name)
        and not any(meaning(str(cell.value), words.asked.today).holds(name) for one in others for cell in one.cells)
        for name in names
    )


def _outsider(value: JsonValue, words: Words, rows: Sequence[Row]) -> bool:
    """Whether the words send something to `the client`, and of all who stand beside what they name whole this one alone
    has another mail domain than the principal."""
    own = {mailbox(name).partition("@")[2] for name in words.selection.own_names if "@" in name}
    found: list[str] = []
    for row in rows:
        for cell in row.trusted:
            field = cell.field
            if not own or not _sent_to(field.outsiders, words.asked.text):
                continue
            if _described(row, words, field.name) and _named(row, words, field.name, rows):
                mails = (leaf for leaf in leaves(cell.value) if isinstance(leaf, str) and "@" in leaf)
                found += [one for one in mails if mailbox(one).partition("@")[2] not in own]
    return bool(found) and all(same(value, one) for one in found)


def _sent_to(names: tuple[str, ...], asked: str) -> bool:
    """Whether a sentence sends something to one who is called so, with nothing behind that tells which one."""
    if not names:
        return False
    called = "|".join(map(re.escape, names))
    sent = re.compile(
        rf"\b(?:to|for|with|al?|para|con) (?:(?:the|our|my|la|el|nuestr[oa]|mi) )?(?:{called})"
        r"(?=\s*(?:[.,;:!?]|$)| (?:via|by|and|as|about|through|then|por|y|sobre)\b)"
    )
    return any(sent.search(sentence.casefold()) for sentence in asked_for(asked))
