"""Masking: known values by name, others by pattern, in messages, arguments, tracebacks and extras; nothing else."""

import logging
from collections.abc import Iterator
from io import StringIO

import pytest
from pydantic import SecretStr

from graph.masking import Masking, install, known, learn, masked
from graph.stores.unavailable import StoreUnavailable
from graph.stores.url import database_url, spelt

VALUE = "demo-cred-4471/QWER"


@pytest.fixture(autouse=True)
def knows() -> None:
    known.add("billing_api", VALUE)


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


@pytest.mark.parametrize(
    "text",
    [
        "Why is my API key not working? Key K-1007 of A-123 is revoked.",
        "a bearer authentication scheme; basic information; the password: required",
        "runbook/api-keys@v7#revoked-keys, toolrun://req-1a9dd02d56a060a8/step-1",
        "postgresql://bea:***@host/db at http://127.0.0.1:2024/threads",
        "art-0f3c0f3c0f3c0f3c ana@acme 2026-07-15T09:30:00+00:00",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert masked(text) == text


@pytest.fixture
def written() -> Iterator[StringIO]:
    """What a handler with a formatter of its own writes."""
    before = logging.getLogRecordFactory()
    install()
    stream, handler, logger = StringIO(), None, logging.getLogger("somebody.else")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(message)s"))
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


def test_an_event_stays_an_event_and_what_was_added_is_masked_too() -> None:
    record = logging.makeLogRecord({"msg": {"event": f"sent {VALUE}", "n": 7}, "sent": {"to": [VALUE]}})
    assert Masking().filter(record)
    assert record.msg == {"event": "sent [secret billing_api]", "n": 7}
    assert record.__dict__["sent"] == {"to": ["[secret billing_api]"]}


def test_arguments_that_do_not_fit_end_nothing(written: StringIO) -> None:
    logging.getLogger("somebody.else").debug("one %s", "two", "three")
    assert written.getvalue() == ""


def test_of_a_database_url_the_password_is_known(written: StringIO) -> None:
    url = "postgresql://bea:pass%20phrase-77@host/db"
    learn({"database_url": SecretStr(url)})
    assert masked("got pass phrase-77 and pass%20phrase-77") == "got [secret database_url] and [secret database_url]"
    shown = str(StoreUnavailable(spelt(database_url(url)), f"no answer from {url}", "a server", "start it"))
    assert "phrase-77" not in shown
