"""What servers differ in, declared: the one mapping of our channels, limits and modes to each protocol's words (S1).

A profile is chosen by its name in the settings; `agent doctor --model` says which one a live server fits. What a field
means to a server was looked up in its documentation, and measured where a test says so (tests/graph/models/live).
"""

from typing import Literal

from state.request import Mode
from state.value import Value

ALL_MODES: tuple[Mode, ...] = ("tools", "json_schema", "json_object", "text")


class Profile(Value):
    """One kind of server.

    `instruction_role` carries the instruction channel; with the responses API that is the top-level `instructions`.
    `output_limit` names the field of the output limit. `tool_choice` goes with tools: every request wants a call.
    `schema_in_json_object` says that a JSON schema may stand beside the type json_object, and binds. `quirks` are told
    to whoever asks what a server is like.
    """

    name: str
    modes: tuple[Mode, ...] = ALL_MODES
    api: Literal["chat", "responses"] = "chat"
    instruction_role: Literal["system", "developer"] = "system"
    output_limit: Literal["max_completion_tokens", "max_tokens"] = "max_tokens"
    tool_choice: Literal["auto", "required"] | None = None
    schema_in_json_object: bool = False
    quirks: tuple[str, ...] = ()


_MADE = (
    Profile(
        name="openai",
        instruction_role="developer",
        output_limit="max_completion_tokens",
        tool_choice="required",
        quirks=("reasoning counts towards the output limit: leave room for it",),
    ),
    Profile(
        name="openai-responses",
        api="responses",
        output_limit="max_completion_tokens",
        tool_choice="required",
        quirks=("a reply that was cut says so in its status, not in a finish reason",),
    ),
    Profile(
        name="compatible",
        quirks=("nothing beyond chat completions is taken for granted",),
    ),
    Profile(
        name="llama.cpp",
        modes=("tools", "json_object", "text"),
        tool_choice="auto",
        schema_in_json_object=True,
        quirks=(
            "without a tool_choice it does not look at tools; `required` it refuses",
            "json_schema fails; a schema beside json_object binds",
            "max_completion_tokens is ignored; max_tokens holds",
            "no cached tokens are reported",
        ),
    ),
    Profile(
        name="ollama",
        quirks=(
            "a prompt longer than its num_ctx is cut in silence: set num_ctx to EXPEDIENTE_WINDOW_TOKENS",
            "tool_choice is ignored: a reply may be text alone",
        ),
    ),
    Profile(
        name="vllm",
        tool_choice="required",
        quirks=("tools need a tool parser unless tool_choice is `required`, which is guided decoding",),
    ),
)

PROFILES = {profile.name: profile for profile in _MADE}
OPENAI_URL = "https://api.openai.com/v1"
_ON_OPENAI, _ELSEWHERE = "openai", "compatible"


def profile_of(name: str | None, base_url: str | None) -> Profile:
    """The profile of that name; without one, OpenAI's own at its own address and the cautious one elsewhere."""
    if name is None:
        name = _ON_OPENAI if (base_url or OPENAI_URL).rstrip("/") == OPENAI_URL else _ELSEWHERE
    return PROFILES[name]
