"""A home holds the data of one domain: its library, memory, records and threads."""

from pathlib import Path

from graph.settings import SettingsError

_MARK = "of-domain"


def claim_home(home: Path, domain: str) -> None:
    """Mark a new home as the domain's, or verify that it is. Raises SettingsError for another domain's home."""
    mark = home / _MARK
    try:
        with mark.open("x", encoding="utf-8") as fresh:
            fresh.write(f"{domain}\n")
    except FileExistsError:
        holds = mark.read_text(encoding="utf-8").strip()
        if holds != domain:
            raise SettingsError(
                f"EXPEDIENTE_HOME: got {home}, which holds the data of domain {holds!r}; allowed: one domain a home; "
                f"set EXPEDIENTE_HOME to another folder for {domain!r}"
            ) from None
    except OSError as error:
        raise SettingsError(
            f"EXPEDIENTE_HOME: got {home} ({error.strerror}); allowed: a folder this user can create and write"
        ) from None
