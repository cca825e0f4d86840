"""A folder's files as documents: what is there, what is broken and why. One broken file spoils nothing."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from retrieval.chunk import check_states
from retrieval.document import Document, refuse_too_large
from retrieval.faults import BrokenDocument, CorpusMissing
from retrieval.formats import SIDECAR, SUFFIXES, described_by, max_bytes, may_have_sidecar, parse_document, suffix_of
from retrieval.intake import Intake
from state.run import PUBLIC_TENANT
from state.value import Value


class Broken(Value):
    """A file that was skipped, and why. What was live of it before stays live."""

    file: str
    reason: str


class Contents(Value):
    """What lies in a folder, by source, so that the versions of one document are committed together.

    `only` is the one file that was looked at, where it was not the whole folder. `unread` are folders below that could
    not be listed: of what lies in them nothing is known. `other` counts files of a kind that is not read.
    """

    origin: str
    documents: tuple[Document, ...]
    broken: tuple[Broken, ...]
    unread: tuple[str, ...] = ()
    only: str | None = None
    other: int = 0

    def lost(self, file: str) -> bool:
        """Whether a file is known not to be here, as far as its folder could be listed."""
        return not any(file.startswith(f"{folder}/") for folder in self.unread)


def contents(path: Path, intake: Intake | None) -> Contents:
    """Read a folder, or one file of it. Without an intake each file's front matter must say all.

    Raises CorpusMissing where nothing is to be read.
    """
    folder = path if intake is None or path.is_dir() else path.parent
    if path != folder and path.is_file() and suffix_of(path.name) not in SUFFIXES:
        raise CorpusMissing(f"got {path.name}; allowed: a file that ends in {', '.join(sorted(SUFFIXES))}")
    if not path.exists() or (intake is None and not path.is_dir()):
        raise CorpusMissing(f"no corpus folder at {path}; put it back, or name a folder with documents")
    root = folder.resolve()
    unread: list[Broken] = []
    paths = [root / path.name] if path != folder else _files(root, unread)
    by_id: dict[str, list[Document]] = {}
    broken = list(unread)
    other = 0
    for each in paths:
        file = each.relative_to(root).as_posix()
        if (alone := described_by(file)) is not None:
            if not (root / alone).exists():
                reason = f"it describes {alone}, which is not here; put that here, or delete this"
                broken.append(Broken(file=file, reason=reason))
            continue
        if suffix_of(file) not in SUFFIXES:
            other += 1
            continue
        try:
            raw, beside = _bytes(file, each, root), _sidecar(file, each, root)
            document = (
                parse_document(file, raw, beside) if intake is None else intake.document(file, raw, root.name, beside)
            )
            check_states(document)
            by_id.setdefault(document.front.id, []).append(document)
        except BrokenDocument as fault:
            broken.append(Broken(file=fault.file, reason=fault.reason))
        except OSError as fault:
            broken.append(Broken(file=file, reason=f"cannot be read: {fault.strerror}; check its permissions"))
    twins = [twin for same in by_id.values() for one in same if (twin := _twin(one, same)) is not None]
    refused = {twin.file for twin in twins}
    documents = [one for same in by_id.values() for one in same if one.file not in refused]
    return Contents(
        origin=str(root) if intake is None else intake.origin(root),
        documents=tuple(sorted(documents, key=_by_source)),
        broken=(*broken, *twins),
        unread=tuple(fault.file for fault in unread),
        only=path.name if path != folder else None,
        other=other,
    )


def _files(root: Path, unread: list[Broken]) -> list[Path]:
    """All files below a folder in one order, without an editor's copies and hidden folders."""

    def note(fault: OSError) -> None:
        if Path(str(fault.filename)) == root:
            raise fault
        folder = Path(str(fault.filename)).relative_to(root).as_posix()
        unread.append(Broken(file=folder, reason=f"cannot be listed: {fault.strerror}; check its permissions"))

    def walk() -> Iterator[Path]:
        for folder, below, names in os.walk(root, onerror=note):
            below[:] = [name for name in below if not name.startswith(".")]
            yield from (Path(folder) / name for name in names if not name.startswith("."))

    return sorted(walk())


def _by_source(document: Document) -> tuple[str, str]:
    return document.source, document.front.tenant


def _bytes(file: str, path: Path, root: Path) -> bytes:
    """A file's bytes. Raises BrokenDocument for what is no file of this folder, or too large to be read."""
    if _visible_name(file) != file:
        raise BrokenDocument(_visible_name(file), "its name is no text in UTF-8; rename the file")
    if not path.resolve().is_relative_to(root):
        raise BrokenDocument(file, "a link that leads out of the folder; put the file itself here")
    if path.exists() and not path.is_file():
        raise BrokenDocument(file, "not a regular file; take it out")
    refuse_too_large(file, path.stat().st_size, max_bytes(file))
    return path.read_bytes()


def _sidecar(file: str, path: Path, root: Path) -> bytes | None:
    """What stands beside a file to describe it; None where nothing does."""
    beside = path.with_name(path.name + SIDECAR)
    if not may_have_sidecar(file) or not os.path.lexists(beside):
        return None
    try:
        return _bytes(file + SIDECAR, beside, root)
    except BrokenDocument as fault:
        raise BrokenDocument(file, f"{beside.name}: {fault.reason}") from fault


def _visible_name(file: str) -> str:
    """A file's name as text: bytes that are none become question marks."""
    return file.encode(errors="replace").decode()


def _twin(document: Document, others: Sequence[Document]) -> Broken | None:
    """A source must name one document for whoever cites it; a public one is seen by every tenant.

    Of two that share one neither is taken: which of them was meant is not for the order of their names to say.
    """
    for other in others:
        # Two files whose places give one id are not two versions of one document.
        same = other.source == document.source or other.by_place or document.by_place
        tenants = {other.front.tenant, document.front.tenant}
        if other is not document and same and (len(tenants) == 1 or PUBLIC_TENANT in tenants):
            reason = f"{document.source} is also in {other.file}; give one of them another id or version"
            return Broken(file=document.file, reason=reason)
    return None
