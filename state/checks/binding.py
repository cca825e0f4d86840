"""What a verdict and an approval are bound to: change any of it and it is another call (H01, H03)."""

from pydantic import JsonValue

from state.canonical import digest, one_number
from state.contract import ToolContract
from state.run import Scope


def arguments_digest(tool: str, arguments: dict[str, JsonValue]) -> str:
    """Names a call by tool and arguments; repeats are recognised by it. 100.0 and 100 are one amount."""
    return digest({"tool": tool, "arguments": one_number(arguments)})


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
