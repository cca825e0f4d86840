"""A home holds the data of one domain; a database too, and all that it holds is keyed by one secret."""

from collections.abc import Mapping
from pathlib import Path

from graph.master_secret import MasterSecret
from graph.settings import SettingsError
from graph.stores.engine import found_version
from graph.stores.looking import can_be_written
from graph.stores.marks import SqlMarks
from graph.stores.schema import SCHEMA_VERSION
from graph.stores.unavailable import StoreUnavailable
from graph.stores.url import database_url, spelt
from graph.written_once import write_once
from state.canonical import digest

_MARK = "of-domain"
_DOMAIN, _SECRET = "domain", "secret"


def domain_of(home: Path) -> str | None:
    """The domain that a home is marked with; None for a home that no app has opened yet. Raises OSError."""
    mark = home / _MARK
    return mark.read_text(encoding="utf-8").strip() or None if mark.exists() else None


def claim_home(home: Path, domain: str) -> None:
    """Mark a new home as the domain's, or verify that it is. Raises SettingsError for another domain's home."""
    try:
        if domain_of(home) is None:
            # One without a word was left by a process of an earlier release that was killed while it wrote it.
            (home / _MARK).unlink(missing_ok=True)
            write_once(home / _MARK, f"{domain}\n")
    except OSError as error:
        raise SettingsError(
            f"EXPEDIENTE_HOME: got {home} ({error.strerror}); allowed: a folder this user can create and write"
        ) from None
    refuse_other_home(home, domain)


def refuse_other_home(home: Path, domain: str) -> None:
    """Raises SettingsError for the home of another domain, or one whose mark cannot be read."""
    try:
        holds = domain_of(home)
    except OSError as error:
        raise SettingsError(
            f"EXPEDIENTE_HOME: got {home} ({error.strerror}); allowed: a folder this user can read"
        ) from None
    if holds not in (None, domain):
        raise SettingsError(
            f"EXPEDIENTE_HOME: got {home}, which holds the data of domain {holds!r}; allowed: one domain a home; "
            f"set EXPEDIENTE_HOME to another folder for {domain!r}"
        )


def require_writable(home: Path) -> None:
    """Raises SettingsError for a home that can only be looked at."""
    if not can_be_written(home):
        raise SettingsError(
            f"EXPEDIENTE_HOME: got {home}, which cannot be written; allowed: a folder this user can write; allow it, "
            "or set EXPEDIENTE_HOME to another; what is filed there can be looked at by `agent show`, `verify`, "
            "`replay`, `explain`, `diff`, `prefix`, `events` and `tools`"
        )


def claim_database(marks: SqlMarks, domain: str | None, secret: MasterSecret) -> None:
    """Mark a new database as the domain's and the secret's, or verify that it is. `domain` None was given as an object.

    Raises SettingsError.
    """
    held = {} if domain is None else {_DOMAIN: marks.claim(_DOMAIN, domain)}
    current, *before = _checks(secret)
    held[_SECRET] = marks.claim(_SECRET, current, before)
    refuse_foreign(domain, secret, held)


def refuse_foreign(domain: str | None, secret: MasterSecret | None, marks: Mapping[str, str]) -> None:
    """Raises SettingsError for the marks of another domain's database, or of one that another secret keys.

    Several homes may share a database. With secrets of their own none could verify what another one sealed, and each
    would store every body anew. What is None is not asked for, and what is not marked is nobody's yet.
    """
    holds = marks.get(_DOMAIN, domain)
    if domain is not None and holds != domain:
        raise SettingsError(
            f"EXPEDIENTE_DATABASE_URL: got a database that holds the data of domain {holds!r}; allowed: one domain "
            f"a database; name another database or schema for {domain!r}"
        )
    if secret is not None and _SECRET in marks and marks[_SECRET] not in _checks(secret):
        raise SettingsError(
            "EXPEDIENTE_SECRET: got another secret than this database was written under; allowed: the same one for "
            "every process, or the former one among EXPEDIENTE_PREVIOUS_SECRETS; set it (a home keeps its own in the "
            "file `secret`); if it is lost for good, delete the row 'secret' of the table expediente_marks: open "
            "approvals are then void"
        )


def refuse_put_back(home: Path, target: Path | str) -> None:
    """Raises StoreUnavailable for a database of an earlier release that this home has opened at a later one.

    Bringing it up to date takes what lies in it as it is, the ledger too; so whoever can write the database could have
    what he changed sealed anew. The home is not in the database.
    """
    found = found_version(target)
    for later in range((found or SCHEMA_VERSION) + 1, SCHEMA_VERSION + 1):
        mark = _opened_at(home, target, later)
        if mark.exists():
            raise StoreUnavailable(
                spelt(database_url(target)),
                f"schema version {found}, and this home has opened it at version {later}",
                f"version {later}",
                "look who put it back; where you did, with a backup of the release before, delete the file "
                f"{mark} first: what lies in the ledger is then taken as it is",
            )


def mark_opened(home: Path, target: Path | str) -> None:
    """Note outside the database which version it has. Raises SettingsError where the home cannot be written."""
    try:
        mark = _opened_at(home, target, SCHEMA_VERSION)
        if not mark.exists():
            write_once(mark, f"{spelt(database_url(target))}\n")
    except OSError as error:
        raise SettingsError(
            f"EXPEDIENTE_HOME: got {home} ({error.strerror}); allowed: a folder this user can create and write"
        ) from None


def _opened_at(home: Path, target: Path | str, version: int) -> Path:
    return home / f"opened-{digest(spelt(database_url(target)))[:12]}-{version}"


def _checks(secret: MasterSecret) -> tuple[str, ...]:
    # A key derived for this purpose alone: it tells nothing of the others.
    return tuple(key.hex() for key in secret.keys("database mark"))
