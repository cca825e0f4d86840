"""What a verdict and an approval are bound to: change any of it and it is another call (H01, H03)."""

from pydantic import JsonValue

from state.canonical import digest
from state.contract import ToolContract
from state.run import Scope


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
