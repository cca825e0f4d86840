"""Skills on disk: the malformed ones are named faults, nothing outside the root is read, and the others still load."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.skill_folder import MOST_FILES, read_skills
from state.skill import FaultCode as Code
from state.skill import Skill

SECRET = "what lies outside"


def text(name: str, description: str = "Sums up an order.", body: str = "Do it so.", more: str = "") -> str:
    return f"---\nname: {name}\ndescription: {description}\n{more}---\n{body}\n"


def folder(root: Path, name: str, written: str | None = None) -> Path:
    made = root / name
    made.mkdir()
    (made / "SKILL.md").write_text(text(name) if written is None else written)
    return made


def with_file(path: str, data: bytes = b"x") -> Callable[[Path], object]:
    def make(root: Path) -> None:
        place = folder(root, "bad") / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)

    return make


def says(written: str) -> Callable[[Path], object]:
    return lambda root: folder(root, "bad", written)


def linked_file(root: Path) -> None:
    (folder(root, "bad") / "notes.md").symlink_to(root.parent / "outside.md")


def linked_skill_file(root: Path) -> None:
    (root / "bad").mkdir()
    (root / "bad/SKILL.md").symlink_to(root.parent / "outside.md")


def linked_folder(root: Path) -> None:
    folder(root.parent, "bad")
    (root / "bad").symlink_to(root.parent / "bad")


def linked_folder_below(root: Path) -> None:
    (folder(root, "bad") / "references").symlink_to("/etc")


def pipe(root: Path) -> None:
    os.mkfifo(folder(root, "bad") / "pipe")


def bound_socket(root: Path) -> None:
    made = folder(root, "bad")
    here = Path.cwd()
    os.chdir(made)  # the name of a socket may have no more than a hundred characters
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("s")
    finally:
        os.chdir(here)


def case_twins(root: Path) -> None:
    made = folder(root, "bad")
    (made / "Notes.md").write_text("1")
    (made / "notes.md").write_text("2")


def many(root: Path) -> None:
    made = folder(root, "bad")
    for number in range(MOST_FILES):
        (made / f"{number}.md").touch()


MALFORMED: dict[str, tuple[Callable[[Path], object], Code]] = {
    "no SKILL.md": (lambda root: (root / "bad").mkdir(), Code.NO_SKILL_FILE),
    "skill.md in small letters": (
        lambda root: folder(root, "bad").joinpath("SKILL.md").rename(root / "bad/skill.md"),
        Code.NO_SKILL_FILE,
    ),
    "SKILL.md is a link outside": (linked_skill_file, Code.LINK),
    "a file is a link outside": (linked_file, Code.LINK),
    "the folder is a link": (linked_folder, Code.FOLDER_IS_LINK),
    "a folder below is a link": (linked_folder_below, Code.LINK),
    "a pipe": (pipe, Code.NOT_A_FILE),
    "a socket": (bound_socket, Code.NOT_A_FILE),
    "a name that looks like another": (with_file("nоtes.md"), Code.UNSAFE_PATH),
    "a name that ends a line": (with_file("a\nb.md"), Code.UNSAFE_PATH),
    "a hidden file": (with_file(".env"), Code.UNSAFE_PATH),
    "two files that differ in case": (case_twins, Code.SAME_BUT_FOR_CASE),
    "too many files": (many, Code.TOO_MANY_FILES),
    "too deep": (with_file("a/b/c/d/e/f/g/h/i.md"), Code.TOO_DEEP),
    "a file too large": (with_file("big.bin", b"x" * 1_000_001), Code.TOO_LARGE),
    "not UTF-8": (
        lambda root: folder(root, "bad").joinpath("SKILL.md").write_bytes(b"---\nname: \xff"),
        Code.NOT_TEXT,
    ),
    "no front matter": (says("# Refunds\n"), Code.NO_FRONT_MATTER),
    "front matter without an end": (says("---\nname: bad\ndescription: x\n"), Code.FRONT_MATTER_NOT_CLOSED),
    "a colon in the description": (says(text("bad", "Use when: a user asks for a refund")), Code.FRONT_MATTER_INVALID),
    "an unknown key": (says(text("bad", more="allowed_tools: a\n")), Code.UNKNOWN_KEY),
    "no name": (says("---\ndescription: x\n---\nbody\n"), Code.NAME_MISSING),
    "a name that goes up": (says(text("../outside")), Code.NAME_INVALID),
    "an absolute name": (says(text("/tmp/x")), Code.NAME_INVALID),
    "a name that goes up in between": (says(text("a/../../b")), Code.NAME_INVALID),
    "a name in capitals": (says(text("Bad")), Code.NAME_INVALID),
    "a name with two hyphens": (says(text("a--b")), Code.NAME_INVALID),
    "a name of 65 characters": (says(text("a" * 65)), Code.NAME_INVALID),
    "a name in another script": (says(text("bаd")), Code.NAME_INVALID),
    "another name than the folder": (says(text("good")), Code.NAME_DIFFERS),
    "an empty description": (says(text("bad", "''")), Code.DESCRIPTION_MISSING),
    "no description": (says("---\nname: bad\n---\nbody\n"), Code.DESCRIPTION_MISSING),
    "a description of 1,500 characters": (says(text("bad", "x" * 1_500)), Code.DESCRIPTION_TOO_LONG),
    "metadata that is no text": (says(text("bad", more="metadata:\n  version: 1.0\n")), Code.WRONG_VALUE),
    "tools as a list": (says(text("bad", more="allowed-tools: [a, b]\n")), Code.WRONG_VALUE),
    "compatibility of 501 characters": (says(text("bad", more=f"compatibility: {'x' * 501}\n")), Code.WRONG_VALUE),
    "no body": (says(text("bad", body="")), Code.BODY_EMPTY),
    "a body of 20,001 characters": (says(text("bad", body="x" * 20_001)), Code.BODY_TOO_LONG),
}


@pytest.mark.parametrize("made", MALFORMED)
def test_a_malformed_skill_is_one_named_fault_and_the_others_load(made: str, tmp_path: Path) -> None:
    make, code = MALFORMED[made]
    (tmp_path / "outside.md").write_text(text("bad", body=SECRET))
    root = tmp_path / "skills"
    root.mkdir()
    folder(root, "good")
    make(root)
    skills, faults = read_skills(root)
    assert [skill.name for skill in skills] == ["good"]
    assert [(fault.skill, fault.code) for fault in faults] == [("bad", code)]
    assert SECRET not in faults[0].detail
    assert "\n" not in faults[0].detail
    assert "; " in faults[0].detail


def test_a_skill_is_read_whole(tmp_path: Path) -> None:
    more = 'license: MIT\ncompatibility: Python\nmetadata:\n  version: "1.0"\nallowed-tools: get_order read_result\n'
    written = text("order-sums", "'Sums: of\n  orders'", more=more)
    made = folder(tmp_path, "order-sums", written)
    (made / "scripts").mkdir()
    (made / "scripts/sum.py").write_text("print(1)")
    (made / "scripts/__pycache__").mkdir()
    (made / "scripts/__pycache__/sum.pyc").write_bytes(b"never read")
    (tmp_path / "README.md").write_text("beside the skills")
    (skill,), faults = read_skills(tmp_path)
    assert faults == ()
    assert skill == Skill(
        name="order-sums",
        description="Sums: of orders",
        body="Do it so.",
        license="MIT",
        compatibility="Python",
        metadata={"version": "1.0"},
        allowed_tools=("get_order", "read_result"),
        files={"SKILL.md": written.encode(), "scripts/sum.py": b"print(1)"},
    )
    assert skill.scripts == ("scripts/sum.py",)


def test_a_root_that_is_not_there_is_one_fault(tmp_path: Path) -> None:
    assert [fault.code for fault in read_skills(tmp_path / "none").faults] == [Code.NO_SUCH_FOLDER]


@given(st.dictionaries(st.sampled_from(["a.md", "b.md", "scripts/c.py"]), st.binary(max_size=3), max_size=3))
def test_a_version_is_the_files_and_nothing_else(files: dict[str, bytes]) -> None:
    def made(order: dict[str, bytes]) -> Skill:
        return Skill(name="s", description="d", body="b", files={"SKILL.md": b"m", **order})

    assert made(files).version == made(dict(reversed(files.items()))).version
    for path, data in files.items():
        assert made({**files, path: data + b"!"}).version != made(files).version
