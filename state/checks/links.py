"""The links that a text holds, as whoever reads it may follow them: with and without a scheme (X4).

A chat or a mail makes a link of a bare domain too. What is taken for one and is none costs a question; what is missed
is followed.
"""

import re
from unicodedata import category, normalize

from state.checks.hidden import visible
from state.checks.kept import kept

_END = r"[^\s<>\"`]*"
_LABEL = r"[^\W_](?:[\w-]{0,62})"
# Endings of file names that are no domain.
_FILES = "docx?|xlsx?|pptx?|pdf|txt|csv|tsv|json|jsonl|ya?ml|xml|html?|png|jpe?g|gif|log|ini|toml|ics|eml|odt|ods|bak"
# What opens something without a host: a script, another program, a message that is written already.
_OPENED = (
    "javascript|data|vbscript|mailto|file|tel|sms|smsto|xmpp|magnet|intent|blob|jar|view-source|ip[fn]s|skype|callto"
    "|facetime(?:-audio)?|sips?|tg|whatsapp|zoommtg|msteams|bitcoin|ethereum|geo|webcal|itms(?:-[a-z]+)?|search-ms"
    "|ms-[a-z-]{1,30}|ldaps?|gopher|ircs?|nntp|rtsp|vscode"
)
# A host may end in a dot, which belongs to it where its port or path follows.
_DOT = r"(?:\.(?=[:/?#\\]))?"
_URL = re.compile(
    rf"(?:(?<![^\W_])[a-z][a-z0-9+.-]{{0,30}}:[/\\]{{2}}|\b(?:{_OPENED}):(?=\S))\S{_END}"
    rf"|(?<![\w.@-])(?:{_LABEL}\.){{1,8}}(?!(?:{_FILES})\b)[^\W\d_]{{2,24}}(?![\w@-]|\.\w){_DOT}(?::\d{{1,5}})?(?:[/?#\\]{_END})?"
    rf"|(?<![\w.@-])(?:{_LABEL}\.){{1,8}}[^\W\d_]{{2,24}}{_DOT}(?::\d{{1,5}}|[/?#\\]){_END}"
    rf"|(?<![\w.@-])(?:{_LABEL}\.){{1,8}}xn--[a-z0-9-]{{1,59}}{_END}"
    rf"|(?<![\w.-])(?:\d{{1,3}}(?:\.\d{{1,3}}){{3}}|localhost)(?::\d{{1,5}}|/){_END}",
    re.IGNORECASE,
)
# What markup makes a link of, or fetches, however it is written there. What stands between signs is taken whole: a
# browser leaves out the ends of lines in it, and reads on.
_MARKUP = re.compile(
    r"\](?:\(\s*|:\s*)(?:<(?P<angled>[^<>\n]+)>|<?(?P<target>[^\s)]+))"
    r"|<(?P<alone>[a-z][a-z0-9+.-]{1,31}:[^\s<>]+)>"
    r"|(?<![?&\w])(?:href|src|srcset|action|formaction|data|poster|background|cite|ping|lowsrc|dynsrc|classid|codebase"
    r"|longdesc|manifest|url)\s*=\s*(?:\"(?P<double>[^\"]+)\"|'(?P<single>[^']+)'|[\"']?(?P<value>[^\s\"'>]+))"
    r"|(?:\burl\(|@import)\s*[\"']?(?P<style>[^\s\"');]+)",
    re.IGNORECASE,
)
# Behind these a chat makes a link of a URL that stands in a text, and of all that follows up to a blank.
_BEGINS_ALONE = frozenset("*_~(")
_RUNS_ON = re.compile(r"[^\s<]*")
# What reads as an element of XML (`<soap:Envelope>`), and opens nothing as a link either.
_ELEMENT = re.compile(rf"(?!(?:{_OPENED}):)(?P<name>[a-z][\w.-]*:[a-z_][\w.-]*)(?P<closed>/?)", re.IGNORECASE)
# A name alone, and a range of addresses (`10.0.0.0/8`): no screen makes links of those. A name in another script is one
# to whoever reads it, since its letters do not show which.
_BARE = re.compile(
    rf"(?!www\.)(?!(?:[\w-]+\.)*xn--)(?:{_LABEL}\.){{1,8}}[^\W\d_]{{2,24}}|\d{{1,3}}(?:\.\d{{1,3}}){{3}}/\d{{1,2}}",
    re.IGNORECASE,
)
_PARTS = re.compile(r"(?:(?P<scheme>[a-z][a-z0-9+.-]*):[/\\]{2})?(?P<host>[^/\\?#]*)(?P<rest>.*)", re.I | re.S)
_OPAQUE = re.compile(rf"(?P<scheme>{_OPENED}):(?![/\\]{{2}})(?P<rest>.+)", re.IGNORECASE | re.DOTALL)
_HOST = re.compile(r"(?P<name>[^\s@:]+)(?::\d{1,5})?")
_SLASHES = ("//", "\\\\")
_CLOSES = "`.,;:!?'\")]}*_…»”’"
_PAIRS = {")": "(", "]": "[", "}": "{"}
_DOTS = str.maketrans("。．｡", "...")


