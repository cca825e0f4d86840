"""Tools are contracts (S7): what a tool needs, does, and may show; and the typed result of a call."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, JsonValue, SecretStr, create_model

from state.canonical import digest
from state.run import Scope
from state.value import Value


class Effect(StrEnum):
    """What a call does to the world."""

    READ = "read"
    WRITE = "write"
    EGRESS = "egress"


class Limit(Value):
    """A business rule on one argument: over the policy record's value, a person is asked or the call is denied."""

    parameter: str
    policy_key: str
    over: Literal["approve", "deny"] = "approve"


# What the engine itself writes into every result, as trusted: a tool's field of such a name would pass for ours.
RESERVED = frozenset({"tool", "artifact_ref", "rows", "total_rows", "error", "outcome", "truncated", "total_bytes"})


def _not_reserved(name: str) -> str:
    if name in RESERVED:
        raise ValueError(f"got {name!r}, which the engine writes itself; rename the field in the tool's result")
    return name


class OutputField(Value):
    """A field that the projection lets through, and whether third parties can write it."""

    name: Annotated[str, AfterValidator(_not_reserved)]
    trust: Literal["system", "untrusted"] = "untrusted"


SecretName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{1,63}$")]


class ToolContract(Value):
    """All that code needs to know of a tool before calling it.

    `resources` maps a parameter to the kind of resource whose id it holds; such an id must belong to the
    principal's tenant and be traceable to something the request showed (X4). `roles` empty means: nobody. `secrets`
    names the credentials that the tool may ask its context for; it is given no others.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{2,63}$")
    description: str
    effect: Effect
    parameters: dict[str, JsonValue]
    roles: tuple[str, ...]
    output: tuple[OutputField, ...]
    resources: dict[str, str] = {}
    limits: tuple[Limit, ...] = ()
    confirm: bool = False
    secrets: tuple[SecretName, ...] = ()
    idempotent: bool = False
    reversible: bool = True
    max_rows: int = 20
    max_bytes: int = 8_000

    def definition_digest(self) -> str:
        """The hash that an approval binds: a changed definition is another tool."""
        return digest(self)


class ToolError(Exception):
    """A tool's own failure. `code` is trusted and short; `detail` may echo foreign text."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code = code
        self.detail = detail


class SecretNotDeclared(PermissionError):
    """A tool asked for a credential that its contract does not declare."""

    def __init__(self, name: str) -> None:
        super().__init__(f"got the secret {name!r:.80}, which the contract of the tool does not declare in `secrets`")


def _undeclared(name: str) -> SecretStr:
    raise SecretNotDeclared(name)


@dataclass(frozen=True)
class ToolContext:
    """What a tool gets beside its arguments: the scope it acts in, the time, the key of this one effect, and what
    resolves the credentials that its contract declares."""

    scope: Scope
    now: datetime
    idempotency_key: str
    resolve: Callable[[str], SecretStr] = field(default=_undeclared, repr=False, compare=False)

    def secret(self, name: str) -> SecretStr:
        """A credential by name, to be used and put nowhere: `.get_secret_value()` gives the text.

        Raises SecretNotDeclared, and SecretMissing where it is not set.
        """
        return self.resolve(name)


ToolFunction = Callable[..., Mapping[str, Any] | list[Mapping[str, Any]] | None]


@dataclass(frozen=True)
class Tool:
    """A contract and the function behind it, called as `run(context, **arguments)`."""

    contract: ToolContract
    run: ToolFunction


def _untitled(schema: dict[str, Any]) -> dict[str, Any]:
    """A JSON schema without the titles pydantic adds: they repeat the names and cost tokens in every request."""
    cleaned = {key: value for key, value in schema.items() if key != "title"}
    if "properties" in cleaned:
        cleaned["properties"] = {
            name: {key: value for key, value in field.items() if key != "title"}
            for name, field in cleaned["properties"].items()
        }
    return cleaned


def tool(
    *,
    effect: Effect,
    roles: tuple[str, ...],
    output: tuple[OutputField, ...],
    resources: dict[str, str] | None = None,
    limits: tuple[Limit, ...] = (),
    confirm: bool = False,
    secrets: tuple[str, ...] = (),
    idempotent: bool = False,
    reversible: bool = True,
    max_rows: int = 20,
) -> Callable[[ToolFunction], Tool]:
    """Make a Tool of a function `(context, *, typed arguments)`: name, docstring and annotations become the contract.

    The first paragraph of the docstring is the description the model reads.
    """

    def wrap(function: ToolFunction) -> Tool:
        parameters = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
        fields: dict[str, Any] = {
            p.name: (p.annotation, ... if p.default is inspect.Parameter.empty else p.default) for p in parameters
        }
        arguments = create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)
        schema = _untitled(arguments.model_json_schema())
        contract = ToolContract(
            name=function.__name__,
            description=" ".join((inspect.getdoc(function) or "").split("\n\n")[0].split()),
            effect=effect,
            parameters=schema,
            roles=roles,
            output=output,
            resources=resources or {},
            limits=limits,
            confirm=confirm,
            secrets=secrets,
            idempotent=idempotent,
            reversible=reversible,
            max_rows=max_rows,
        )
        return Tool(contract, function)

    return wrap


class Observation(Value):
    """The typed result of one call. `ref` is the address of the projected body, `artifact_ref` its public name."""

    call_id: str
    tool: str
    outcome: Literal["ok", "empty", "error", "unknown"]
    code: str | None = None
    at: AwareDatetime
    artifact_ref: str
    ref: str
    trusted_fields: tuple[str, ...] = ()
    total_bytes: int = 0
    truncated: bool = False
    effect: Effect
    arguments_digest: str
