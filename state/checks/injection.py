"""Signs of an injection: phrases that give orders, speak as a role, or look like a call (H17, X8).

A feature and telemetry, never a gate: whoever writes plain language is not seen at all. Measured elsewhere, scorers of
this kind catch 0 % of plain-language injections and fire on 6 to 31 % of clean runbooks; tests/state/test_injection.py
says what this one does. What keeps an injection from doing anything is that its text opens nothing (X3, X10).
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import NamedTuple

from state.checks.hidden import visible


@dataclass(frozen=True)
class Signs:
    """How many signs stand in a text, and how much they weigh together, between 0 and 1."""

    count: int
    score: float


class _Sign(NamedTuple):
    """A kind of sign. `words` are looked for first: where none of them stands, the pattern is not tried."""

    weight: float
    words: tuple[str, ...]
    pattern: re.Pattern[str]


def _phrases(*alternatives: str) -> re.Pattern[str]:
    """Any of them, at the beginning of a word. One set of signs in front is found three times as fast as `\\b` is."""
    return re.compile(rf"\W(?:{'|'.join(alternatives)})")


# Texts are casefolded before, and begin with a line end. All gaps are bounded: a scan is linear.
_SOME = r"(?:[^\w.!?]{1,3}\w{1,20}){0,6}?[^\w.!?]{1,3}"  # words of the same sentence
_FEW = r"\b(?: \w{1,20}){0,4}? "
_SIGNS = (
    _Sign(  # ignore all previous instructions
        0.6,
        ("ignor", "disregard", "forget", "overrid", "bypass", "olvid", "omit", "desobede", "salta", "sálta"),
        _phrases(
            r"(?:ignor(?:e|ing|a|ad|en|ar)|disregard|forget|overrid(?:e|ing)|bypass|olvid(?:a|e|ad|en|ar)"
            r"|omit(?:a|e|ir)|desobedec\w{1,4}|s[aá]lta(?:te|rse)?)" + _SOME + r"(?:rules?|instructions?"
            r"|polic(?:y|ies)|prompts?|guidelines?|restrictions?|safeguards?|guardrails?|reglas?"
            r"|instrucci(?:[oó]n|ones)|normas?|pol[ií]ticas?|indicaciones|restricciones|directrices)\b"
        ),
    ),
    _Sign(  # you must now, from now on you
        0.4,
        ("you must", " now ", "new instr", "new system instr", "debe", "ahora", "nuevas instr"),
        _phrases(
            r"you (?:must|should|will) now\b|from now on,? (?:you|always|never)\b|you are now (?:an?|the|in)\b",
            r"you must (?:immediately )?(?:call|invoke|execute|comply|obey)\b|new (?:system )?instructions?\s?:",
            r"(?:debes|tienes que|deber[aá]s) ahora\b|ahora (?:debes|eres)\b|nuevas instrucciones\s?:",
            r"debes (?:llamar|invocar|ejecutar)\b|a partir de ahora,? (?:t[uú]|debes|eres|siempre|nunca|act[uú]a)\b",
        ),
    ),
    _Sign(  # a line that speaks as a role
        0.2,
        ("system", "assistant", "developer", "sistema", "asistente"),
        re.compile(
            r"\n[ \t>*#\"'\[(]{0,6}(?:system|assistant|developer|sistema|asistente)"
            r"(?: (?:message|prompt|note|override|mensaje))?[ \t\])*\"']{0,4}:"
        ),
    ),
    _Sign(  # the marks that chat templates and tool calls are written with
        0.5,
        (
            "<|",
            "[inst",
            "[/inst",
            "<<sys",
            "<system",
            "</system",
            "<assistant",
            "<tool_",
            "<function",
            "<user_",
            "### i",
        ),
        re.compile(
            r"<(?:\|[a-z_]{2,20}\|>|<sys>>|/?(?:system|assistant)\b[^<>\n]{0,80}>|system[-_]\w{1,20}"
            r"|/?(?:tool_calls?|function_calls?|tool_use|user_turn)\b)|\[/?inst\]|### instructions?\b"
        ),
    ),
    _Sign(  # {"name": "…", "arguments": {…}
        0.4,
        ('arguments"', 'parameters"', "arguments'", "parameters'"),
        re.compile(
            r"[\"'](?:name|tool|tool_name|function)[\"']\s{0,4}:\s{0,4}[\"'][\w.-]{1,64}[\"']\s{0,4},\s{0,4}"
            r"[\"'](?:arguments|parameters)[\"']\s{0,4}:"
        ),
    ),
    _Sign(  # call the tool, call grant_credit(
        0.4,
        (" tool", " function", "herramienta", "funci", "call ", "invoke ", "execute ", "llama a ", "invoca "),
        _phrases(
            r"(?:call|invoke|execute|use|run|llam(?:a|e|ar) a|invo(?:ca|que|car)|ejecut(?:a|e|ar)|usa|utiliza)"
            r" (?:the |this |la |esta |tu |your )?(?:\w{1,30} )?(?:tool|function|herramienta|funci[oó]n)\b",
            r"(?:call|invoke|execute|llama a|invoca|ejecuta) [`'\"]?[a-z]{2,20}_[a-z_]{2,40}[`'\"]?\s?\(",
        ),
    ),
    _Sign(  # do not tell the user, without asking
        0.4,
        (" user", "customer", "permission", "usuario", "cliente", "permiso"),
        _phrases(
            r"(?:do not|don['’]t|never) (?:tell|inform|mention|reveal|notify|warn|alert)" + _FEW + r"users?\b",
            r"without (?:asking|telling|notifying|informing)" + _FEW + r"(?:user|customer|permission)\b",
            r"no (?:se lo |lo |le )?(?:digas|informes|menciones|avises|cuentes)" + _FEW + r"(?:usuario|cliente)\b",
            r"sin (?:pedir|preguntar|avisar)" + _FEW + r"(?:usuario|cliente|permiso)\b",
        ),
    ),
    _Sign(  # print your system prompt
        0.4,
        ("system prompt", "instructions", "your prompt", "tus instrucciones", "del sistema"),
        _phrases(
            r"(?:reveal|print|show|repeat|output|display|give me|write out)"
            + _FEW
            + r"(?:system prompt|your (?:\w{1,20} )?(?:instructions|prompt))\b",
            r"(?:revela|muestra|repite|imprime|dime|escribe)"
            + _FEW
            + r"(?:tus instrucciones|(?:prompt|instrucciones|mensaje) del sistema)\b",
        ),
    ),
    _Sign(  # developer mode
        0.3,
        ("developer mode", "jailbr", "pretend", "modo desarroll", "act as", "actúa como", "actua como"),
        _phrases(
            r"(?:developer mode|modo desarrollador|jailbr(?:eak|oken))\b|pretend (?:to be|you are|that you)\b",
            r"act as (?:an? |the )?(?:unrestricted|different|ai|assistant|dan\b)|act[uú]a como (?:un|una|si)\b",
        ),
    ),
)


def injection_signs(text: str) -> Signs:
    """The signs in a text, in English and Spanish. Full-width letters, invisible characters and case hide none."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", visible(_spelt_out(text)))
    text = "\n" + text.casefold()
    count, quiet = 0, 1.0
    for sign in _SIGNS:
        if any(word in text for word in sign.words):
            found = sum(1 for _ in sign.pattern.finditer(text))
            count += found
            quiet *= (1 - sign.weight) ** found
    return Signs(count, round(1 - quiet, 6))


def _spelt_out(text: str) -> str:
    """The text with its tag characters as the letters that a model reads in them."""
    return re.sub("[\U000e0020-\U000e007e]", lambda tag: chr(ord(tag[0]) - 0xE0000), text)