@kept(most=16_384)
def address(url: str) -> str:
    """A URL for comparison: no case tells two schemes or hosts apart, and `https` may be left out. All else is its own:
    `http`, `www.`, the case of a path, and of what opens a program."""
    if (opened := _OPAQUE.fullmatch(url.strip())) is not None:
        return f"{opened['scheme'].casefold()}:{opened['rest']}"
    found = _PARTS.fullmatch(url.strip())
    if found is None or not found["host"]:
        return url.strip()
    scheme, host = (found["scheme"] or "https").casefold(), found["host"].casefold()
    rest = "" if found["rest"] == "/" else found["rest"]
    return f"{host}{rest}" if scheme == "https" else f"{scheme}://{host}{rest}"


@kept(most=16_384)
def urls(text: str) -> frozenset[str]:
    """The addresses of web pages in a text, and what a browser would run or open in their place."""
    return frozenset(address(_closed(found[0])) for found in _URL.finditer(_seen(text)))


@kept(most=16_384)
def linked(text: str) -> frozenset[str]:
    """The addresses in what is said to a user that a screen makes links of, or fetches by itself: URLs, with a path
    also without a scheme, and all that markup points to. A name alone and a range of addresses are none until markup,
    or slashes before them, make them some; an element of XML that ends in the text is none."""
    seen = _seen(text)
    closed = ((found, _closed(found[0])) for found in _URL.finditer(seen))
    written = {
        address(_run_on(seen, found))
        for found, one in closed
        if not _BARE.fullmatch(one) or seen.endswith(_SLASHES, 0, found.start())
    }
    marked = (one for one in _MARKUP.finditer(seen) if not _is_element(one["alone"], seen))
    pointed = (next(filter(None, one.groups())) for one in marked)
    return frozenset(written | {address(one) for one in pointed if not one.startswith("#")})


def _is_element(alone: str | None, text: str) -> bool:
    """Whether what stands between angle brackets is an element of XML, which ends in the text."""
    found = _ELEMENT.fullmatch(alone) if alone else None
    return found is not None and (bool(found["closed"]) or f"</{found['name']}>" in text)


def host(link: str) -> str | None:
    """The host of an address of a web page, without its port; None where it is no such address, or holds a name before
    its host, that reads like one (`https://known.example:x@evil.example`)."""
    found = _PARTS.fullmatch(link)
    if found is None or (found["scheme"] or "https").casefold() not in ("http", "https"):
        return None
    named = _HOST.fullmatch(found["host"])
    return named["name"].casefold() if named else None


def is_link(text: str) -> bool:
    """Whether a text is written as a link, and is nothing else."""
    return text.strip().casefold().startswith(("http://", "https://", "www."))


def _seen(text: str) -> str:
    """A text as a browser reads it: without characters that are not seen, in their plain form."""
    if text.isascii():
        return text
    bare = "".join(one for one in visible(text) if category(one) != "Cf")
    return normalize("NFKC", bare).translate(_DOTS)


def _run_on(text: str, found: re.Match[str]) -> str:
    """A link as a chat takes it that knows no quotes: up to the next blank, where it stands alone."""
    before = text[found.start() - 1 : found.start()]
    alone = not before or before.isspace() or before in _BEGINS_ALONE
    end = _RUNS_ON.match(text, found.end()) if alone else None
    return _closed(text[found.start() : end.end()] if end else found[0])


def _closed(found: str) -> str:
    """A link without the signs behind it that belong to the sentence: a bracket that it opened is its own."""
    while found and found[-1] in _CLOSES:
        opening = _PAIRS.get(found[-1])
        if opening is not None and found.count(opening) >= found.count(found[-1]):
            break
        found = found[:-1]
    return found
