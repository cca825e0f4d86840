"""A review shows a skill beside its pin, and pins exactly what was shown."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from graph.lock_file import read_lock
from graph.skill_review import NotReviewed, UnknownSkill, overview, pin, review, told
from graph.skills import with_skills
from state.checks.skill_signs import Sign
from state.domain import Domain
from state.lock import Standing
from tests.desk import Desk
from tests.fakes import NOW
from tests.graph.order_desk import desk_domain
from tests.graph.skills_on_disk import PARCEL, write_skill

Look = Callable[[], Domain]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "skills").mkdir()
    return write_skill(tmp_path / "skills", "late-parcel", PARCEL)


@pytest.fixture
def look(tmp_path: Path, folder: Path) -> Look:
    """The desk with its skills as they are now."""
    desk = replace(desk_domain(tmp_path, Desk()), skills=tmp_path / "skills", lock=tmp_path / "lock.json")
    return lambda: with_skills(desk)


def standing(look: Look) -> Standing:
    (one,) = overview(look(), None).skills
    return one.standing


def pinned(look: Look, **more: bool) -> Path:
    shown = review(look(), "late-parcel")
    return pin(look(), "late-parcel", shown.version, "ana", NOW, **more)


def test_what_was_reviewed_is_pinned_until_a_byte_changes(look: Look, folder: Path, tmp_path: Path) -> None:
    assert standing(look) is Standing.UNREVIEWED
    assert pinned(look) == tmp_path / "lock.json"
    assert standing(look) is Standing.PINNED
    with (folder / "references/carriers.md").open("a") as file:
        file.write(" ")
    assert standing(look) is Standing.CHANGED
    pinned(look)
    assert standing(look) is Standing.PINNED
    assert read_lock(tmp_path / "lock.json").skills["late-parcel"].reviewed.by == "ana"


def test_a_review_says_of_each_file_what_became_of_it(look: Look, folder: Path) -> None:
    pinned(look)
    (folder / "references/carriers.md").unlink()
    (folder / "scripts/trace.py").write_text("import socket\n")
    (folder / "more.bin").write_bytes(b"\xff")
    shown = review(look(), "late-parcel")
    assert [(file.path, file.status, file.text is None) for file in shown.files] == [
        ("SKILL.md", "same", False),
        ("more.bin", "new", True),
        ("scripts/trace.py", "changed", False),
        ("references/carriers.md", "gone", True),
    ]
    assert [(seen.sign, seen.file) for seen in shown.signs] == [
        (Sign.NETWORK, "scripts/trace.py"),
        (Sign.NOT_TEXT, "more.bin"),
    ]


def test_another_version_than_the_reviewed_one_is_not_pinned(look: Look, folder: Path, tmp_path: Path) -> None:
    version = review(look(), "late-parcel").version
    (folder / "SKILL.md").write_text((folder / "SKILL.md").read_text() + "One line more.\n")
    with pytest.raises(NotReviewed, match=f"got version {version}, and late-parcel is "):
        pin(look(), "late-parcel", version, "ana", NOW)
    assert not (tmp_path / "lock.json").exists()


def test_what_the_scanner_flags_is_pinned_only_if_it_is_meant(look: Look, folder: Path) -> None:
    (folder / "scripts/trace.py").write_text("import os\nprint(os.environ)\n")
    with pytest.raises(NotReviewed, match="signs of secrets; take them out, or give --despite-signs"):
        pinned(look)
    pinned(look, despite_signs=True)
    assert standing(look) is Standing.PINNED


@pytest.mark.parametrize("name", ["../outside", "/tmp/x", "a/../../b", "LATE-PARCEL", "late-parcel/", ""])
def test_a_name_is_looked_up_and_never_followed(name: str, look: Look) -> None:
    with pytest.raises(UnknownSkill, match=r"allowed: late-parcel$"):
        review(look(), name)


def test_a_skill_that_cannot_be_read_says_why(look: Look, folder: Path) -> None:
    (folder / "SKILL.md").unlink()
    with pytest.raises(UnknownSkill, match=r"late-parcel: no_skill_file: no SKILL\.md"):
        review(look(), "late-parcel")


def test_without_a_lock_or_a_reviewer_nothing_is_pinned(look: Look) -> None:
    version = review(look(), "late-parcel").version
    with pytest.raises(NotReviewed, match="got no lock"):
        pin(replace(look(), lock=None), "late-parcel", version, "ana", NOW)
    for nobody in ("", "a\nb", "x" * 161):
        with pytest.raises(ValidationError):
            pin(look(), "late-parcel", version, nobody, NOW)


def test_the_doctor_is_told_how_the_skills_stand(look: Look, folder: Path) -> None:
    assert told(look(), lambda: None) == ("0 pinned and offered, 1 nobody reviewed: late-parcel", "")
    pinned(look)
    assert told(look(), lambda: None) == ("1 pinned and offered, scripts run confined", "")
    assert told(look(), lambda: "no Landlock")[0] == "1 pinned and offered, no script runs here: no Landlock"
    (folder.parent / "empty").mkdir()
    assert told(look(), lambda: None)[0] == "cannot be read: empty (no_skill_file)"
    (folder / "more.md").touch()
    assert told(look(), lambda: None)[0] == "not as they were reviewed, and so not offered: late-parcel"
