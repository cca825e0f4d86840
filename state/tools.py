"""A tool is a contract and a function (S7); what the function is given, and the typed result of a call."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NoReturn

from pydantic import AwareDatetime, ConfigDict, Field, SecretStr, create_model
from typing_extensions import TypedDict, Unpack

from state.checks.schema import closed
from state.contract import Approvers, Effect, Failed, FailureMode, Limit, OutputField, Rate, ToolContract
from state.labels import Argument, Opens
from state.memory import NotRemembered, Remembered
from state.run import Scope
from state.summary import Summary
from state.value import Value

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class ToolError(Exception):
    """A tool's own failure. `code` is a short name of our own, as a FailureMode has it: anything else is shown as
    `tool_error`. `detail` may echo foreign text."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code = code
        self.detail = detail


class ToolIllFormed(ValueError):
    """A function that can be no tool: the text says what is wrong with it, and what to do."""


class SecretNotDeclared(PermissionError):
    """A tool asked for a credential that its contract does not declare."""

    def __init__(self, name: str) -> None:
        super().__init__(f"got the secret {name!r:.80}, which the contract of the tool does not declare in `secrets`")


class MemoryNotDeclared(PermissionError):
    """A tool would remember or forget what its contract does not declare."""


def _not_kept(*_: str) -> NoReturn:
    raise MemoryNotDeclared("got a memory from a tool whose process keeps none; let the tool not be isolated")


def _undeclared(name: str) -> SecretStr:
    raise SecretNotDeclared(name)


@dataclass(frozen=True)
class ToolContext:
    """What a tool gets beside its arguments: the scope it acts in, the time, the key of this one effect, what resolves
    the credentials that its contract declares, and what keeps and deletes memories of the principal."""

    scope: Scope
    now: datetime
    idempotency_key: str
    resolve: Callable[[str], SecretStr] = field(default=_undeclared, repr=False, compare=False)
    keep: Callable[[str, str], Remembered | NotRemembered] = field(default=_not_kept, repr=False, compare=False)
    drop: Callable[[str], int] = field(default=_not_kept, repr=False, compare=False)

    def secret(self, name: str) -> SecretStr:
        """A credential by name, to be used and put nowhere: `.get_secret_value()` gives the text.

        Raises SecretNotDeclared, and SecretMissing where it is not set.
        """
        return self.resolve(name)

    def remember(self, about: str, argument: str) -> Remembered:
        """Keep what an argument of the role `memory` says, of a topic of the policy record. Whether the user said so is
        not the tool's to tell: it follows from where the argument stands in the user's turns.

        Raises MemoryNotDeclared, and ToolError with the reason where it is not kept.
        """
        kept = self.keep(about, argument)
        if isinstance(kept, NotRemembered):
            raise ToolError(kept.reason)
        return kept

    def forget_memories(self, about: str) -> int:
        """Delete all that is remembered of the principal on a topic, everywhere; how much that was. Raises
        MemoryNotDeclared."""
        return self.drop(about)


Result = Mapping[str, Any] | list[Mapping[str, Any]] | str | bytes | None


@dataclass(frozen=True)
class Warned:
    """A result with what was noticed about it, for the record: codes of ours, shown to no model."""

    result: Result
    warnings: tuple[str, ...]


ToolFunction = Callable[..., Result | Warned]


@dataclass(frozen=True)
class Tool:
    """A contract and the function behind it, called as `run(context, **arguments)`.

    `read_back`, called the same way, looks whether the effect under the context's idempotency key happened: its result
    then, and None where it did not. It raises ToolError where it cannot say. Raises ToolIllFormed for an isolated tool
    whose function does not stand at the top of its module, where another process finds it.
    """

    contract: ToolContract
    run: ToolFunction
    read_back: ToolFunction | None = None

    def __post_init__(self) -> None:
        for function in (self.run, self.read_back) if self.contract.isolated else ():
            name = "" if function is None else getattr(function, "__qualname__", "<no name>")
            if "<" in name:
                raise ToolIllFormed(
                    f"got {name} for the isolated tool {self.contract.name}; another process finds it by name: move it "
                    "to the top of its module, or leave `isolated` out"
                )


