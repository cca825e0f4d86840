"""What a user asks for as a whole: every link in a place, whoever has the most of something (X4)."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from state.checks.asked import asked_for
from state.checks.known import Row
from state.checks.meaning import norm, plain
from state.contract import OutputField
from state.labels import Label

_WORD = re.compile(r"[^\W_]+")
_EACH = frozenset({"all", "every", "each", "both", "todos", "todas", "cada", "ambos"})
_AHEAD = 4  # words: `all of my old files`
_BREAKS = frozenset(
    (
        "in",
        "on",
        "to",
        "from",
        "with",
        "at",
        "for",
        "by",
        "who",
        "whom",
        "which",
        "that",
        "where",
        "en",
        "con",
        "por",
        "que",
    )
)
# Words after which some of a kind are meant, and not all.
_CONDITIONS = frozenset(
    """
    that which who whom whose if unless when where while without named called titled labelled older newer larger smaller
    bigger greater fewer longer shorter less more than before after since until created modified changed owned owns sent
    received empty unread only matching containing like such starting ending is are was were have has had not que quien
    quienes cuyo cuyos cuya cuyas si cuando sin llamado llamados llamada llamadas menos más mayores menores vacíos
    """.split()  # noqa: SIM905 - a list of seventy strings reads worse
)
_PLAIN_BEFORE = frozenset({"of", "the", "my", "our", "your", "these", "those", "single", "los", "las", "mis", "de"})
_CLAUSE = re.compile(r"[,;:]|\b(?:and|then|y|luego)\b")
# `Sort all users by name`: behind the order stands nothing that tells some apart.
_ORDERED = re.compile(r"^(\W*(?:please )?(?:sort|rank|arrange|ordena\w*|clasifica\w*)\b.*?)\b(?:by|por)\b.*")
_REPORT = re.compile(r"\b(?P<who>(?:tell|text|inform|notify|remind)\b[^,;:.]{1,80}?) that (?=(?:we|i|there)\b)", re.I)
_SOME = re.compile(
    r"\b(?:(?:one|two|some|any|none|a few|most|half|part) of (?:them|these|those|the|my|our)|un[oa] de)\b"
)
_WITHIN = _BREAKS | {"of", "de", "last", "this", "today"}
_LINKS = frozenset(("link", "url", "website", "site", "page", "webpage", "enlace", "página"))
_NEAR = 5  # words between what is asked for and the place it stands in
_MOST = frozenset({"most", "más"})
# Words before the superlative that may narrow down what is counted.
_NARROWS = frozenset(
    {"in", "on", "of", "at", "among", "between", "since", "during", "from", "about", "this", "last", "by"}
    | {"en", "de", "desde", "durante", "entre"}
)
# Words between the superlative, what is counted and where: they narrow nothing down.
_NEUTRAL = frozenset(("total", "overall", "all", "of", "the", "in", "to", "on", "de", "en", "el", "la"))
_COUNTS = {
    word: number
    for number, words in enumerate(("two dos both", "three tres", "four cuatro", "five cinco", "six seis"), 2)
    for word in words.split()
}
_FEW = frozenset(map(str, range(2, 11)))  # a greater number beside a superlative is a year or a size


def every_one(kind: str, asked: str, stems: tuple[str, ...] = ()) -> Literal["whole", "within"] | None:
    """Whether the words ask for all of a kind, and no more than a place narrows them down (`within`).

    `all` stands before the noun with nothing between that tells some apart, in a clause with the effect's own word
    (one of `stems`), where there are any, and no condition stands with it. What narrows all of them down in another
    clause or sentence does so here: `find all users in a channel and write to each user`. An order narrows nothing
    down. A question asks for nothing, unless it is a request.
    """
    if _SOME.search(plain(asked)):
        return None
    nouns = {kind, f"{kind}s", f"{kind}es"}
    named = within = False
    for sentence in (_without_report(one) for one in asked_for(asked)):
        for clause in _CLAUSE.split(plain(sentence)):
            said = _WORD.findall(_ORDERED.sub(r"\1", clause))
            spots = [at for at, word in enumerate(said) if word in nouns and _each_of(said[:at])]
            if spots and set(_WORD.findall(plain(sentence))) & _CONDITIONS:
                return None
            within |= bool(spots) and bool(set(said[spots[0] + 1 :]) & _WITHIN)
            named |= bool(spots) and effect_named(said, stems)
    return ("within" if within else "whole") if named else None


def effect_named(words: Iterable[str], stems: tuple[str, ...]) -> bool:
    """Whether one of the words begins as the effect's own do; where it has none, any does."""
    return not stems or any(word.startswith(stems) for word in words)


