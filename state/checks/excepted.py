"""What a user's words leave out: `not to Bob`, `all but the budget`. A thing that is named there is not asked for (X4).

It is no parser. Where it cannot tell how far a no reaches, it reaches to the end of the sentence: then a person is
asked. A no that describes (`is not working`), stands in a condition (`if there is none`) or is a verb of its own
(`skip Bob`) ends at a comma.
"""

import re
from collections import deque
from typing import NamedTuple

from state.checks.kept import kept

_NO = re.compile(
    r"\b(?:[^\W_]+n['’]t|cannot|never|not|no|nor|without|except|excluding|exclude|excepting|unless|avoid|avoiding"
    r"|apart from|other than|instead of|rather than|aside from|save(?= (?:the|for|my|our)\b)|besides"
    r"|forbid\w*|prohibit\w*|refus(?:e|ed|ing)(?= to\b)|refrain\w*|prevent\w*|hold(?:ing)? off"
    r"|stop(?:ping)?(?= \w+ing\b)"
    r"|(?:reject|decline|deny|block|cancel|undo)(?=:|(?: [^\W_]+)? (?:request|order|demand|attempt|plan)s? to\b)"
    r"|block(?= (?:any|all|every)\b)|forget about|hide (?:it|this|that|them) from|preserve|retain"
    r"|prohib\w+|deja(?:d|r)? de|evita\w*"
    r"|(?:all|every|any)(?:thing|one|body)?(?: of)?(?: the| my| our| \w+)? but|all but|minus|skip|skipping|ignore|spare"
    r"|keep(?! (?:me|us)\b|[^.!?\n]{1,80}\b(?:posted|informed|updated|loop)\b)"
    r"|leave(?=(?:[^.!?\n]|[.!?](?!\s)){1,80}\b(?:alone|out|untouched|as (?:is|it|they))\b)"
    r"|nunca|jamás|sin|excepto|salvo|ni|en vez de|en lugar de|todos menos|todas menos)\b"
)
# A no that forbids nothing: `do not forget`, `no later than`, `not only`.
_NOT_MEANT = re.compile(
    r"(?:[^\W_]+n['’]t|not|never|no)\s+(?:te\s+)?"
    r"(?:only|just|forget|hesitate|worry|matter|need|problem|later|earlier|sooner|more|less|longer|olvid\w*|sol[oa]|sólo)\b"
)
_DESCRIBES = re.compile(
    r"\b(?:(?:is|are|was|were|has|have|had|does|did|am|could|can)\s+(?:still\s+|yet\s+)?(?:not|no|never)"
    r"|(?:is|are|was|were|has|have|had|does|did|could|ca)n['’]t|cannot|no\s+(?:está|funciona|llegó|tengo))\b"
)
_LONGEST_VERB = 16  # characters: `could still `
_SPARES = re.compile(r"skip(?:ping)?|ignore|spare|keep|leave|preserve|retain")
# What leaves out the clause that it ends: `Bob should not get it`, `the largest stays`.
_SPARED = re.compile(
    r"\b(?:should|must|may|shall|ought|need)(?:n['’]t| not\b| never\b)"
    r"|\b(?:does|do)(?:n['’]t| not) (?:get|receive|see)\b"
    r"|\b(?:must|should|shall|ha(?:s|ve) to) (?:stay|survive|remain)\b"
    r"|(?<!\bplace to )(?<!\bplaces to )(?<!\bwhere to )\bstays?(?: out\b|(?=\s*(?:[.,;!?]|$)))"
    r"|\b(?:(?:is|are|was) )?(?:forbidden|prohibited|excluded|off limits)\b|\bcan wait\b|:\s*no(?=\s*(?:[.,;!?]|$))",
)
_CLAUSE_BEGINS = re.compile(r"[,;:](?=\s)|[.!?]+(?=\s)|\n|\b(?:but|instead|pero|sino)\b")
_CONDITION = re.compile(r"\b(?:if|when|since|because|as|although|while|unless|why|si|cuando|porque|aunque)\b")
_SENTENCE_ENDS = re.compile(r"[.!?;]+(?=\s|$)|\n|\b(?:but|instead|pero|sino)\b")
_CLAUSE_ENDS = re.compile(r",|[.!?;]+(?=\s|$)|\n|\b(?:but|instead|pero|sino|so|please|and (?:i|we|please|then))\b")


