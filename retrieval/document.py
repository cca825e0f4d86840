"""A document version: what its front matter says of it, checked, and its text."""

import re
from copy import deepcopy
from datetime import UTC, date, datetime, time
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Annotated, Any

import yaml
from pydantic import AwareDatetime, BeforeValidator, Field, ValidationError
from yaml.reader import ReaderError

from retrieval.access import ALWAYS
from retrieval.faults import BrokenDocument
from state.context import Classification
from state.stated import Facts
from state.value import Value

MAX_ID_CHARS = 200
MAX_BYTES = 4_000_000  # of one file: about five thousand chunks

_FENCED = re.compile(r"\A---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


def _as_version(value: object) -> object:
    if isinstance(value, float):
        raise ValueError(f"got the number {value}, which drops zeros (1.10 becomes 1.1): put the version in quotes")
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _as_moment(value: object) -> object:
    """A date is its first moment in UTC. A time without a zone is refused: it names no moment."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"got {value}, a time without a zone: write a date, or add an offset such as +00:00")
        return value.astimezone(UTC)
    if isinstance(value, date):
        return datetime.combine(value, time(), UTC)
    raise ValueError(f"got {value!r}: write a date such as 2026-02-01")


def _as_list(value: object) -> object:
    # A bare word or an empty value would leave open who may read; a list cannot be misread.
    if not isinstance(value, list):
        raise ValueError(f"got {value!r}: write a list such as [hr, ops]; leave the key out for none")
    return [str(part) if isinstance(part, int) and not isinstance(part, bool) else part for part in value]


def _as_versions(value: object) -> object:
    return [_as_version(part) for part in (value if isinstance(value, list) else [value])]


DocumentId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9/_.-]*$", max_length=MAX_ID_CHARS)]
Version = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=60), BeforeValidator(_as_version)]
Moment = Annotated[AwareDatetime, BeforeValidator(_as_moment)]
Names = Annotated[tuple[Annotated[str, Field(min_length=1, max_length=200)], ...], BeforeValidator(_as_list)]
Replaced = Annotated[
    tuple[Annotated[str, Field(pattern=r"^[^\s#~@]+(@[^\s#~@]+)?$")], ...], BeforeValidator(_as_versions)
]


class FrontMatter(Value):
    """The keys a document may carry. `tenant` must be given: a forgotten one would publish to everyone.

    `acl` lists groups; left out, everyone of the tenant may read. `supersedes` names older versions of the same
    id (`v6`), or of another document (`runbook/old-keys@v2`). `states` declares facts as values, by the address of the
    section that states them: `{deliveries: {delivery_retries: 8}}`; where two documents differ there, both are shown.
    Unknown keys are refused: a misspelt `acl` must not pass.
    """

    id: DocumentId
    title: str = Field(default="", max_length=300)
    version: Version
    effective_from: Moment = ALWAYS
    effective_to: Moment | None = None
    supersedes: Replaced = ()
    tenant: str = Field(min_length=1, max_length=200)
    acl: Names = ()
    product: str = ""
    language: str = "en"
    classification: Classification = Classification.INTERNAL
    authority: float = Field(default=0.5, ge=0, le=1)
    states: dict[str, Facts] = Field(default={}, exclude_if=lambda states: not states)


class Document(Value):
    """One version of a document. `body_start` is where the text begins behind the front matter.

    `by_place` says that its id is made of where the file lies, not one that the file gives.
    """

    front: FrontMatter
    file: str
    text: str
    body_start: int = Field(ge=0)
    by_place: bool = False

    @property
    def source(self) -> str:
        """Its address without a section: `runbook/api-keys@v7`."""
        return f"{self.front.id}@{self.front.version}"


def decoded(file: str, raw: bytes) -> str:
    """A file's bytes as text. Raises BrokenDocument for what is too large or no text at all."""
    refuse_too_large(file, len(raw))
    if b"\0" in raw:
        raise BrokenDocument(file, "binary: it holds a zero byte; save it as text in UTF-8, or take it out")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise BrokenDocument(file, f"not UTF-8 at byte {fault.start}; save the file as UTF-8") from fault


def refuse_too_large(file: str, size: int, most: int = MAX_BYTES) -> None:
    """Raises BrokenDocument for more bytes than one file may have."""
    if size > most:
        raise BrokenDocument(file, f"too large: {size:,} bytes, at most {most:,}; split it into several files")


def front_matter(file: str, text: str) -> tuple[dict[str, Any] | None, int]:
    """The keys of a text's front matter, not yet checked, and where the body begins; None where there is none.

    Raises BrokenDocument for one that cannot be read.
    """
    fenced = _FENCED.match(text)
    if fenced is None:
        return None, 0
    # The fence is the first line of the file: with a line in its place, marks count in the file.
    return keys_of(file, "\n" + fenced[1], text), fenced.end()


def keys_of(file: str, lines: str, whole: str | None = None) -> dict[str, Any]:
    """The keys in some lines of YAML, not yet checked; `whole` is the text they stand in. Raises BrokenDocument."""
    try:
        keys = deepcopy(_keys(lines))
    except yaml.YAMLError as fault:
        said = _unreadable(fault, lines if whole is None else whole)
        raise BrokenDocument(file, f"the front matter is not valid YAML: {said}") from fault
    except RecursionError:
        raise BrokenDocument(file, "the front matter is nested too deeply; write one key a line") from None
    if not isinstance(keys, dict):
        raise BrokenDocument(file, "the front matter holds no keys; write lines such as `id: manual/setup`")
    return keys


@lru_cache(maxsize=4_000)
def _keys(lines: str) -> Any:
    """Every opening and every ingest reads the front matter of the whole folder, which seldom changed."""
    return yaml.load(lines, _Loader)  # a SafeLoader that says more of a bad date


class _Loader(yaml.SafeLoader):
    """Says where a value stands that cannot be made: for a date such as 2026-13-40 PyYAML says it nowhere."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep=deep)
        except ValueError as fault:
            raise yaml.MarkedYAMLError(problem=str(fault), problem_mark=node.start_mark) from fault


def _unreadable(fault: yaml.YAMLError, text: str) -> str:
    """Where YAML stumbled, by line of the file, and over what."""
    if isinstance(fault, ReaderError):
        line = text.count("\n", 0, text.index(chr(int(fault.character)))) + 1
        return f"line {line}: a character that YAML does not allow (U+{fault.character:04X}); take it out"
    mark = getattr(fault, "problem_mark", None) or getattr(fault, "context_mark", None)
    said = ", ".join(part for part in (getattr(fault, "context", None), getattr(fault, "problem", None)) if part)
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    return f"{where}{said or fault}; mend that line, or put the value in quotes"


def described(file: str, text: str, keys: dict[str, Any], body_start: int, *, by_place: bool = False) -> Document:
    """A document from its text and the keys that describe it. Raises BrokenDocument."""
    try:
        front = FrontMatter.model_validate(keys)
    except ValidationError as fault:
        raise BrokenDocument(file, "; ".join(map(_reason, fault.errors()))) from fault
    if front.effective_to is not None and front.effective_to <= front.effective_from:
        raise BrokenDocument(file, "effective_to: does not lie after effective_from; mend one of the two")
    if not {front.version, f"{front.id}@{front.version}"}.isdisjoint(front.supersedes):
        raise BrokenDocument(file, "supersedes: names the version itself; name an older one")
    if not text[body_start:].strip():
        where = " behind the front matter" if body_start else ""
        raise BrokenDocument(file, f"no text{where}; write some, or delete the file")
    return Document(front=front, file=file, text=text, body_start=body_start, by_place=by_place)


def _reason(fault: Any) -> str:
    key = str(fault["loc"][0]) if fault["loc"] else "front matter"
    if fault["type"] == "missing":
        return f"{key}: missing; add it to the front matter"
    if fault["type"] == "extra_forbidden":
        return f"{key}: unknown key; allowed: {', '.join(FrontMatter.model_fields)}"
    return f"{key}: {fault['msg'].removeprefix('Value error, ')}"


def title_of(document: Document, first_heading: str | None) -> str:
    """The title to show: the front matter's, else the first heading, else the name of the file."""
    return document.front.title or first_heading or PurePosixPath(document.file).stem
