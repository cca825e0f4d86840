"""`agent token`: a bearer token for a server with authentication, alone on standard output."""

from datetime import timedelta
from json import dumps

from graph.cli.exits import OK, WrongUse
from graph.cli.screen import Screen


def issue(screen: Screen, name: str, *, valid_for_s: int) -> int:
    """Print a token for a principal whom the domain knows.

    Raises WrongUse for a lifetime that cannot be, UnknownPrincipal, SettingsError, and what loading a domain raises.
    """
    with screen.waiting("Opening"):
        from graph.access_token import LONGEST_TTL_S, auth_key, issue_token
        from graph.clock import SystemClock
        from graph.domain_loading import load_domain
        from graph.home import claim_home
        from graph.scope import UnknownPrincipal
        from graph.settings import Settings

        settings, clock = Settings.load(), SystemClock()
        if not 0 < valid_for_s <= LONGEST_TTL_S:
            raise WrongUse(f"got --valid-for-s {valid_for_s}; allowed: 1 to {LONGEST_TTL_S}")
        auth_key(settings)
        claim_home(settings.make_home(), settings.domain)
        domain = load_domain(settings.domain, settings.home / "domain", clock)
        try:
            known = name.isprintable() and domain.principal(name) is not None
        finally:
            domain.close()
    if not known:
        raise UnknownPrincipal(name)
    now = clock.now()
    token = issue_token(settings, name, valid_for_s, now)
    if screen.json_wanted:
        until = now + timedelta(seconds=valid_for_s)
        screen.text(dumps({"principal": name, "token": token, "expires_at": until.isoformat()}, indent=2))
    else:
        screen.text(token)
    return OK
