"""Masking: known values by name, others by pattern, in messages, arguments, tracebacks and extras; nothing else."""

import base64
import json
import logging
import re
from collections.abc import Callable, Iterator
from io import StringIO
from logging.handlers import QueueHandler
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple
from urllib.parse import quote_plus

import pytest
from pydantic import SecretStr

from graph import masking
from graph.doctor import _checked
from graph.domain_loading import _broken
from graph.masking import install, learn, masked
from graph.models.failures import failure
from graph.stores.unavailable import StoreUnavailable
from graph.stores.url import database_url, spelt

VALUE = "demo-cred-4471/QWER"
CORPUS = Path(__file__).resolve().parents[2] / "domain" / "corpus"


@pytest.fixture(autouse=True)
def knows() -> None:
    masking.known.add("billing_api", VALUE)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"got {VALUE}", "got [secret billing_api]"),
        ("https://host/?key=demo-cred-4471%2FQWER", "https://host/?key=[secret billing_api]"),
        ("Authorization: Bearer abc123def456", "Authorization: Bearer [secret]"),
        ("{'authorization': 'Basic dXNlcjpwYXNz'}", "{'authorization': 'Basic [secret]'}"),
        ("key sk-proj-0123456789abcdefghij!", "key [secret]!"),
        ("postgresql://bea:hunter2x@host/db", "postgresql://bea:[secret]@host/db"),
        ("connect password=hunter2x host=h", "connect password=[secret] host=h"),
        ('{"api_key": "hunter2x"}', '{"api_key": "[secret]"}'),
    ],
)
def test_what_is_secret_is_masked_and_masking_twice_changes_nothing(text: str, shown: str) -> None:
    assert masked(text) == shown
    assert masked(shown) == shown


ARMOURED = "-----BEGIN KEY-----\nMIIBVgIBADANBgkqhk\niG9w0BAQEFAASCxyz1\n-----END KEY-----"
ODD: dict[str, str] = {"quoted": 'pa"ss\\word-9fzz17', "armoured": ARMOURED, "accented": "contraseña-larga-8812 x"}
SPELT: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "as JSON": lambda value: json.dumps(value)[1:-1],
    "as JSON with its letters": lambda value: json.dumps(value, ensure_ascii=False)[1:-1],
    "as Python says it": lambda value: repr(value)[1:-1],
    "as bytes": lambda value: repr(value.encode())[2:-1],
    "in a form": quote_plus,
    "in an address, in small letters": lambda value: re.sub("%..", lambda hit: hit[0].lower(), quote_plus(value)),
    "in hex": lambda value: value.encode().hex(),
    "in base64": lambda value: base64.b64encode(value.encode()).decode(),
    "of Basic": lambda value: base64.b64encode(f"user:{value}".encode()).decode(),
    "of Basic, another name": lambda value: base64.b64encode(f"ann:{value}".encode()).decode(),
    "of Basic, a third": lambda value: base64.b64encode(f"bo:{value}".encode()).decode(),
    "one line of it": lambda value: value.splitlines()[-2 if "\n" in value else 0],
}


@pytest.mark.parametrize("how", SPELT)
@pytest.mark.parametrize("name", ODD)
def test_a_known_value_is_masked_however_it_is_spelt(name: str, how: str) -> None:
    value = ODD[name]
    masking.known.add(name, value)
    spelt = SPELT[how](value)
    shown = masked(f"<{spelt}>")
    assert f"[secret {name}]" in shown
    assert not [
        spelt[at : at + 10] for at in range(len(spelt) - 9) if spelt[at : at + 10] in shown.replace("-----", "")
    ]


LONG = (
    "deadbeef",
    "a",
    "a.b-",
    "eyJaaaaaaaa-",
    "sk-",
    "bearer ",
    'password" ',
    "authorization: ",
    "a://b:",
    "a://b:c@",
    " ",
)


