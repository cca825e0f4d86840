"""ChatOpenAI behind the port: OpenAI's own service, or any server that speaks its protocol."""

from typing import Any

from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from graph.models.adapter import ChatModelAdapter, plain_settings
from state.context import RequestSettings

OPENAI_URL = "https://api.openai.com/v1"
# Written where a server of one's own asks for no key: without one, the client would take a key from the environment.
NO_KEY = "none"
RETRIES = 1


def other_server_settings(settings: RequestSettings) -> dict[str, Any]:
    """The output limit under its older name: the client sends the newer one, which not every server knows."""
    return {"temperature": settings.temperature, "extra_body": {"max_tokens": settings.max_output_tokens}}


def openai_model(
    model: str, *, api_key: SecretStr | None = None, base_url: str | None = None, timeout_s: float = 60.0
) -> ChatModelAdapter:
    """A model by its server's name for it. `base_url` None is OpenAI's own service. At most one retry per call."""
    key = api_key if api_key is not None and api_key.get_secret_value() else SecretStr(NO_KEY)
    chat = ChatOpenAI(
        model_name=model,
        openai_api_key=key,
        openai_api_base=base_url or OPENAI_URL,
        request_timeout=timeout_s,
        max_retries=RETRIES,
        # Nothing may be shown before it is validated, so that there is nothing to stream.
        disable_streaming=True,
    )
    return ChatModelAdapter(
        chat,
        f"openai:{model}",
        secrets=() if api_key is None else (api_key,),
        settings=plain_settings if (base_url or OPENAI_URL).rstrip("/") == OPENAI_URL else other_server_settings,
    )
