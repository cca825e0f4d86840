"""Recorded replies: a model that keeps what it hears, and `replay`, which plays it again without a server.

A recording is a file of JSON lines, one for each call in order: the hash of the request's stable prefix, and the reply
or the error. What a request says of time and ids differs from run to run; its instructions and tools do not, so that a
line that was recorded for another decision kind, or for other instructions, is known and refused. A reply that cites a
tool's result names the request that brought it: played again it holds where clock and ids are those of then.
"""

import re
import threading
from pathlib import Path
from typing import Self

from pydantic import ValidationError, model_validator

from graph.masking import masked
from state.ports import Model
from state.render import prefix_hash
from state.request import AttemptOutcome, ModelError, Reply, Request
from state.value import Value

_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)  # as JSON writes a character otherwise


class RecordingUnusable(ValueError):
    """A file of recorded replies that cannot be read, or written."""


class Line(Value):
    """One call: what it was asked by, and either the reply, or the failure and whether and when it passes."""

    prefix: str
    reply: Reply | None = None
    failed: AttemptOutcome | None = None
    passing: bool = False
    retry_after_s: float | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.reply is None) == (self.failed is None):
            raise ValueError("a line holds either a reply or a failure")
        return self


class RecordingModel:
    """The Model port: another model's replies, each written down before it is given back. Raises RecordingUnusable."""

    def __init__(self, model: Model, file: Path) -> None:
        self._model, self._file = model, file
        self._lock = threading.Lock()
        try:
            file.touch(mode=0o600)  # it holds what a conversation was about
        except OSError as error:
            raise _unusable(file, error.strerror or "it cannot be written") from None

    @property
    def name(self) -> str:
        """The inner model's name."""
        return self._model.name

    def reply(self, request: Request) -> Reply:
        """The inner model's reply. Raises ModelError, which is written down too."""
        try:
            reply = self._model.reply(request)
        except ModelError as error:
            self._write(_failed(request, error))
            raise
        self._write(Line(prefix=prefix_hash(request), reply=_shown(reply)))
        return reply

    async def areply(self, request: Request) -> Reply:
        """The same without holding a thread; a line is written in no time."""
        try:
            reply = await self._model.areply(request)
        except ModelError as error:
            self._write(_failed(request, error))
            raise
        self._write(Line(prefix=prefix_hash(request), reply=_shown(reply)))
        return reply

    def _write(self, line: Line) -> None:
        with self._lock, self._file.open("a", encoding="utf-8") as file:
            file.write(f"{line.model_dump_json()}\n")


class ReplayModel:
    """The Model port: plays a recording, line by line. A call that it does not fit, or one too many, is a ModelError
    that says so."""

    name = "replay"

    def __init__(self, file: Path) -> None:
        self._lines = read_recording(file)
        self._next = 0
        self._lock = threading.Lock()

    def reply(self, request: Request) -> Reply:
        """The next reply. Raises ModelError: the one recorded, or where the recording does not fit."""
        with self._lock:
            number, self._next = self._next, self._next + 1
        if number >= len(self._lines):
            raise _unfit(f"call {number + 1} of a recording of {len(self._lines)}")
        line = self._lines[number]
        if line.prefix != prefix_hash(request):
            raise _unfit(f"call {number + 1} was recorded under other instructions or tools")
        if line.reply is None:
            failed = line.failed or AttemptOutcome(name="model_error")
            raise ModelError(failed, passing=line.passing, retry_after_s=line.retry_after_s)
        return line.reply

    async def areply(self, request: Request) -> Reply:
        """The same; nothing is waited for."""
        return self.reply(request)


def read_recording(file: Path) -> tuple[Line, ...]:
    """The lines of a recording. Raises RecordingUnusable, naming file and line."""
    try:
        written = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no UTF-8"
        raise _unusable(file, reason or "it cannot be read") from None
    lines = []
    for number, text in enumerate(written, start=1):
        try:
            lines.append(Line.model_validate_json(text))
        except ValidationError:
            raise _unusable(file, f"line {number} is no recorded call") from None
    return tuple(lines)


def _failed(request: Request, error: ModelError) -> Line:
    return Line(
        prefix=prefix_hash(request), failed=error.outcome, passing=error.passing, retry_after_s=error.retry_after_s
    )


def _shown(reply: Reply) -> Reply:
    """The reply without secrets, which a server may send back: a recording is a file that is passed on. Its proposal
    would be stored without them as well."""
    calls = [
        call.model_copy(update={"name": masked(call.name), "arguments": _without_secrets(call.arguments)})
        for call in reply.calls
    ]
    return reply.model_copy(update={"text": _without_secrets(reply.text), "calls": tuple(calls)})


def _without_secrets(text: str) -> str:
    """The text, masked; in plain characters where JSON's escapes hide a secret in it."""
    found = masked(text)
    plain = _ESCAPED.sub(lambda sign: chr(int(sign[1], 16)) if sign[1] else sign[2], found)
    shown = masked(plain)
    return found if shown == plain else shown.encode(errors="replace").decode()


def _unusable(file: Path, reason: str) -> RecordingUnusable:
    return RecordingUnusable(
        f"EXPEDIENTE_RECORDING: got {file} ({reason}); allowed: a file for the replies of a model, which `replay` plays"
        " again; set it beside a model that answers to record one"
    )


def _unfit(what: str) -> ModelError:
    detail = f"the recording does not fit this run ({what}); record the run anew, or ask what was asked then"
    return ModelError(AttemptOutcome(name="model_error", detail=detail))
