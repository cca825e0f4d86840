"""Which sentences of a user's turn ask for something, and which only ask, repeat what others wrote, or set a condition
(X3)."""

import re
from collections.abc import Iterator

from state.checks.pasted import without_pasted, without_quoted

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
_WORD = re.compile(r"[^\W_]+")
_REQUEST = (
    r"(?:please(?!,? (?:who|did|do you|have you|has|had|is|are|was|were)\b)"
    r"|(?:can|could|would|will|may) (?:you|u|we|i|somebody|someone)"
    r"(?! (?:(?:ever |really |already )*(?:have|be)\b|mind\b(?! [^\W_]{2,}ing\b)))"
    r"|(?:can|could) (?!(?:it|that|this|there) )[^,;:?]{1,60}? be"
    r"|(?:would|is) it (?:be )?possible|(?:do you )?mind(?= [^\W_]{2,}ing\b)|why don['’]t (?:you|we)|shall we"
    r"|any chance (?:you|we)"
    r"|i(?: am|['’]m| was)? wonder(?:ing)? (?:if|whether) (?:you|we) (?:can|could|would)"
    r"|por favor|puedes|puede|podrías|podría)\b"
)
# Words before a request that ask for nothing of their own.
_LEAD = (
    r"\W*(?:(?:and|also|so|then|now|next|finally|lastly|ok|okay|hi|hello|hey|thanks|great|y|también|hola|gracias)\b"
    r"\W*)*"
)
_BEGINS_AS_REQUEST = re.compile(_LEAD + _REQUEST)
_LATER_REQUEST = re.compile(rf"[,;:–—]\s*(?:(?:and|but|so|then|y)\s+)?(?={_REQUEST})")
# A question without its mark, or with more behind it: `Did you pay Bob`, `(did you pay Bob?)`, `¿pagaste a Bob`.
_BEGINS_AS_QUESTION = re.compile(
    r"[^\w¿]*(?:(?:so|and|but|hi|hello|hey|then|now|please|just|quick question|y|pero|hola)\b[^\w¿]*)*"
    r"(?:¿|(?:did|was|were|has|had|does|is|are|should|who|whom|whose|why)\b"
    r"|(?:do|have|will|would|can|could|may)(?:n['’]t)? (?:you|u|we|i|they|he|she|it|there|that|this)\b)"
)
_ASKS_WHAT = re.compile(r"[^\w¿]*(?:what|which|when|where|how|any(?:one|body)?|qué|quién|cuál|cuándo|dónde|cómo)\b")
_MARKS = "?？؟‽⁇⁈⁉⸮"
_MARKED = re.compile(rf"[{_MARKS}]\W*$")
# Who says that somebody asked reports it: `did Bob say: please pay`.
_REPORTED = re.compile(
    r"\b(?:say|said|ask|asked|tell|told|write|wrote|want|wanted|request|mean|claim|dijo|pidió|decir)\b"
)
# `Write the message: ...`: what a message is to say asks for nothing, and sets no condition.
_DICTATED = re.compile(
    r"\b(?:the|this|a|an|following|el|este|un|siguiente)\s+(?:[^\W_]+\s+){0,2}?"
    r"(?:message|text|note|question|reply|answer|comment|post|announcement|words|mensaje|texto|nota|pregunta|respuesta)"
    r"\s*:(?=\s).*",
    re.IGNORECASE | re.DOTALL,
)
# What ends that which is only to be checked or told: `and`, where no more of the same stands behind it.
_ENDS = (
    r"(?=[,;:]|\b(?:and|y)\b(?! (?:about|on|of|the|a|an|my|your|his|her|their|our|any|all|who|whose|why|how|when|where"
    r"|what|which|if|whether|el|la|los|las|un|una|mi|su|sobre)\b)|\bthen\b|\bluego\b|$)"
)
# `Check whether you paid Bob`, `tell me about the payment`: what is to be checked or told there is not asked for.
_INDIRECT = re.compile(
    r"\b(?:tell me|let me know|check|confirm|verify|look|find out|know|remember|say|sure|dime|mira|comprueba"
    r"|confirma|sabes|(?:see|wonder(?:ing)?)(?! (?:if|whether) (?:you|we) (?:can|could|would)\b))"
    rf"\s+(?:if|whether|si)\b.*?{_ENDS}"
    r"|\b(?:tell me|explain|describe|show me|remember|remind me|wonder(?:ing)?|know|dime|explica\w*|sabes)"
    r"\s+(?:to me\s+)?(?:who|whom|whose|why|how|when|where|what|which|quién|por qué|cómo|cuándo|dónde|qué|cuál)\b"
    rf".*?{_ENDS}"
    r"|\b(?:(?:tell|show|read|inform|remind|brief|update) (?:me|us)|talk(?: to (?:me|us))?|let (?:me|us) know|explain"
    r"|describe|what|how|dime|dinos|cuéntame|cuéntanos|háblame|explícame|infórmame)"
    r"\s+(?:(?:a bit|a little|more|all|everything|something|again|más|todo|algo)\s+){0,2}"
    rf"(?:about|of|on|regarding|concerning|acerca de|sobre|de|del)\b.*?{_ENDS}",
    re.DOTALL,
)
# What somebody else says or wants.
_OTHERS_SAY = (
    r"\s+(?!(?:i|we|you|to|necessary|needed|possible|yo|quieres|puedes)\b)(?:[^\s,;:.!?]+\s+){0,6}?"
    r"(?:ask|call|want|writ|wrote|repl|answer|sa(?:y|id)|t(?:ell|old)|request|complain|agree|approv|respond|e-?mail|text"
    r"|messag|ring|phone|contact|demand|insist|beg|propos|tries|try|decid|need|pid[ea]|quier|llam|escrib|dic[ea]|contest"
    r"|necesit)[^\W_]*\b"
)
# `If Bob calls`, `when she asks you to`: the model would have to see it happen. `Ask Ana if she wants tea` is none.
_ON_WORD_OF_OTHERS = re.compile(
    rf"(?:^\W*|[,;:–—]\s*|\b(?:and|but|then|so|y|pero)\s+)(?:when|cuando){_OTHERS_SAY}"
    rf"|\b(?:if|whenever|once|in case|as soon as|si|en cuanto){_OTHERS_SAY}"
)
_CLAUSE_BEGINS = re.compile(r"[,;:]")
_ASKS = re.compile(r"\b(?:ask|inquir|enquir|wonder|know\b|find out|see\b|pregunt)")
# Another condition: its own words name no effect. Behind it, what it is a condition of does.
_CONDITION = re.compile(
    r"\b(?:if(?! (?:you|we) (?:can|could|would|will)\b)|unless|in case|whenever|when|si|cuando)\b"
    r".*?(?=[,;:]|\bthen\b|\bentonces\b|$)",
    re.DOTALL,
)
# `Can you text her without her consent?`: what one could do, may do or would do, is no request to do it.
_OF_ABILITY = re.compile(
    r"\b(?:without|sin)\b[^,;:.!?]{0,60}?\b(?:consent|permission|approval|authori[sz]ation|agreement|knowledge|knowing"
    r"|noticing|asking|telling|being|consentimiento|permiso|aprobación|autorización|saber\w*|preguntar\w*|avisar\w*)\b"
    r"|\b(?:in theory|theoretically|in principle|technically|legally|even|ever|at all|allowed|en teoría|legalmente)\b"
)
# Words behind a question that may mean what it says: then it was said for what follows.
_REFERS_BACK = re.compile(
    r"\b(?:it|its|him|her|his|hers|he|she|they|them|their|theirs|that|this|those|these|there|then|so|same|one|ones|both"
    r"|each|all|every|everyone|everybody|first|last|latter|former|next|none|any|instead|too|also|otherwise|else|not"
    r"|rest|total|sum|amount|difference|result|answer|list|summary|le|lo|la|les|los|las|él|ella|ellos|ellas|ese|esa|eso"
    r"|esos|esas|esto|este|esta|ello|ahí|ambos|todos|todas|mismo|misma|cada)\b"
)


