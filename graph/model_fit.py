"""Which profile fits a model server, by what came of asking it, and what to do where none does."""

from collections.abc import Sequence

from graph.doctor import Check
from graph.models.profiles import PROFILES, Profile, profile_of
from state.canonical import canonical_json
from state.request import Mode

BROKEN_OFF = "questions"  # the check that says so: the server answered no more


class Fit(Check):
    """What came of asking under a profile: which modes work for certain, and whether the output limit is kept to."""

    profile: str
    works: tuple[Mode, ...]
    limited: bool


def fitting(checks: Sequence[Check], base_url: str | None) -> Profile | None:
    """The profile to set for a server at this address: of those that fit the one that takes least for granted. None
    where not all were tried."""
    if _broken_off(checks):
        return None
    return next((PROFILES[fit.profile] for fit in _nearest_first(checks, base_url) if fit.ok), None)


def next_step(checks: Sequence[Check], base_url: str | None) -> str:
    """What to set; where no profile fits, what comes nearest, or what to look at."""
    fits = fitting(checks, base_url)
    if fits is not None:
        return f"set EXPEDIENTE_OPENAI_PROFILE={fits.name}"
    if _broken_off(checks):
        return "not every profile was tried: see above, then ask again"
    asked_as = _nearest_first(checks, base_url)
    if not asked_as:
        return "no profile was tried: mend what is missing above, then ask again"
    best = max(asked_as, key=lambda fit: (len(fit.works), fit.limited))  # the first of those that are as near
    if not best.works:
        return "no profile fits: look at what fails above and at the server's own log, or ask another model of it"
    bound = "" if best.limited else "; bound the length of replies at the server, which does not keep to the limit"
    modes = canonical_json(list(best.works)).decode()
    return f"no profile fits; set EXPEDIENTE_OPENAI_PROFILE={best.profile} and EXPEDIENTE_MODEL_MODES={modes}{bound}"


def _broken_off(checks: Sequence[Check]) -> bool:
    return any(check.name == BROKEN_OFF for check in checks)


def _nearest_first(checks: Sequence[Check], base_url: str | None) -> list[Fit]:
    """The profile that an address has without a name comes first, the provider's own words last where it is another's
    server, and of the rest what promises most."""
    usual = profile_of(None, base_url)

    def order(fit: Fit) -> tuple[bool, bool, int, bool]:
        profile = PROFILES[fit.profile]
        newer = profile.output_limit == "max_completion_tokens"
        return profile is not usual, newer, -len(profile.modes), profile.tool_choice is None

    return sorted((check for check in checks if isinstance(check, Fit)), key=order)
