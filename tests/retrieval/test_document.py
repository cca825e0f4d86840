"""Front matter: what is read of it, and each way it can be broken."""

from datetime import UTC, datetime

import pytest

from retrieval.faults import BrokenDocument
from retrieval.formats import parse_document
from state.context import Classification

GOOD = "id: runbook/api-keys\nversion: v7\ntenant: public\n"


def parse(front: str, body: str = "# API keys\n\ntext\n") -> object:
    return parse_document("api-keys.md", f"---\n{front}---\n{body}".encode())


def test_all_keys_are_read() -> None:
    document = parse_document(
        "a.md",
        b"\xef\xbb\xbf---\r\nid: runbook/api-keys\r\ntitle: 'Keys: all'\r\nversion: 7\r\neffective_from: 2026-02-01\r\n"
        b"effective_to: 2027-01-01T00:00:00+02:00\r\nsupersedes: [v6, old@v2]\r\ntenant: t1\r\nacl: [hr, 7]\r\n"
        b"product: api\r\nlanguage: es\r\nclassification: personal\r\nauthority: 0.9\r\n---\r\nbody\r\n",
    )
    front = document.front
    assert (front.version, front.supersedes, front.acl) == ("7", ("v6", "old@v2"), ("hr", "7"))
    assert front.effective_from == datetime(2026, 2, 1, tzinfo=UTC)
    assert front.effective_to == datetime(2026, 12, 31, 22, tzinfo=UTC)
    assert (front.classification, front.authority, front.language) == (Classification.PERSONAL, 0.9, "es")
    assert document.text[document.body_start :] == "body\r\n"
    assert document.source == "runbook/api-keys@7"


@pytest.mark.parametrize(
    ("front", "reason"),
    [
        ("version: v7\ntenant: public\n", "id: missing; add it to the front matter"),
        ("id: a\ntenant: public\n", "version: missing"),
        ("id: a\nversion: v7\n", "tenant: missing"),
        (GOOD + "effective_from: 2026-13-40\n", "not valid YAML: .*month must be in 1..12"),
        (GOOD + "effective_from: soon\n", "effective_from: .*soon"),
        (GOOD + "effective_from: 2026-02-01T10:00:00\n", "effective_from: got .*without a zone"),
        (GOOD + "effective_from: 20\n", "effective_from: got 20: write a date"),
        (GOOD + "effective_from: 2026-02-01\neffective_to: 2026-02-01\n", "effective_to: does not lie after"),
        (GOOD + "acl: hr\n", r"acl: got 'hr': write a list such as \[hr, ops\]"),
        (GOOD + "acl:\n", "acl: got None: write a list"),
        (GOOD + "acls: [hr]\n", "acls: unknown key; allowed: id, title, version"),
        (GOOD + "authority: 2\n", "authority: Input should be less than or equal to 1"),
        (GOOD + "classification: secret\n", "classification: Input should be 'public', 'internal' or 'personal'"),
        (GOOD + "states: {top: {retries: [8]}}\n", "states: Input should be a valid"),
        (GOOD + "states: {top: {'No Name': 8}}\n", "states: String should match pattern"),
        (GOOD + "supersedes: v7\n", "supersedes: names the version itself"),
        ("id: a b\nversion: v7\ntenant: public\n", "id: String should match pattern"),
        ("id: a\nversion: 1.10\ntenant: public\n", "version: got the number 1.1, which drops zeros"),
        ("id: a#b\nversion: v@7\ntenant: public\n", "id: .*; version: "),
        ("id: [unclosed\n", "not valid YAML"),
        ("- a\n- b\n", "the front matter holds no keys"),
        ("", "the front matter holds no keys"),
        ("id: !!python/object/apply:os.system ['true']\n", "not valid YAML"),
    ],
)
def test_a_broken_front_matter_names_file_and_reason(front: str, reason: str) -> None:
    with pytest.raises(BrokenDocument, match=f"^api-keys.md: .*{reason}") as caught:
        parse(front)
    assert caught.value.file == "api-keys.md"


BROKEN_ON_LINE_4 = {
    "a colon in a value": "title: Keys: all\n",
    "a list left open": "acl: [hr\nlanguage: es\n",
    "a tab": "\ttitle: Keys\n",
    "a day that is none": "effective_from: 2026-13-40\n",
    "an alias of nothing": "title: *keys\n",
    "a tag": "title: !!python/name:os.system a\n",
    "a character YAML refuses": "title: Keys \x07\n",
}


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["unix", "windows"])
@pytest.mark.parametrize("line", BROKEN_ON_LINE_4.values(), ids=BROKEN_ON_LINE_4.keys())
def test_what_is_no_yaml_is_told_by_its_line_in_the_file(line: str, ending: str) -> None:
    text = f"---\nid: a\nversion: v7\n{line}tenant: public\n---\nbody\n".replace("\n", ending)
    # A list that is left open is noticed on the line behind it.
    with pytest.raises(BrokenDocument, match=f"not valid YAML: line {5 if '[' in line else 4}[:,]"):
        parse_document("a.md", text.encode())


def test_a_front_matter_nested_without_end_is_broken() -> None:
    with pytest.raises(BrokenDocument, match="nested too deeply"):
        parse(f"id: {'[' * 50_000}\n")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "no front matter"),
        (b"# Just text\n", "no front matter; begin with a line `---`"),
        (b"---\nid: a\n", "no front matter"),
        (b"\xff\xfe---", "not UTF-8 at byte 0"),
        (f"---\n{GOOD}---\n \n".encode(), "no text behind the front matter"),
    ],
)
def test_a_file_without_front_matter_or_text_is_broken(raw: bytes, reason: str) -> None:
    with pytest.raises(BrokenDocument, match=reason):
        parse_document("a.md", raw)
