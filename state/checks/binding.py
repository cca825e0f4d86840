"""What a verdict and an approval are bound to: change any of it and it is another call (H01, H03)."""

from typing import TypeVar

from pydantic import JsonValue

from state.canonical import digest
from state.ports import Seal
from state.run import Scope
from state.tools import ToolContract
from state.value import Sealed

S = TypeVar("S", bound=Sealed)


def arguments_digest(tool: str, arguments: dict[str, JsonValue]) -> str:
    """Names a call by tool and arguments; repeats are recognised by it. 100.0 and 100 are one amount."""
    return digest({"tool": tool, "arguments": _plain(arguments)})


def _plain(value: JsonValue) -> JsonValue:
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {name: _plain(inner) for name, inner in value.items()}
        case list():
            return [_plain(inner) for inner in value]
        case _:
            return value


def call_digest(
    scope: Scope,
    parent: str | None,
    call_id: str,
    arguments: dict[str, JsonValue],
    contract: ToolContract,
    policy_version: str,
) -> str:
    """Binds a call: thread, record before, id, arguments, the tool's definition, the policy's version."""
    return digest(
        {
            "tenant": scope.tenant,
            "thread": scope.thread,
            "owner": scope.principal.name,
            "parent": parent,
            "call_id": call_id,
            "arguments": arguments_digest(contract.name, arguments),
            "definition": contract.definition_digest(),
            "policy": policy_version,
        }
    )


def sealed(seal: Seal, scope: Scope, request_id: str, value: S) -> S:
    """The value with its seal: over its content, the thread, its owner and the lap's request."""
    return value.model_copy(update={"seal": seal.sign(_payload(scope, request_id, value))})


def intact(seal: Seal, scope: Scope, request_id: str, value: Sealed) -> bool:
    """Whether the value carries our seal for this very lap: if not, it was written from outside."""
    return seal.verify(_payload(scope, request_id, value), value.seal)


def _payload(scope: Scope, request_id: str, value: Sealed) -> dict[str, JsonValue]:
    return {
        "tenant": scope.tenant,
        "thread": scope.thread,
        "owner": scope.principal.name,
        "request": request_id,
        "value": value.model_dump(mode="json", exclude={"seal"}),
    }
