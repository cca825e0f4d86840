"""Bearer tokens for servers: JWTs signed with one key, which say who the bearer is, and until when."""

from datetime import datetime, timedelta

import jwt

from graph.settings import Settings, SettingsError

ALGORITHM = "HS256"
AUDIENCE = "expediente"
LONGEST_TTL_S = 30 * 86_400
_INSIDE = "expediente/approval"
_PASS_TTL_S = 60


class TokenRefused(PermissionError):
    """The token is missing, forged, expired, or says too little. One text for all of it: a forger learns nothing."""

    def __init__(self) -> None:
        super().__init__(
            "got no valid token; send 'Authorization: Bearer TOKEN' with one that this server's key signed"
        )


def issue_token(settings: Settings, name: str, ttl_s: int, now: datetime) -> str:
    """A token for a principal. Whether there is one of that name is asked when the token is used.

    Raises SettingsError without a key, ValueError for a lifetime that is none.
    """
    if not 0 < ttl_s <= LONGEST_TTL_S:
        raise ValueError(f"got a lifetime of {ttl_s} s; allowed: 1 to {LONGEST_TTL_S}")
    return _signed(settings, name, ttl_s, now, AUDIENCE)


def read_token(settings: Settings, token: str) -> str:
    """The name in a token, once its signature and dates have been checked. Raises TokenRefused, SettingsError."""
    return _name_in(settings, token, AUDIENCE)


def issue_pass(settings: Settings, name: str, now: datetime) -> str:
    """A pass for one request that the server makes to itself (graph.approvals). It never leaves the process."""
    return _signed(settings, name, _PASS_TTL_S, now, _INSIDE)


def read_pass(settings: Settings, token: str) -> str:
    """The name in a pass: no token that was issued to anybody is one. Raises TokenRefused, SettingsError."""
    return _name_in(settings, token, _INSIDE)


def _signed(settings: Settings, name: str, ttl_s: int, now: datetime, audience: str) -> str:
    claims = {"sub": name, "aud": audience, "iat": now, "exp": now + timedelta(seconds=ttl_s)}
    return jwt.encode(claims, auth_key(settings), algorithm=ALGORITHM)


def _name_in(settings: Settings, token: str, audience: str) -> str:
    key = auth_key(settings)
    try:
        claims = jwt.decode(
            token,
            key,
            algorithms=[ALGORITHM],  # never the one that the token names
            audience=audience,
            options={"require": ["sub", "aud", "iat", "exp"]},
        )
    except jwt.InvalidTokenError:
        raise TokenRefused from None
    return str(claims["sub"])


def auth_key(settings: Settings) -> str:
    """The key that signs tokens. Raises SettingsError where none is set: a server must not start without."""
    if settings.auth_key is None:
        raise SettingsError(
            "EXPEDIENTE_AUTH_KEY: got nothing; allowed: at least 32 random characters; set it where the server runs "
            "and where tokens are issued"
        )
    return settings.auth_key.get_secret_value()