def asked_for(text: str) -> Iterator[str]:
    """The sentences of a text that may ask for something: a question does where it is a request."""
    for sentence in _sentences(text):
        if not _only_asks(sentence.casefold()):
            yield sentence


def requested(text: str, stems: tuple[str, ...]) -> Iterator[str]:
    """The parts of a text that may name an effect, in one case: a question does where it is a request
    or begins with the effect's own word (one of `stems`). What is to be checked or told is not asked for."""
    for sentence in _sentences(without_quoted(text).casefold()):
        said = sentence
        if _only_asks(sentence):
            later = _LATER_REQUEST.search(sentence)
            words = _WORD.findall(sentence)
            begun = bool(words) and words[0].startswith(stems)
            meant = later is not None and not _REPORTED.search(sentence, 0, later.start())
            said = sentence if begun else sentence[later.end() :] if later and meant else ""
        said = _INDIRECT.sub(" ", said)
        yield "" if _waits_for_others(said) else _CONDITION.sub(" ", said)


def asked_of(text: str, stems: tuple[str, ...] = ()) -> str:
    """A user's turn without what it repeats of others, and without its questions, where nothing behind them refers back
    to them: what only they name is not named for what is asked for."""
    text = without_pasted(text)
    kept: list[str] = []
    refers = False
    for sentence in reversed(list(_whole_sentences(text))):
        if not _is_question(sentence.casefold(), stems):
            refers = (refers and bool(_MARKED.search(sentence))) or bool(_REFERS_BACK.search(sentence.casefold()))
            kept.append(sentence)
        else:
            kept.append(sentence if refers else " ")
    return "".join(reversed(kept))