def every_link_in(place: str, asked: str) -> bool:
    """Whether the words ask for all links that stand in a place which they name beside that."""
    named = _WORD.findall(plain(place))
    if not named:
        return False
    for sentence in asked_for(asked):
        words = _WORD.findall(plain(sentence))
        spots = [at for at in range(len(words)) if words[at : at + len(named)] == named]
        for at, word in enumerate(words):
            each = word.removesuffix("s") in _LINKS and _each_before(words, at)
            if each and any(0 < spot - at <= _NEAR or len(named) <= at - spot < _NEAR + len(named) for spot in spots):
                return True
    return False


def has_most(value: str, field: OutputField, row: Row, rows: Sequence[Row], asked: str) -> bool:
    """Whether the words ask for what stands in the most rows of a kind, and this value alone does.

    Who has the fewest cannot be told from rows: of whoever has none there is no row.
    The rows are those of one tool, and none that the model chose to see. A place that the words name narrows them down;
    words that narrow them down by anything else leave it open.
    """
    if not field.counted:
        return False
    counted = [one for one in rows if one.tool == row.tool]
    if any(one.steered for one in counted):
        return False
    places = {
        (cell.field.name, plain(str(cell.value)))
        for one in counted
        for cell in one.cells
        if cell.label is not Label.UNTRUSTED and cell.field.name != field.name and isinstance(cell.value, str)
    }
    kinds = {str(cell.field.identifies) for one in rows for cell in one.cells}
    neutral = _NEUTRAL | kinds | {f"{kind}s" for kind in kinds}
    for sentence in asked_for(asked):
        words = _WORD.findall(plain(sentence))
        for before, tail in _superlatives(words, field.counted):
            within = [place for place in places if _holds(tail, _WORD.findall(place[1]))]
            elsewhere = [place for place in places if _holds(words, _WORD.findall(place[1]))]
            about = {word for _, place in within for word in _WORD.findall(place)}
            if len(within) > 1 or within != elsewhere or set(tail) - about - neutral or set(before) & _NARROWS:
                continue
            if _alone(value, field, [one for one in counted if not within or _stands_in(one, within[0])]):
                return True
    return False


def how_many(sentence: str, superlative: str) -> int:
    """How many a superlative asks for: `the three largest`, `the top 3`; one where it says no number."""
    word = re.escape(plain(superlative))
    found = re.search(rf"\b(?:(\w+) {word}|top (\w+))\b", plain(sentence))
    said = next((one for one in found.groups() if one), "") if found else ""
    return _COUNTS.get(said) or (int(said) if said in _FEW else 1)


def _each_before(words: list[str], at: int) -> bool:
    """Whether `all` or its like stands before a noun and means it: `all users in the channel` are not all channels."""
    before = list(reversed(words[max(0, at - _AHEAD) : at]))
    stop = next((place for place, word in enumerate(before) if word in _BREAKS), len(before))
    return bool(_EACH & set(before[:stop]))


def _without_report(sentence: str) -> str:
    """A sentence without what somebody is told: `tell every patient that we are closed` sets no condition."""
    found = _REPORT.search(sentence)
    return sentence[: found.end("who")] if found else sentence


def _each_of(before: Sequence[str]) -> bool:
    """Whether `all` stands before a noun with nothing between that tells some of them apart."""
    rest = list(before)
    while rest and rest[-1] in _PLAIN_BEFORE:
        rest.pop()
    return bool(rest) and rest[-1] in _EACH


def _superlatives(words: list[str], nouns: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Each superlative that counts one of the nouns, the words before it, and those around the noun that go with it."""
    counted = {*nouns, *(f"{noun}s" for noun in nouns)}
    for at, word in enumerate(words):
        if word not in _MOST:
            continue
        for end in range(at + 1, min(len(words), at + 4)):
            if words[end] in counted:
                tail = words[end + 1 :]
                stop = next((place for place, one in enumerate(tail) if one in ("and", "then", "y", "e")), len(tail))
                yield words[:at], words[at + 1 : end] + tail[:stop]


def _alone(value: str, field: OutputField, rows: Sequence[Row]) -> bool:
    """Whether a value stands in more of these rows than any other."""
    held = [cell for one in rows for cell in one.cells if cell.field.name == field.name]
    tally = Counter(norm(cell.value) for cell in held if cell.label is not Label.UNTRUSTED)
    own = tally.pop(norm(value), 0)
    return own > max(tally.values(), default=0)


def _stands_in(row: Row, place: tuple[str, str]) -> bool:
    return any((cell.field.name, plain(str(cell.value))) == place for cell in row.cells)


def _holds(words: list[str], part: list[str]) -> bool:
    return bool(part) and any(words[at : at + len(part)] == part for at in range(len(words)))
