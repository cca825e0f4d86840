"""The lock: what is pinned, what changed, and a file that is whole or refused."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from graph.lock_file import LockUnusable, read_lock, write_lock
from state.lock import Lock, PinnedSkill, PinnedTool, Review, Standing

A, B = "a" * 64, "b" * 64
REVIEW = Review(by="ana@acme", at=datetime(2026, 7, 1, tzinfo=UTC))
LOCK = (
    Lock()
    .with_skill("refund-steps", PinnedSkill(files={"SKILL.md": A, "scripts/sum.py": B}, reviewed=REVIEW))
    .with_tool("search", "lookup", PinnedTool(definition=A, reviewed=REVIEW))
)


@pytest.mark.parametrize(
    ("standing", "expected"),
    [
        (LOCK.skill("refund-steps", {"scripts/sum.py": B, "SKILL.md": A}), Standing.PINNED),
        (LOCK.skill("refund-steps", {"SKILL.md": A}), Standing.CHANGED),
        (LOCK.skill("refund-steps", {"SKILL.md": A, "scripts/sum.py": A}), Standing.CHANGED),
        (LOCK.skill("refund-steps", {"SKILL.md": A, "scripts/sum.py": B, "more.md": A}), Standing.CHANGED),
        (LOCK.skill("Refund-Steps", {"SKILL.md": A, "scripts/sum.py": B}), Standing.UNREVIEWED),
        (LOCK.tool("search", "lookup", A), Standing.PINNED),
        (LOCK.tool("search", "lookup", B), Standing.CHANGED),
        (LOCK.tool("other", "lookup", A), Standing.UNREVIEWED),
        (LOCK.tool("search", "look_up", A), Standing.UNREVIEWED),
    ],
)
def test_only_what_is_as_it_was_reviewed_is_pinned(standing: Standing, expected: Standing) -> None:
    assert standing is expected


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../x", "a/../b", "a//b", "./a", "a/.", "a\\b", "a\nb", "", "..", "a/"]
)
def test_a_pin_names_no_file_outside_the_skill(path: str) -> None:
    with pytest.raises(ValidationError):
        PinnedSkill(files={path: A}, reviewed=REVIEW)


def test_a_written_lock_is_read_back_and_written_the_same(tmp_path: Path) -> None:
    path = tmp_path / "lock.json"
    write_lock(path, LOCK)
    first = path.read_bytes()
    assert read_lock(path) == LOCK
    write_lock(path, read_lock(path))
    assert path.read_bytes() == first
    assert [one.name for one in tmp_path.iterdir()] == ["lock.json"]


@given(names=st.permutations(["b", "a", "c"]))
def test_the_order_of_reviews_leaves_no_trace(names: list[str]) -> None:
    lock = Lock()
    for name in names:
        lock = lock.with_skill(name, PinnedSkill(files={"SKILL.md": A}, reviewed=REVIEW))
    assert lock == Lock(skills={n: PinnedSkill(files={"SKILL.md": A}, reviewed=REVIEW) for n in ("a", "b", "c")})


def test_without_a_file_nothing_is_reviewed(tmp_path: Path) -> None:
    assert read_lock(None) == read_lock(tmp_path / "none.json") == Lock()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "no JSON of a lock"),
        ("", "no JSON of a lock"),
        ("[" * 100_000, "no JSON of a lock"),
        ('{"version": 1, "version": 1}', "the field 'version' stands twice"),
        ("[]", "version None; allowed: 1"),
        ('{"skills": {}}', "version None; allowed: 1"),
        ('{"version": 2, "skills": []}', "version 2; allowed: 1"),
        ('{"version": true}', "version True; allowed: 1"),
        ('{"version": 1, "more": 1}', "wrong more"),
        ('{"version": 1, "skills": {"a": {"files": {"SKILL.md": "A"}}}}', "wrong skills.a.files.SKILL.md"),
        ('{"version": 1, "mcp": {"s": {"t": {"definition": ""}}}}', "wrong mcp.s.t.definition"),
        (" " * 4_000_001, "more than 4,000,000 bytes"),
    ],
)
def test_a_broken_lock_is_one_clear_error(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "lock.json"
    path.write_text(text)
    with pytest.raises(LockUnusable) as caught:
        read_lock(path)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_lock_that_cannot_be_written_leaves_no_draft(tmp_path: Path) -> None:
    (tmp_path / "lock.json").mkdir()
    with pytest.raises(LockUnusable, match="review where the domain's sources are"):
        write_lock(tmp_path / "lock.json", LOCK)
    assert [one.name for one in tmp_path.iterdir()] == ["lock.json"]
