"""A folder of skills as it lies on disk: every file of each, read without following a link out of it (S9, H22).

A folder that is not as it should be is one named fault, and the others are read all the same. What is read is decided
by descriptors that were opened without following links, so that nothing can be exchanged in between.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from retrieval.skill_file import SkillBroken, skill_of
from state.skill import SKILL_FILE, FaultCode, Skill, SkillFault

MOST_FILES = 200
MOST_FILE_BYTES = 1_000_000
MOST_BYTES = 4_000_000  # of one skill
MOST_DEPTH = 6
# What an interpreter leaves beside a script, or a package manager when it installs one. It is never read or run.
_PASSED_OVER = "__pycache__"
# ASCII alone: no name can look like another one, and none is another one on a disk that folds letters.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


class Skills(NamedTuple):
    """What lies in a folder: the skills by name, and what is wrong with the others."""

    skills: tuple[Skill, ...] = ()
    faults: tuple[SkillFault, ...] = ()


def read_skills(root: Path) -> Skills:
    """Every skill below a folder, sorted by name. Nothing outside of it is read, wherever a link leads."""
    skills: list[Skill] = []
    faults: list[SkillFault] = []
    try:
        top = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        detail = f"{root}: {error.strerror}; put the folder back, or correct what the domain's load() names"
        return Skills(faults=(SkillFault(skill="", code=FaultCode.NO_SUCH_FOLDER, detail=detail),))
    try:
        for name in _names(top):
            if name == _PASSED_OVER or stat.S_ISREG(_kind(top, name)):
                continue  # a README beside the skills is none of them
            try:
                skills.append(skill_of(name, _files(top, name)))
            except SkillBroken as broken:
                faults.append(SkillFault(skill=_shown(name), code=broken.code, detail=broken.detail))
    finally:
        os.close(top)
    return Skills(tuple(skills), tuple(faults))


def _files(top: int, name: str) -> dict[str, bytes]:
    """The files of one skill by relative path. Raises SkillBroken."""
    if stat.S_ISLNK(_kind(top, name)):
        raise SkillBroken(FaultCode.FOLDER_IS_LINK, "a link; put the folder itself there")
    found: dict[str, bytes] = {}
    with _folder(top, name, name) as folder:
        _walk(folder, "", found)
    folded: dict[str, str] = {}
    for path in found:
        if (other := folded.setdefault(path.casefold(), path)) != path:
            raise SkillBroken(FaultCode.SAME_BUT_FOR_CASE, f"{other} and {path}; rename one of them")
    if SKILL_FILE not in found:
        raise SkillBroken(FaultCode.NO_SKILL_FILE, f"no {SKILL_FILE}, written so; add one, or take the folder out")
    return found


def _walk(folder: int, above: str, found: dict[str, bytes]) -> None:
    if above.count("/") > MOST_DEPTH:
        raise SkillBroken(
            FaultCode.TOO_DEEP, f"folders below each other more than {MOST_DEPTH} deep; put them side by side"
        )
    for name in _names(folder):
        if name == _PASSED_OVER:
            continue
        path = f"{above}{name}"
        if not _NAME.fullmatch(name):
            raise SkillBroken(
                FaultCode.UNSAFE_PATH, f"{_shown(path)}; allowed: letters, digits, _, - and . of ASCII; rename it"
            )
        kind = _kind(folder, name)
        if stat.S_ISLNK(kind):
            raise SkillBroken(FaultCode.LINK, f"{path} is a link; put the file itself there")
        if stat.S_ISDIR(kind):
            with _folder(folder, name, path) as below:
                _walk(below, f"{path}/", found)
        elif stat.S_ISREG(kind):
            found[path] = _bytes(folder, name, path)
            if len(found) > MOST_FILES:
                raise SkillBroken(FaultCode.TOO_MANY_FILES, f"more than {MOST_FILES} files; make two skills of it")
            if sum(map(len, found.values())) > MOST_BYTES:
                raise SkillBroken(
                    FaultCode.TOO_LARGE, f"more than {MOST_BYTES:,} bytes together; make two skills of it"
                )
        else:
            raise SkillBroken(FaultCode.NOT_A_FILE, f"{path} is a device, a pipe or a socket; take it out")


def _names(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries)


def _kind(folder: int, name: str) -> int:
    """The mode of what a folder holds under a name, a link not followed; 0 where it is gone."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return 0


@contextmanager
def _folder(above: int, name: str, path: str) -> Iterator[int]:
    try:
        opened = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
    except OSError as error:
        raise SkillBroken(FaultCode.UNREADABLE, f"{path}: {error.strerror}; correct its permissions") from error
    try:
        yield opened
    finally:
        os.close(opened)


def _bytes(folder: int, name: str, path: str) -> bytes:
    # Without waiting: a pipe that took the file's place meanwhile must not hold us.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(name, flags, dir_fd=folder), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise SkillBroken(FaultCode.NOT_A_FILE, f"{path} is no file; take it out")
            data = file.read(MOST_FILE_BYTES + 1)
    except OSError as error:
        raise SkillBroken(FaultCode.UNREADABLE, f"{path}: {error.strerror}; correct its permissions") from error
    if len(data) > MOST_FILE_BYTES:
        raise SkillBroken(FaultCode.TOO_LARGE, f"{path}: more than {MOST_FILE_BYTES:,} bytes; split it")
    return data


def _shown(name: str) -> str:
    return ascii(name)[1:-1][:120]
