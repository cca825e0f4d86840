"""`agent skills`: the shipped skills in a terminal of 80 columns and as JSON, and what is refused."""

import shutil
import sys
from pathlib import Path

import pytest

import domain
from tests.graph.cli.conftest import SameProgram, one_line_error


def test_the_list_has_each_skill_with_its_standing(same: SameProgram) -> None:
    done = same("skills", "list")
    assert done.code == 0
    assert max(len(line) for line in done.out.splitlines()) <= 80
    for told in ("outage-credit ", "weekly-page ", " pinned, reviewed by maintainers ", "scripts/credit.py"):
        assert told in done.out
    found = same("skills", "list", "--json").json()
    assert [(one["name"], one["standing"]) for one in found["skills"]] == [
        ("outage-credit", "pinned"),
        ("weekly-page", "pinned"),
    ]


def test_a_review_shows_every_file_and_how_to_pin_it(same: SameProgram) -> None:
    done = same("skills", "review", "outage-credit")
    assert (done.code, done.err) == (0, "")
    for told in ("SKILL.md · same · sha256 ", "TIMES_THE_HOUR", "agent skills lock outage-credit "):
        assert told in done.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("review", "../outside"), "got the skill '../outside'; allowed: outage-credit, weekly-page"),
        (("lock", "weekly-page", "0123456789ab", "--by", "ana"), "got version 0123456789ab, and weekly-page is "),
    ],
)
def test_what_is_refused_is_one_line(arguments: tuple[str, ...], says: str, same: SameProgram) -> None:
    before = domain.LOCK.read_bytes()
    assert says in one_line_error(same("skills", *arguments), 2)
    assert domain.LOCK.read_bytes() == before


def test_a_changed_skill_is_said_and_is_exit_1_and_can_be_pinned(
    same: SameProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skills, lock = tmp_path / "skills", tmp_path / "lock.json"
    shutil.copytree(domain.SKILLS, skills)
    shutil.copy(domain.LOCK, lock)
    monkeypatch.setattr(sys.modules["domain"], "SKILLS", skills)
    monkeypatch.setattr(sys.modules["domain"], "LOCK", lock)
    with (skills / "weekly-page/SKILL.md").open("a") as file:
        file.write("All is \u200bwell.\n")
    done = same("skills", "list")
    assert (done.code, "changed, reviewed by maintainers" in done.out) == (1, True)
    shown = same("skills", "review", "weekly-page")
    assert "All is \\u200bwell." in shown.out
    assert "hidden_characters" in shown.out
    version = same("skills", "review", "weekly-page", "--json").json()["version"]
    assert "signs of hidden_characters" in one_line_error(
        same("skills", "lock", "weekly-page", version, "--by", "a"), 2
    )
    done = same("skills", "lock", "weekly-page", version, "--by", "ana", "--despite-signs")
    assert (done.code, version in done.out) == (0, True)
    assert same("skills", "list").code == 0
    lock.write_text("{")
    assert "no JSON of a lock" in one_line_error(same("skills", "list"), 1)
