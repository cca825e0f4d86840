"""What a person looks at before a skill is offered, and the pin that says it was looked at (S9, X6)."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Literal

from graph.lock_file import read_lock, write_lock
from state.checks.skill_signs import Sign, skill_signs
from state.domain import Domain
from state.lock import Lock, PinnedSkill, Review, Standing
from state.skill import Shelf, Skill, SkillFault
from state.value import Value


class UnknownSkill(LookupError):
    """The domain's folder has no skill of that name that can be read."""


class NotReviewed(ValueError):
    """A pin for something else than what was reviewed, or for what the scanner flags: got, allowed, next step."""


class FileShown(Value):
    """A file as it is now, beside what is pinned of it. `text` is None where it is no text, or not there any more."""

    path: str
    sha256: str | None
    status: Literal["new", "changed", "same", "gone"]
    text: str | None


class SignShown(Value):
    """Something that a reviewer should look at."""

    sign: Sign
    file: str
    line: int
    detail: str


class SkillShown(Value):
    """A skill with its standing; with its files and signs where it is reviewed."""

    name: str
    version: str
    standing: Standing
    description: str
    license: str
    compatibility: str
    metadata: dict[str, str]
    allowed_tools: tuple[str, ...]
    scripts: tuple[str, ...]
    reviewed: Review | None
    signs: tuple[SignShown, ...]
    files: tuple[FileShown, ...] = ()


class SkillOverview(Value):
    """All skills of a domain, by name; `scripts` says why none can run here, and is None where they can."""

    skills: tuple[SkillShown, ...]
    missing: tuple[str, ...]
    faults: tuple[SkillFault, ...]
    scripts: str | None


def overview(domain: Domain, not_held_back: str | None) -> SkillOverview:
    """Every skill of a domain whose shelf was read. Raises LockUnusable."""
    shelf, lock = domain.shelf or Shelf(), read_lock(domain.lock)
    skills = sorted(_all(shelf), key=lambda skill: skill.name)
    return SkillOverview(
        skills=tuple(_shown(domain, lock, skill) for skill in skills),
        missing=shelf.missing,
        faults=shelf.faults,
        scripts=not_held_back,
    )


def told(domain: Domain, not_held_back: Callable[[], str | None]) -> tuple[str, str]:
    """What the lock lets through of a domain's skills, and what to do where something is not as it was reviewed."""
    shelf = domain.shelf or Shelf()
    if amiss := sorted({*shelf.drifted, *shelf.missing}):
        fix = "look at each by `agent skills review NAME`, and pin what may be offered"
        return f"not as they were reviewed, and so not offered: {', '.join(amiss)}", fix
    if shelf.faults:
        fix = "`agent skills list` says what is wrong; mend them, or take them out"
        return f"cannot be read: {', '.join(f'{one.skill} ({one.code.value})' for one in shelf.faults)}", fix
    parts = [f"{len(shelf.pinned)} pinned and offered"]
    if shelf.unreviewed:
        parts.append(f"{len(shelf.unreviewed)} nobody reviewed: {', '.join(one.name for one in shelf.unreviewed)}")
    if any(skill.scripts for skill in shelf.pinned):
        reason = not_held_back()
        parts.append("scripts run confined" if reason is None else f"no script runs here: {reason}")
    return ", ".join(parts), ""


def review(domain: Domain, name: str) -> SkillShown:
    """One skill with every file, as it is now and beside its pin. Raises UnknownSkill, LockUnusable."""
    skill, lock = _found(domain, name), read_lock(domain.lock)
    pinned = lock.skills[name].files if name in lock.skills else {}
    files = [
        FileShown(path=path, sha256=sha256, status=_status(pinned.get(path), sha256), text=_text(skill.files[path]))
        for path, sha256 in skill.digests.items()
    ]
    gone = [
        FileShown(path=path, sha256=None, status="gone", text=None)
        for path in sorted(pinned.keys() - skill.files.keys())
    ]
    return _shown(domain, lock, skill).model_copy(update={"files": (*files, *gone)})


def pin(domain: Domain, name: str, version: str, by: str, now: datetime, *, despite_signs: bool = False) -> Path:
    """Pin a skill in the domain's lock, exactly as the version names it; the lock's path.

    Raises UnknownSkill, NotReviewed for another version than lies there now and for signs that nobody accepted,
    LockUnusable, ValidationError for a name of a reviewer that is no line.
    """
    skill = _found(domain, name)
    if version != skill.version:
        raise NotReviewed(
            f"got version {version:.40}, and {name} is {skill.version} now; look at it by `agent skills review {name}`"
        )
    signs = skill_signs(skill, _tools(domain))
    if signs and not despite_signs:
        told = ", ".join(sorted({sign.sign.value for sign in signs}))
        raise NotReviewed(f"got {name} with signs of {told}; take them out, or give --despite-signs if they are meant")
    if domain.lock is None:
        raise NotReviewed(f"got no lock; allowed: a file; name one as `lock` in the Domain of {domain.name}")
    lock = read_lock(domain.lock)
    pinned = PinnedSkill(files=skill.digests, reviewed=Review(by=by, at=now))
    write_lock(domain.lock, lock.with_skill(name, pinned))
    return domain.lock


def _found(domain: Domain, name: str) -> Skill:
    shelf = domain.shelf or Shelf()
    for skill in _all(shelf):
        if skill.name == name:
            return skill
    for fault in shelf.faults:
        if fault.skill == name:
            raise UnknownSkill(f"{name}: {fault.code.value}: {fault.detail}")
    known = ", ".join(sorted(skill.name for skill in _all(shelf))) or "none"
    raise UnknownSkill(f"got the skill {name!a:.80}; allowed: {known}")


def _all(shelf: Shelf) -> tuple[Skill, ...]:
    return (*shelf.pinned, *shelf.unreviewed, *shelf.changed)


def _tools(domain: Domain) -> set[str]:
    return {tool.contract.name for tool in domain.tools}


def _shown(domain: Domain, lock: Lock, skill: Skill) -> SkillShown:
    pinned = lock.skills.get(skill.name)
    return SkillShown(
        name=skill.name,
        version=skill.version,
        standing=lock.skill(skill.name, skill.digests),
        description=skill.description,
        license=skill.license,
        compatibility=skill.compatibility,
        metadata=skill.metadata,
        allowed_tools=skill.allowed_tools,
        scripts=skill.scripts,
        reviewed=pinned.reviewed if pinned else None,
        signs=tuple(SignShown(**seen._asdict()) for seen in skill_signs(skill, _tools(domain))),
    )


def _status(pinned: str | None, now: str) -> Literal["new", "changed", "same"]:
    if pinned is None:
        return "new"
    return "same" if pinned == now else "changed"


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
