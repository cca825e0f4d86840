"""On which terms the settings let a model be asked."""

from graph.models.profiles import profile_of
from graph.settings import Settings
from state.asking import CallTerms


def call_terms(settings: Settings) -> CallTerms:
    """Modes as the model's profile has them, or as the settings say; retries and waiting as the settings say.

    A model in this process answers the same each time, so that it is asked once.
    """
    if settings.model != "openai":
        return CallTerms(prices=settings.model_prices)
    modes = settings.model_modes or profile_of(settings.openai_profile, settings.openai_base_url).modes
    return CallTerms(
        modes=modes, retries=settings.model_retries, wait_s=settings.model_wait_s, prices=settings.model_prices
    )
