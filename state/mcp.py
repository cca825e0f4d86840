"""Servers of the Model Context Protocol as a domain declares them, and what a server says of its tools (S8)."""

from pathlib import Path
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import Field, JsonValue, StringConstraints, model_validator

from state.canonical import digest
from state.contract import Effect, OutputField, SecretName
from state.tools import Terms, snake_name
from state.value import Ruled, Value

BETWEEN = "__"  # a server's name and its tool's; neither part of a server's name nor made where a tool's is mapped

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_NOT_TOLD = ("isolated", "secrets")
_NEVER_TWICE = ("idempotent", "retries")

# One word or several: two underscores would make it ambiguous where the tool's name begins.
ServerName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$", max_length=24)]
Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]
Header = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9-]{0,63}$")]


class Definition(Value):
    """What a server says of one tool: a third party's text until somebody reviewed it.

    `definition_digest` is what a review pins. Key order does not count, nor what has no bearing on a call (`_meta`,
    icons).
    """

    name: str
    title: str | None = None
    description: str = ""
    input_schema: dict[str, JsonValue]
    output_schema: dict[str, JsonValue] | None = None
    annotations: dict[str, JsonValue] = {}

    def definition_digest(self) -> str:
        """The sha256 of the canonical definition."""
        return digest(self)


class ServerTool(Ruled):
    """The contract of one tool of a server, but for its words and parameters, which are the reviewed definition's.

    `name` is the server's; `alias` takes its place after the server's name where that cannot be mapped. `description`
    takes the place of the server's words. `rows` names the field of a structured result whose list is the result.
    `terms` are those of any contract. A tool runs in its server, which gets the server's credentials; and since the
    protocol has no key by which a server would know an effect again, an effect is never called twice.
    """

    name: str = Field(pattern=r"^[!-~]{1,128}$")
    effect: Effect
    roles: tuple[str, ...]
    output: tuple[OutputField, ...]
    alias: str | None = Field(default=None, pattern=r"^[a-z][a-z0-9_]{0,40}$")
    description: str | None = Field(default=None, min_length=1)
    rows: str | None = None
    terms: Terms = {}

    @model_validator(mode="after")
    def _what_a_server_can_keep(self) -> Self:
        effect = self.effect is not Effect.READ
        refused = [name for name in (*_NOT_TOLD, *(_NEVER_TWICE if effect else ())) if self.terms.get(name)]
        if refused:
            raise ValueError(
                f"tool {self.name!r:.80}: got {', '.join(refused)}; allowed: terms that a server can keep: it has a "
                "process of its own, gets its own credentials, and does not know an effect again"
            )
        return self


class McpServer(Ruled):
    """One server: a command that speaks over its standard streams, or the address of one that speaks HTTP.

    A command is started in `folder`, an empty one where it is None, with the `environment` given and nothing of ours
    beside. `secrets` and `headers` name the credential that a variable or a header holds, `bearer` the one that goes
    into `Authorization`; they come from the resolver when the server is called. `timeout_s` bounds opening and listing;
    a call has its contract's time. What the server lists beside `tools` is not callable.
    """

    name: ServerName
    command: tuple[str, ...] = ()
    url: str | None = None
    folder: Path | None = None
    environment: dict[Variable, str] = {}
    secrets: dict[Variable, SecretName] = {}
    headers: dict[Header, SecretName] = {}
    bearer: SecretName | None = None
    timeout_s: float = Field(default=10.0, gt=0, le=300)
    tools: tuple[ServerTool, ...]

    @model_validator(mode="after")
    def _one_way_to_it(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError(f"server {self.name}: got command={self.command!r} and url={self.url!r}; allowed: one")
        if self.url is not None:
            if self.folder or self.environment or self.secrets:
                raise ValueError(f"server {self.name}: got a folder or variables beside a url; a command has those")
            self._safe(self.url)
        elif self.headers or self.bearer:
            raise ValueError(f"server {self.name}: got headers beside a command; a url has those")
        return self

    def _safe(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
            raise ValueError(f"server {self.name}: got a url that is not shown; allowed: http(s)://HOST/PATH, no user")
        if parts.scheme == "http" and parts.hostname not in _LOOPBACK and (self.headers or self.bearer):
            raise ValueError(f"server {self.name}: got credentials for http://{parts.hostname}; allowed: https")

    @property
    def credentials(self) -> tuple[str, ...]:
        """The names of the secrets that the server gets, sorted."""
        return tuple(sorted({*self.secrets.values(), *self.headers.values(), *([self.bearer] if self.bearer else [])}))

    def tool_name(self, tool: ServerTool) -> str:
        """The name under which a tool is called here: lower case, and no other server's."""
        return f"{self.name}{BETWEEN}{tool.alias or snake_name(tool.name)}"
