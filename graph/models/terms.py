"""The model that the settings name, and on which terms they let it be asked."""

from collections.abc import Sequence

from graph.models.profiles import profile_of
from graph.models.registry import ModelNotConfigured, open_model
from graph.settings import Settings
from state.asking import CallTerms
from state.policy import Policy
from state.ports import Model
from state.spending import price_of


def configured_model(settings: Settings, tool_names: Sequence[str]) -> Model:
    """The model of these settings; `tool_names` is what the hijacked model's attacker knows. Raises
    ModelNotConfigured."""
    return open_model(
        settings.model,
        openai_model=settings.openai_model,
        openai_api_key=settings.openai_api_key,
        openai_base_url=settings.openai_base_url,
        openai_profile=settings.openai_profile,
        timeout_s=settings.model_timeout_s,
        tool_names=tool_names,
        recording=settings.recording,
    )


def call_terms(settings: Settings, policies: Sequence[Policy]) -> CallTerms:
    """Modes as the model's profile has them, or as the settings say; retries and waiting as the settings say.

    A model in this process answers the same each time, so that it is asked once, and costs nothing. Raises
    ModelNotConfigured where a policy bounds what a model costs that has no price: the limit would bound nothing.
    """
    if settings.model != "openai":
        return CallTerms(prices=settings.model_prices)
    model, prices = settings.openai_model or "", settings.model_prices
    bounding = [policy.version for policy in policies if policy.model_limits.bounds_cost]
    if bounding and price_of(prices, model) is None:
        raise ModelNotConfigured(
            f"policy {bounding[0]} bounds what models cost, and {model} has no price: set EXPEDIENTE_MODEL_PRICES, per "
            f'million tokens, such as {{"{model}": {{"input": 0.5, "output": 1.5}}}}'
        )
    modes = settings.model_modes or profile_of(settings.openai_profile, settings.openai_base_url).modes
    return CallTerms(
        modes=modes, retries=settings.model_retries, wait_s=settings.model_wait_s, prices=settings.model_prices
    )