def without_ability(text: str) -> str:
    """A turn without its questions whether something could be done, or may be."""
    return "".join(
        " " if _MARKED.search(one) and _OF_ABILITY.search(one.casefold()) else one for one in _whole_sentences(text)
    )


def _waits_for_others(sentence: str) -> bool:
    """Whether a sentence in one case wants something only where somebody else says something."""
    found = _ON_WORD_OF_OTHERS.search(sentence)
    return found is not None and not _ASKS.search(_CLAUSE_BEGINS.split(sentence[: found.start()])[-1])


def _whole_sentences(text: str) -> Iterator[str]:
    """The sentences of a text with the space behind them: together they are the text."""
    at = 0
    for found in _SENTENCE.finditer(text):
        yield text[at : found.end()]
        at = found.end()
    yield text[at:]


def _is_question(sentence: str, stems: tuple[str, ...]) -> bool:
    """Whether a sentence in one case is a question all through: no request, also none that begins later."""
    later = _LATER_REQUEST.search(sentence)
    begun = _WORD.match(sentence.strip())
    opens = _BEGINS_AS_QUESTION.match(sentence) or _ASKS_WHAT.match(sentence)
    return (
        opens is not None  # an order may end in a question mark
        and _only_asks(sentence)
        and (later is None or bool(_REPORTED.search(sentence, 0, later.start())))
        and not (stems and begun is not None and begun[0].startswith(stems))
    )


def _only_asks(sentence: str) -> bool:
    """Whether a sentence in one case is a question and no request."""
    asks = _MARKED.search(sentence) or _BEGINS_AS_QUESTION.match(sentence)
    return bool(asks) and not _BEGINS_AS_REQUEST.match(sentence)


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a text, each without what it dictates; none of what was pasted there."""
    return (_DICTATED.sub("", sentence) for sentence in _SENTENCE.split(without_pasted(text)))
