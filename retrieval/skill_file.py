"""SKILL.md: its front matter by the published format, checked key by key, and its body (S9, H22)."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from retrieval.document import front_matter
from retrieval.faults import BrokenDocument
from state.skill import (
    MOST_BODY_CHARS,
    MOST_DESCRIPTION_CHARS,
    SKILL_FILE,
    FaultCode,
    Skill,
)

_KEYS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")


class SkillBroken(ValueError):
    """A skill that cannot be offered: the code of its fault, and what is wrong with it and what to do."""

    def __init__(self, code: FaultCode, detail: str) -> None:
        super().__init__(f"{code.value}: {detail}")
        self.code, self.detail = code, detail


def skill_of(folder: str, files: Mapping[str, bytes]) -> Skill:
    """The skill that a folder of this name holds with these files. Raises SkillBroken."""
    try:
        text = files[SKILL_FILE].decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise SkillBroken(FaultCode.NOT_TEXT, f"{SKILL_FILE}: not UTF-8 at byte {fault.start}; save it so") from fault
    if "\0" in text:
        raise SkillBroken(FaultCode.NOT_TEXT, f"{SKILL_FILE}: holds a zero byte; save it as text in UTF-8")
    keys, body_start = _front_matter(text)
    if unknown := [str(key) for key in keys if key not in _KEYS]:
        raise SkillBroken(
            FaultCode.UNKNOWN_KEY, f"got {unknown[0]!r:.80}; allowed: {', '.join(_KEYS)}; put it in metadata"
        )
    name = _name(folder, keys.get("name"))
    description = _description(keys.get("description"))
    body = text[body_start:].strip()
    if not body:
        raise SkillBroken(FaultCode.BODY_EMPTY, f"{SKILL_FILE} has no text behind its front matter; write what to do")
    if len(body) > MOST_BODY_CHARS:
        raise SkillBroken(
            FaultCode.BODY_TOO_LONG,
            f"got {len(body):,} characters; allowed: {MOST_BODY_CHARS:,}; move parts into files that the body names",
        )
    try:
        return Skill(
            name=name,
            description=description,
            body=body,
            license=_text(keys, "license"),
            compatibility=_text(keys, "compatibility"),
            metadata=_metadata(keys.get("metadata", {})),
            allowed_tools=tuple(_text(keys, "allowed-tools").split()),
            files=dict(files),
        )
    except ValidationError as error:
        wrong = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, wrong["loc"]))
        raise SkillBroken(FaultCode.WRONG_VALUE, f"{where}: {wrong['msg']}; correct it") from error


def _front_matter(text: str) -> tuple[dict[Any, Any], int]:
    if not text.startswith("---"):
        raise SkillBroken(FaultCode.NO_FRONT_MATTER, f"{SKILL_FILE} does not begin with ---; add name and description")
    try:
        keys, body_start = front_matter(SKILL_FILE, text)
    except BrokenDocument as broken:
        raise SkillBroken(FaultCode.FRONT_MATTER_INVALID, broken.reason) from broken
    if keys is None:
        raise SkillBroken(
            FaultCode.FRONT_MATTER_NOT_CLOSED, "no line --- ends the front matter; add it behind the keys"
        )
    return keys, body_start


def _name(folder: str, name: object) -> str:
    if name is None:
        raise SkillBroken(FaultCode.NAME_MISSING, f"no name; write name: {ascii(folder)[1:-1]:.64}")
    allowed = "allowed: 1 to 64 small letters and digits, with single hyphens between them"
    if not isinstance(name, str) or not _is_name(name):
        raise SkillBroken(FaultCode.NAME_INVALID, f"got {name!a:.80}; {allowed}; correct the name")
    if name != folder:
        raise SkillBroken(FaultCode.NAME_DIFFERS, f"got {name}, and the folder is {folder!a:.80}; make them the same")
    return name


def _is_name(name: str) -> bool:
    parts = name.split("-")
    return len(name) <= 64 and all(part.isascii() and part.isalnum() and part == part.lower() for part in parts)


def _description(given: object) -> str:
    if not isinstance(given, str) or not given.strip():
        raise SkillBroken(
            FaultCode.DESCRIPTION_MISSING, "no description; write what the skill does and when to use it, as text"
        )
    description = " ".join(given.split())
    if len(description) > MOST_DESCRIPTION_CHARS:
        raise SkillBroken(
            FaultCode.DESCRIPTION_TOO_LONG,
            f"got {len(description):,} characters; allowed: {MOST_DESCRIPTION_CHARS:,}; shorten it",
        )
    return description


def _text(keys: Mapping[Any, Any], key: str) -> str:
    value = keys.get(key, "")
    if not isinstance(value, str):
        raise SkillBroken(FaultCode.WRONG_VALUE, f"{key}: got {value!r:.80}; allowed: text; put it in quotes")
    return value


def _metadata(given: object) -> dict[str, str]:
    if not isinstance(given, dict):
        raise SkillBroken(FaultCode.WRONG_VALUE, f"metadata: got {given!r:.80}; allowed: keys with text")
    for key, value in given.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise SkillBroken(FaultCode.WRONG_VALUE, f"metadata.{key!s:.60}: got {value!r:.60}; put it in quotes")
    return dict(given)