@pytest.mark.parametrize("unit", LONG)
def test_a_megabyte_of_anything_is_looked_through_in_one_go(unit: str) -> None:
    """A scan that went back for each place of it would not end today: what third parties write is masked too."""
    masked(unit * (1_000_000 // len(unit)))


@pytest.mark.parametrize(
    "text",
    [
        "Why is my API key not working? Key K-1007 of A-123 is revoked.",
        "a bearer authentication scheme; basic information; the password: required",
        "runbook/api-keys@v7#revoked-keys, toolrun://req-1a9dd02d56a060a8/step-1",
        "postgresql://bea:***@host/db at http://127.0.0.1:2024/threads",
        "art-0f3c0f3c0f3c0f3c ana@acme 2026-07-15T09:30:00+00:00",
        'curl --header "Authorization: Bearer $SERVICE_TOKEN" and Authorization: Basic <your-credentials>',
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert masked(text) == text


def test_no_page_of_the_shipped_corpus_looks_like_a_secret() -> None:
    """An answer that quotes it would not be said."""
    pages = {page.name: page.read_text(encoding="utf-8") for page in CORPUS.rglob("*.md")}
    assert len(pages) > 25
    assert {name for name, text in pages.items() if masked(text) != text} == set()


@pytest.fixture
def written() -> Iterator[StringIO]:
    """What a handler with a formatter of its own writes."""
    before = logging.getLogRecordFactory()
    install()
    stream, handler, logger = StringIO(), None, logging.getLogger("somebody.else")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(message)s %(sent)s", defaults={"sent": ""}))
    logger.addHandler(handler)
    yield stream
    logger.removeHandler(handler)
    logging.setLogRecordFactory(before)


def test_a_log_line_is_masked_whoever_writes_it(written: StringIO) -> None:
    log = logging.getLogger("somebody.else")
    log.warning("sent %s with %d", VALUE, 7)
    log.warning({"event": f"sent {VALUE}"})
    log.warning("nothing with %d", 7)
    try:
        raise RuntimeError(f"refused {VALUE}")
    except RuntimeError:
        log.exception("failed")
    told = written.getvalue()
    assert VALUE not in told
    assert "sent [secret billing_api] with 7" in told
    assert "nothing with 7" in told
    assert "RuntimeError: refused [secret billing_api]" in told


class Sent(NamedTuple):
    to: str


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        (VALUE, "[secret billing_api]"),
        ({"to": [VALUE], VALUE: 7}, {"to": ["[secret billing_api]"], "[secret billing_api]": 7}),
        ((7, None, {"to": ("x", VALUE)}), (7, None, {"to": ("x", "[secret billing_api]")})),
        (RuntimeError(VALUE), "[secret billing_api]"),
        (Sent(VALUE), "Sent(to='[secret billing_api]')"),
        ({VALUE}, "{'[secret billing_api]'}"),
        (type(f"Sent_{VALUE}", (), {"__str__": lambda _: "a thing"})(), "a thing"),
        (VALUE.encode(), "b'[secret billing_api]'"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_what_is_given_as_extra_is_masked_whichever_logger_takes_it(
    written: StringIO, sent: object, shown: object
) -> None:
    log = logging.getLogger("somebody.else")
    seen: list[logging.LogRecord] = []
    handler = QueueHandler(SimpleQueue())
    handler.enqueue = seen.append  # type: ignore[assignment, method-assign]  # what another process would be sent
    log.addHandler(handler)
    log.warning("sent", extra={"sent": sent})
    log.removeHandler(handler)
    assert VALUE not in written.getvalue() + repr(seen[0].__dict__)
    assert seen[0].__dict__["sent"] == shown


def test_what_says_nothing_secret_stays_the_object_it_is(written: StringIO) -> None:
    sent = Sent("ana")
    logging.getLogger("somebody.else").warning("sent", extra={"sent": sent})
    assert "sent Sent(to='ana')" in written.getvalue()
    record = logging.getLogRecordFactory()("n", 10, "file", 1, {"event": f"sent {VALUE}", "n": 7}, (), None)
    record.__dict__["sent"] = sent
    assert (record.msg, record.__dict__["sent"]) == ({"event": "sent [secret billing_api]", "n": 7}, sent)
    assert record.__dict__["sent"] is sent


def test_a_stack_and_the_name_of_an_exceptions_class_are_masked(written: StringIO) -> None:
    log = logging.getLogger("somebody.else")
    try:
        raise type(VALUE, (Exception,), {})("refused")
    except Exception:  # a class that is named after the secret
        log.exception("failed")
    log.warning("sent", stack_info=True)  # demo-cred-4471/QWER
    assert "[secret billing_api]: refused" in written.getvalue()
    assert "# [secret billing_api]" in written.getvalue()
    assert VALUE not in written.getvalue()


def test_arguments_that_do_not_fit_end_nothing(written: StringIO) -> None:
    logging.getLogger("somebody.else").debug("one %s", "two", "three")
    assert written.getvalue() == ""


def test_of_a_database_url_the_password_is_known(written: StringIO) -> None:
    url = "postgresql://bea:pass%20phrase-77@host/db"
    learn({"database_url": SecretStr(url)})
    assert masked("got pass phrase-77 and pass%20phrase-77") == "got [secret database_url] and [secret database_url]"
    shown = str(StoreUnavailable(spelt(database_url(url)), f"no answer from {url}", "a server", "start it"))
    assert "phrase-77" not in shown


def test_the_name_of_an_exceptions_class_is_masked_where_it_is_told() -> None:
    error = type(VALUE, (Exception,), {})("refused")

    def broken() -> str:
        raise error

    told = (failure(error).outcome.detail, _checked("domain", broken).found, str(_broken("domain", error_of(broken))))
    assert all("[secret billing_api]" in each and VALUE not in each for each in told)


def error_of(run: Callable[[], object]) -> Exception:
    """What it raises, with the place where it was raised."""
    with pytest.raises(Exception, match="refused") as raised:
        run()
    return raised.value