# `Remove Bob from the list`: who is taken out of those that an effect is for.
_TAKEN_OFF = re.compile(
    r"\b(?P<verb>remov(?:e|ing)|tak(?:e|ing)|strik(?:e|ing)|cross(?:ing)?|drop(?:ping)?|delet(?:e|ing)|scratch(?:ing)?"
    r"|quita\w*|saca\w*|elimina\w*|borra\w*)\s"
    r"(?P<who>[^.!?;:\n]{1,80}?)\s(?:from|off|out of|de)\s(?:(?:the|this|that|my|our|your|la|el|los|las|mi)\s)?"
    r"(?:[^\W_]+\s){0,2}?(?:lists?|recipients?|receivers?|addressees|cc|bcc|copy|invitees|guests?|participants|attendees"
    r"|lista|copia|destinatarios|invitados)\b",
    re.IGNORECASE,
)


class Parted(NamedTuple):
    """A text in two: what it asks for, and what it leaves out. Places and words stand in one of them alone."""

    asked: str
    left_out: str


@kept(most=256)
def parted(text: str, stems: tuple[str, ...] = ()) -> Parted:
    """A user's text without what it leaves out, and that. `stems` begin the words that name the effect: what it removes
    is not left out of it."""
    text, spared = _without_spared(text)
    text, taken_off = _without_taken_off(text, stems)
    found = _followed(text)
    return Parted(found.asked, "\n".join(one for one in (*spared, *taken_off, found.left_out) if one))


def _without_taken_off(text: str, stems: tuple[str, ...]) -> tuple[str, list[str]]:
    """A text without what it wants taken off a list, and that."""
    found = [one for one in _TAKEN_OFF.finditer(text) if not stems or not one["verb"].casefold().startswith(stems)]
    for one in reversed(found):
        text = f"{text[: one.start()]} {text[one.end() :]}"
    return text, [one["who"] for one in found]


def _without_spared(text: str) -> tuple[str, list[str]]:
    """A text without the clauses that end in a no, or in that something stays, and those."""
    folded = text.lower() if len(text.lower()) == len(text) else text
    begins = deque(one.end() for one in _CLAUSE_BEGINS.finditer(folded))
    asked: list[str] = []
    spared: list[str] = []
    at, begin = 0, 0
    for found in _SPARED.finditer(folded):
        while begins and begins[0] <= found.start():
            begin = begins.popleft()
        if found.start() < at:
            continue
        end = _CLAUSE_ENDS.search(folded, found.end())
        stop = end.start() if end else len(text)
        asked.append(text[at : max(at, begin)])
        spared.append(text[max(at, begin) : stop])
        at = stop
    asked.append(text[at:])
    return (" ".join(asked), spared) if spared else (text, [])


def _followed(text: str) -> Parted:
    """A text without what follows a no, and that."""
    folded = text.lower() if len(text.lower()) == len(text) else text
    asked: list[str] = []
    left_out: list[str] = []
    at, before, condition = 0, 0, -1
    ends = deque(one.end() for one in _SENTENCE_ENDS.finditer(folded))
    conditions = deque(one.start() for one in _CONDITION.finditer(folded))
    for found in _NO.finditer(folded):
        if found.start() < at or _NOT_MEANT.match(folded, found.start()):
            continue
        while ends and ends[0] <= found.start():
            before = ends.popleft()
        while conditions and conditions[0] < found.start():
            condition = conditions.popleft()
        near = _DESCRIBES.finditer(folded, max(before, found.start() - _LONGEST_VERB), found.end())
        described = any(one.end() >= found.end() > one.start() for one in near)
        mild = _SPARES.match(found[0]) or condition >= before or described
        end = (_CLAUSE_ENDS if mild else _SENTENCE_ENDS).search(folded, found.end())
        stop = end.start() if end else len(text)
        asked.append(text[at : found.start()])
        left_out.append(text[found.end() : stop])
        at = stop
    asked.append(text[at:])
    return Parted(" ".join(asked), "\n".join(left_out)) if left_out else Parted(text, "")
