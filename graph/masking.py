"""Nothing secret in what this process says: known values by value, others by pattern, in logs and errors (X7).

The libraries that were looked at do not fit: detect-secrets finds and does not mask, maskerlogger brings gitleaks'
rules for some hundred services into every log line, loggingredactor is a filter around patterns of one's own. None
masks by value, which is the part that can be relied on; the patterns are for what nobody told us of.
"""

import logging
import re
import threading
import traceback
from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from graph.spellings import spellings

# A shorter value stands in ordinary words too, and masking it would spoil the text: settings refuse such secrets.
MIN_VALUE_CHARS = 8
HIDDEN = "[secret]"

# Each begins where no part of it can stand before, and bounds what it repeats: a scan is linear, whatever a text holds.
_PATTERNS = (
    # user:password@ of an address; the user alone stays, since it says who was refused.
    (
        re.compile(
            r"(?P<kept>(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,30}://[^\s/:@?#]{0,1000}:)(?!\*+@)[^\s/@]{1,1000}(?=@)",
            re.IGNORECASE,
        ),
        rf"\g<kept>{HIDDEN}",
    ),
    (
        re.compile(r"(?P<kept>\bbearer\s{1,20})(?=\S{0,2000}[0-9])[a-z0-9._~+/=-]{8,}", re.IGNORECASE),
        rf"\g<kept>{HIDDEN}",
    ),
    (
        # A variable or a placeholder of an example is none: `Bearer $TOKEN`, `Bearer <your key>`.
        re.compile(
            r"(?P<kept>\bauthorization[\"']?\s{0,20}[:=]\s{0,20}[\"']?\w{1,40}\s{1,20})(?!\[secret|\$[{A-Z]|[<{])[^\s\"',]{8,}",
            re.IGNORECASE,
        ),
        rf"\g<kept>{HIDDEN}",
    ),
    (re.compile(r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}"), HIDDEN),
    (
        re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
        HIDDEN,
    ),  # a signed token
    # The query of an address, JSON, and `password=…` as drivers write it.
    (
        re.compile(
            r"(?P<kept>\b(?:password|passwd|api[_-]?key|access[_-]?token|client[_-]?secret)(?:=|[\"']\s{0,20}:\s{0,20})[\"']?)"
            r"(?!\[secret)[^\s\"'&;,)}]{4,}",
            re.IGNORECASE,
        ),
        rf"\g<kept>{HIDDEN}",
    ),
)


class Secret(Protocol):
    """A value that does not print, such as pydantic's SecretStr; `--help` does not wait for that to be imported."""

    def get_secret_value(self) -> str: ...


class Known:
    """The values that are masked by value, each with the name that stands in its place. Never prints them."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._found: re.Pattern[str] | None = None  # made when a text is to be masked: of many values it is dear
        self._lock = threading.RLock()  # a signal may log amid a log

    def add(self, name: str, value: str) -> None:
        """Mask this value from now on, however it is spelt."""
        spelt = {each: name for each in spellings(value) if len(each) >= MIN_VALUE_CHARS}
        with self._lock:
            if not spelt.items() <= self._names.items():
                self._names.update(spelt)
                self._found = None

    def masked(self, text: str) -> str:
        """The text with `[secret NAME]` where a value stood."""
        found = self._found or self._pattern()
        return text if found is None else found.sub(lambda hit: f"[secret {self._names[hit[0]]}]", text)

    def _pattern(self) -> re.Pattern[str] | None:
        with self._lock:
            if self._found is None and self._names:
                # The longest first: a value may begin with another one.
                values = sorted(self._names, key=lambda each: (-len(each), each))
                self._found = re.compile("|".join(map(re.escape, values)))
            return self._found


# Of the process, as its environment is: a log line does not say which app it comes from.
known = Known()


def masked(text: str) -> str:
    """A text as it may be shown: known values by name, then what looks like a secret."""
    text = known.masked(text)
    for pattern, instead in _PATTERNS:
        text = pattern.sub(instead, text)
    return text


class _Fields(dict[str, Any]):
    """The fields of a record. A logger adds what it is given as `extra` once the record is made: masked as it comes."""

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, _deep(value))


def mask_record(record: logging.LogRecord) -> None:
    """Mask all that a record says, in place: message, arguments, traceback, stack, and what is added to it later.

    One that says nothing secret is left as it is, its arguments too.
    """
    if isinstance(record.msg, Mapping):
        record.msg = _deep(record.msg)  # a structured log's event: it stays one
    elif masked(told := _told(record)) != told:
        record.msg, record.args = masked(told), ()
    if record.exc_info and record.exc_info[0] is not None:
        trace = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
        if masked(trace) != trace:
            # The exception itself would be written out by whoever formats it anew.
            record.exc_info, record.exc_text = None, masked(trace)
    elif record.exc_text:
        record.exc_text = masked(record.exc_text)
    if record.stack_info:
        record.stack_info = masked(record.stack_info)
    record.__dict__ = _Fields(record.__dict__)


def learn(secrets: Mapping[str, Secret]) -> None:
    """Mask these values from now on, by their names; of an address its password too."""
    for name, secret in secrets.items():
        value = secret.get_secret_value()
        try:
            password = urlsplit(value).password if "://" in value else None
        except ValueError:
            password = None
        known.add(name, value)
        if password:
            known.add(name, unquote(password))


def install() -> None:
    """Mask every log record of this process from its making on, whoever handles it. Once is enough."""
    before = logging.getLogRecordFactory()
    if getattr(before, "masks", False):
        return

    def made(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = before(*args, **kwargs)
        mask_record(record)
        return record

    made.masks = True  # type: ignore[attr-defined]  # a mark on our own function, read above
    logging.setLogRecordFactory(made)


def _told(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001  # arguments that do not fit the message: logging itself says so later
        return f"{record.msg} {record.args}"


def _deep(value: Any) -> Any:
    match value:
        case None | bool() | int() | float():
            return value
        case str():
            return masked(value)
        case Mapping():
            return {_deep(key): _deep(inner) for key, inner in value.items()}
        case list() | tuple() if type(value) in (list, tuple):
            return type(value)(map(_deep, value))
        case _:
            return _as_said(value)


def _as_said(value: Any) -> Any:
    """Any other object, or what it says of itself where that holds a secret: formatters write that out."""
    try:
        said = (str(value), repr(value))
    except Exception:  # noqa: BLE001  # whoever formats the record meets the same
        return value
    return value if tuple(map(masked, said)) == said else masked(said[0])
