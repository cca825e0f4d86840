"""Labelled questions: what was asked, by whom, and which documents answer. One JSON object a line."""

from pathlib import Path

from pydantic import Field, ValidationError

from state.value import Value


class LabelledWrong(ValueError):
    """A file of labelled questions that cannot be used: which line, what was got, what is allowed."""


class Labelled(Value):
    """One question. `relevant` names documents (`manual/setup`) or sections (`manual/setup@v7#first-start`);
    `as_` is the principal who asks, empty for the default one."""

    question: str = Field(min_length=1)
    relevant: tuple[str, ...] = Field(min_length=1)
    language: str = "en"
    as_: str = Field(default="", alias="as")


def read_labelled(file: Path) -> tuple[Labelled, ...]:
    """The questions of a file, in order. Raises LabelledWrong."""
    allowed = (
        'a JSON object a line: {"question": "…", "relevant": ["document/id"], "language": "es", "as": "NAME@TENANT"}'
    )
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        raise LabelledWrong(f"{file}: got what cannot be read ({fault}); allowed: {allowed}") from None
    found = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found.append(Labelled.model_validate_json(line))
        except ValidationError as fault:
            said = fault.errors()[0]
            where = ".".join(map(str, said["loc"])) or "the line"
            raise LabelledWrong(f"{file} line {number}: {where}: {said['msg']}; allowed: {allowed}") from None
    if not found:
        raise LabelledWrong(f"{file}: got no question; allowed: {allowed}")
    return tuple(found)
