"""ChatOpenAI behind the port: OpenAI's own service, or any server that speaks its protocol, by its profile."""

import warnings
from typing import Any

import httpx2
import openai
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatResult
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from graph.models.adapter import WRITTEN_CALLS, ChatModelAdapter
from graph.models.bounded import bounded_async_client, bounded_client
from graph.models.profiles import OPENAI_URL, Profile, profile_of
from state.request import Message, ReplyForm, Request

# Written where a server of one's own asks for no key: without one, the client would take a key from the environment.
NO_KEY = "none"
_SCHEMA_NAME = "proposal"
# What a request needs. The client adds what it finds in the environment, an organisation, a project or any header, and
# what machine this is. The last one says nothing: the client reads it back where the reply comes in.
_SENT = {
    *("host", "connection", "accept", "accept-encoding", "authorization", "user-agent"),
    *("content-type", "content-length", "transfer-encoding", "x-stainless-raw-response"),
}

# Where a server's field has another type than the protocol's, pydantic prints its value, whatever stands there, past
# every mask. That the reply is not as it should be is found, and told, where it is read.
warnings.filterwarnings("ignore", message="Pydantic serializer warnings", category=UserWarning)


class OpenAIWriting:
    """A request in the words of OpenAI's protocol, as a profile has them."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile

    @property
    def tool_choice(self) -> str | None:
        """As the profile has it."""
        return self._profile.tool_choice

    def messages(self, request: Request) -> list[BaseMessage]:
        """Channels as roles. With the responses API instructions stand apart from the messages, at the top."""
        if self._profile.api == "responses":
            return [HumanMessage(message.content) for message in request.messages if message.channel == "input"]
        return [self._message(message) for message in request.messages]

    def settings(self, request: Request) -> dict[str, Any]:
        """The form of the reply, limits."""
        profile, own = self._profile, request.settings
        given: dict[str, Any] = {"temperature": own.temperature}
        extra: dict[str, Any] = {}
        if profile.output_limit == "max_tokens":
            extra["max_tokens"] = own.max_output_tokens  # the client would send it under the newer name
        else:
            given["max_tokens"] = own.max_output_tokens
        if request.reply_form is not None:
            # Not by name: the client would then parse the reply itself, and raise where it was cut or fenced.
            extra |= self._form(request.reply_form)
        if profile.api == "responses":
            given["instructions"] = "\n\n".join(m.content for m in request.messages if m.channel == "instruction")
        return {**given, **({"extra_body": extra} if extra else {})}

    def _message(self, message: Message) -> BaseMessage:
        if message.channel == "input":
            return HumanMessage(message.content)
        role = self._profile.instruction_role
        return SystemMessage(message.content, additional_kwargs={"__openai_role__": role} if role != "system" else {})

    def _form(self, form: ReplyForm) -> dict[str, Any]:
        schema = {"name": _SCHEMA_NAME, "schema": form.json_schema}
        responses = self._profile.api == "responses"
        match form.mode:
            case "json_schema" if responses:
                return {"text": {"format": {"type": "json_schema", **schema}}}
            case "json_schema":
                return {"response_format": {"type": "json_schema", "json_schema": schema}}
            case "json_object" if responses:
                return {"text": {"format": {"type": "json_object"}}}
            case "json_object":
                bound = {"schema": form.json_schema} if self._profile.schema_in_json_object else {}
                return {"response_format": {"type": "json_object", **bound}}
            case "text" | "tools":
                return {}


class _AsWritten(ChatOpenAI):
    """Keeps calls as the server sent them, as other clients do: LangChain's reading takes the last of a field that
    stands twice, and an empty object for what is none."""

    def _create_chat_result(
        self, response: dict[str, Any] | openai.BaseModel, generation_info: dict[str, Any] | None = None
    ) -> ChatResult:
        result = super()._create_chat_result(response, generation_info)
        sent = response if isinstance(response, dict) else response.model_dump(warnings=False)
        for generation, choice in zip(result.generations, sent["choices"], strict=True):
            generation.message.additional_kwargs[WRITTEN_CALLS] = choice["message"].get("tool_calls")
        return result


def openai_model(
    model: str,
    *,
    api_key: SecretStr | None = None,
    base_url: str | None = None,
    profile: str | None = None,
    timeout_s: float = 60.0,
) -> ChatModelAdapter:
    """A model by its server's name for it. `base_url` None is OpenAI's own service. Nothing is repeated here:
    each call is an attempt that the record shows."""
    key = api_key if api_key is not None and api_key.get_secret_value() else SecretStr(NO_KEY)
    chosen = profile_of(profile, base_url)
    client, async_client = bounded_client(timeout_s), bounded_async_client(timeout_s)
    client.event_hooks["request"].append(_plain)
    async_client.event_hooks["request"].append(_aplain)
    chat = _AsWritten(
        model_name=model,
        openai_api_key=key,
        openai_api_base=base_url or OPENAI_URL,
        request_timeout=timeout_s,
        max_retries=0,
        use_responses_api=chosen.api == "responses",
        http_client=client,
        http_async_client=async_client,
        # Else read from the environment, where whatever else runs here has put them.
        openai_proxy=None,
        http_socket_options=(),
        output_version="responses/v1",
        # Nothing may be shown before it is validated, so that there is nothing to stream.
        disable_streaming=True,
    )
    return ChatModelAdapter(
        chat, f"openai:{model}", secrets=() if api_key is None else (api_key,), writing=OpenAIWriting(chosen)
    )


def _plain(request: httpx2.Request) -> None:
    for name in set(request.headers.keys()) - _SENT:
        del request.headers[name]


async def _aplain(request: httpx2.Request) -> None:
    _plain(request)