class Terms(TypedDict, total=False):
    """The optional terms of a contract, as ToolContract has them."""

    resources: dict[str, str]
    arguments: dict[str, Argument]
    opens_when: Opens | None
    audience: Literal["none", "internal", "external"]
    requires: tuple[str, ...]
    limits: tuple[Limit, ...]
    rates: tuple[Rate, ...]
    confirm: bool
    approvers: Approvers
    secrets: tuple[str, ...]
    idempotent: bool
    reversible: bool
    failed: tuple[Failed, ...]
    failures: tuple[FailureMode, ...]
    retries: int
    fallback: Literal["none", "last_result"]
    timeout_s: float
    isolated: bool
    cost: float
    max_rows: int
    max_bytes: int


def tool(
    *,
    effect: Effect,
    roles: tuple[str, ...],
    output: tuple[OutputField, ...],
    read_back: ToolFunction | None = None,
    **terms: Unpack[Terms],
) -> Callable[[ToolFunction], Tool]:
    """Make a Tool of a function `(context, *, typed arguments)`: name, docstring and annotations become the contract.

    The first paragraph of the docstring is the description the model reads.
    """

    def wrap(function: ToolFunction) -> Tool:
        parameters = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
        bare = [p.name for p in parameters if p.annotation is inspect.Parameter.empty]
        if bare or not inspect.getdoc(function):
            lacks = f"an annotation of {', '.join(bare)}" if bare else "a docstring, which the model reads"
            raise ToolIllFormed(f"got the tool {function.__name__} without {lacks}; add it")
        fields: dict[str, Any] = {
            p.name: (p.annotation, ... if p.default is inspect.Parameter.empty else p.default) for p in parameters
        }
        arguments = create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)
        contract = ToolContract(
            name=function.__name__,
            description=" ".join((inspect.getdoc(function) or "").split("\n\n")[0].split()),
            effect=effect,
            parameters=untitled(arguments.model_json_schema()),
            roles=roles,
            output=output,
            reads_back=read_back is not None,
            **terms,
        )
        return Tool(contract, function, read_back)

    return wrap


def snake_name(name: str) -> str:
    """A name of somebody else's in lower case, its words joined by single underscores."""
    return re.sub(r"[^a-z0-9]+", "_", _HUMP.sub("_", name).lower()).strip("_")


def closed_parameters(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Somebody else's schema of arguments as a contract has it: closed, without what says nothing of a call."""
    made = untitled(closed(schema))
    for word in ("$schema", "description"):
        made.pop(word, None)
    return {**made, "type": "object", "properties": made.get("properties", {}), "additionalProperties": False}


def untitled(schema: dict[str, Any]) -> dict[str, Any]:
    """A JSON schema without the titles pydantic adds: they repeat the names and cost tokens in every request."""
    cleaned = {key: value for key, value in schema.items() if key != "title"}
    if "properties" in cleaned:
        cleaned["properties"] = {
            name: {key: value for key, value in field.items() if key != "title"}
            for name, field in cleaned["properties"].items()
        }
    return cleaned


class Observation(Value):
    """The typed result of one call. `ref` is the address of the projected body, `artifact_ref` its public name.

    `whole_ref` is the address of all of a body that was cut, which `{artifact_ref}/whole` names. `warnings` are codes
    for what was noticed about the result, such as two parts of it that disagree. `summary` is what a model said of it,
    where one was asked.
    """

    call_id: str
    tool: str
    outcome: Literal["ok", "empty", "error", "unknown"]
    code: str | None = None
    at: AwareDatetime
    artifact_ref: str
    ref: str
    whole_ref: str | None = None
    trusted_fields: tuple[str, ...] = ()
    total_bytes: int = 0
    truncated: bool = False
    effect: Effect
    arguments_digest: str
    tries: int = 1
    # Not written where there are none: a record that has none keeps its bytes.
    warnings: tuple[str, ...] = Field(default=(), exclude_if=lambda warnings: not warnings)
    summary: Summary | None = Field(default=None, exclude_if=lambda summary: summary is None)
