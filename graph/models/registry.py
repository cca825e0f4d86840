"""Models by the name that the settings use."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import SecretStr

from graph.models.adapter import ChatModelAdapter
from graph.models.hijacked import Hijacked
from graph.models.offline import OfflineReader
from graph.models.profiles import PROFILES
from graph.models.recorded import RecordingModel, RecordingUnusable, ReplayModel
from state.ports import Model

MODELS = ("offline", "hijacked", "openai", "replay")


class ModelNotConfigured(ValueError):
    """No model can be opened from these settings; the text says what is allowed or missing."""


def open_model(
    name: str,
    *,
    openai_model: str | None = None,
    openai_api_key: SecretStr | None = None,
    openai_base_url: str | None = None,
    openai_profile: str | None = None,
    timeout_s: float = 60.0,
    tool_names: Sequence[str] = (),
    recording: Path | None = None,
) -> Model:
    """The model of that name. `tool_names` is what the hijacked model's attacker knows; `recording` is the file that
    `replay` plays, and that any other model's replies are added to. Raises ModelNotConfigured."""
    try:
        if name == "replay":
            if recording is None:
                raise ModelNotConfigured("model 'replay' needs a recording: set EXPEDIENTE_RECORDING")
            return ReplayModel(recording)
        model = _answering(name, openai_model, openai_api_key, openai_base_url, openai_profile, timeout_s, tool_names)
        return model if recording is None else RecordingModel(model, recording)
    except RecordingUnusable as error:
        raise ModelNotConfigured(str(error)) from None


def _answering(
    name: str,
    openai_model: str | None,
    openai_api_key: SecretStr | None,
    openai_base_url: str | None,
    openai_profile: str | None,
    timeout_s: float,
    tool_names: Sequence[str],
) -> Model:
    match name:
        case "offline":
            return ChatModelAdapter(OfflineReader(), name)
        case "hijacked":
            return ChatModelAdapter(Hijacked(tool_names=tuple(tool_names)), name)
        case "openai":
            return _openai(openai_model, openai_api_key, openai_base_url, openai_profile, timeout_s)
    raise ModelNotConfigured(
        f"unknown model {name!r}; allowed: {', '.join(MODELS)}. Set EXPEDIENTE_MODEL to one of them"
    )


def _openai(
    model: str | None, api_key: SecretStr | None, base_url: str | None, profile: str | None, timeout_s: float
) -> Model:
    if not model:
        raise ModelNotConfigured("model 'openai' needs the name of a model: set EXPEDIENTE_OPENAI_MODEL")
    if not base_url and not (api_key and api_key.get_secret_value()):
        raise ModelNotConfigured(
            "model 'openai' needs a key or a server of your own: set EXPEDIENTE_OPENAI_API_KEY or"
            " EXPEDIENTE_OPENAI_BASE_URL"
        )
    if profile is not None and profile not in PROFILES:
        allowed = ", ".join(PROFILES)
        raise ModelNotConfigured(f"unknown profile {profile!r}; allowed: {allowed}. Set EXPEDIENTE_OPENAI_PROFILE")
    # Imported when it is used: the client takes about a second to load, and the offline model needs none of it.
    from graph.models.openai import openai_model as open_openai

    return open_openai(model, api_key=api_key, base_url=base_url, profile=profile, timeout_s=timeout_s)
