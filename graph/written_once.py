"""A small file that is written once, by whichever process is first: it is there with all of its content, or not."""

import contextlib
import os
import secrets
from pathlib import Path


def write_once(path: Path, text: str, mode: int = 0o644) -> bool:
    """Make a file of a text; whether it was made by this call: one that is there is left alone. Raises OSError."""
    # Written whole under another name, then linked: whoever is killed meanwhile leaves no half of it.
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
            return True
    finally:
        draft.unlink()
    return False
