"""The master secret: from the settings, or made once for a home and kept there. Every other key derives from it."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from graph.settings import MIN_SECRET_CHARS, Settings, SettingsError
from graph.written_once import write_once


@dataclass(frozen=True)
class MasterSecret:
    """The current secret and those before it. Never prints them."""

    _values: tuple[bytes, ...] = field(repr=False)

    def key(self, purpose: str) -> bytes:
        """The 32-byte key of one purpose, from the current secret. No key tells anything of another purpose's."""
        return self.keys(purpose)[0]

    def keys(self, purpose: str) -> tuple[bytes, ...]:
        """The key of one purpose from each secret, the current one first."""
        label = b"expediente/" + purpose.encode()
        return tuple(hmac.digest(value, label, hashlib.sha256) for value in self._values)


def master_secret(settings: Settings) -> MasterSecret:
    """The secret of the settings, else the one in `home/secret`, made now if there is none.

    Processes that start at the same time agree on one. Raises SettingsError when the file cannot be written,
    read, or holds too little.
    """
    current = (
        settings.secret.get_secret_value() if settings.secret is not None else _kept(settings.make_home() / "secret")
    )
    previous = (secret.get_secret_value() for secret in settings.previous_secrets)
    return MasterSecret(tuple(value.encode() for value in (current, *previous)))


def _kept(path: Path) -> str:
    try:
        if not path.exists():
            write_once(
                path, secrets.token_urlsafe(32) + "\n", mode=0o600
            )  # where another was first, its secret is the one
        value = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not text"
        raise SettingsError(
            f"the secret in {path} cannot be used: got {reason}; allowed: a text file only this user reads; "
            "mend the file, or set EXPEDIENTE_SECRET"
        ) from None
    if len(value) < MIN_SECRET_CHARS:
        raise SettingsError(
            f"the secret in {path} cannot be used: got {len(value)} characters; allowed: at least {MIN_SECRET_CHARS}; "
            "restore the file (a new secret breaks open approvals), or set EXPEDIENTE_SECRET"
        )
    return value
