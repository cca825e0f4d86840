"""Measurements appended to a file, one part a line, so that a run that was broken off goes on where it ended."""

from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from state.value import Value

V = TypeVar("V", bound=Value)


class _Row(Value):
    part: str
    measured: dict[str, object]


class Results:
    """The rows of one file. A line that a broken-off run left half written is passed over."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._rows: dict[str, dict[str, object]] = {}
        for line in file.read_text("utf-8").splitlines() if file.exists() else ():
            try:
                row = _Row.model_validate_json(line)
            except ValidationError:
                continue
            self._rows[row.part] = row.measured

    def held(self, part: str, kind: type[V]) -> V | None:
        """What an earlier run measured of a part; None where it is missing, or of another release's shape."""
        try:
            return kind.model_validate(self._rows[part])
        except (KeyError, ValidationError):
            return None

    def add(self, part: str, measured: Value) -> None:
        """Append one part."""
        row = _Row(part=part, measured=measured.model_dump(mode="json"))
        self._file.parent.mkdir(parents=True, exist_ok=True)
        before = self._file.read_bytes() if self._file.exists() else b""
        with self._file.open("a", encoding="utf-8") as opened:
            opened.write(("\n" if before and not before.endswith(b"\n") else "") + row.model_dump_json() + "\n")
        self._rows[part] = row.measured
