"""A small file that is there with all of its content, or not: written once by whichever process is first, or anew."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path


def write_once(path: Path, text: str, mode: int = 0o644) -> bool:
    """Make a file of a text; whether it was made by this call: one that is there is left alone. Raises OSError."""
    # Written whole under another name, then linked: whoever is killed meanwhile leaves no half of it.
    with _draft(path, text, mode) as draft, contextlib.suppress(FileExistsError):
        os.link(draft, path)
        return True
    return False


def write_anew(path: Path, text: str, mode: int = 0o644) -> None:
    """Make a file of a text, or replace the one there is: whoever reads meanwhile has the old one. Raises OSError."""
    with _draft(path, text, mode) as draft:
        draft.replace(path)


@contextlib.contextmanager
def _draft(path: Path, text: str, mode: int) -> Iterator[Path]:
    """The text in a file beside the path, on the disk; gone afterwards, unless it took another name."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        yield draft
    finally:
        draft.unlink(missing_ok=True)
