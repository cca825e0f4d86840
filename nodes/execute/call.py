"""One call of a tool: in time, tried again where that is safe, its ways to end told apart by the contract (L7, H19)."""

import logging
import re
import time
from asyncio import CancelledError
from collections.abc import Callable, Mapping
from contextvars import copy_context
from threading import Thread
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import JsonValue

from nodes.execute.isolated import Killed, Raised, in_child
from nodes.execute.project import NotText, Projected, project
from state.checks.schema import validator
from state.contract import FAILURE_CODE, Effect, Failed, ToolContract
from state.tools import Result, Tool, ToolContext, ToolError, ToolFunction, Warned

T = TypeVar("T")
BACKOFF_S = 0.2
_CODE = re.compile(FAILURE_CODE)
_KIND = re.compile(r"\w{1,64}", re.ASCII)
_MOST_RAW = 16_000_000  # characters or bytes of a text, before anything of it is looked at
_NAMED = 5  # fields in a line of the log
_LOG = logging.getLogger(__name__)
_NOTHING = Projected({}, True, 0, False, {})


class Ran(NamedTuple):
    """How a call ended: `projected` is what it brought, `passing` whether another try may succeed, `warnings` what was
    noticed about the result."""

    outcome: Literal["ok", "empty", "error", "unknown"]
    code: str | None = None
    projected: Projected = _NOTHING
    passing: bool = False
    tries: int = 1
    warnings: tuple[str, ...] = ()


class TimedOut(Exception):
    """The call did not come back in its time. It was not stopped: what it does may still happen."""


def called(
    tool: Tool,
    context: ToolContext,
    arguments: Mapping[str, JsonValue],
    masked: Callable[[str], str],
    sleep: Callable[[float], None] = time.sleep,
) -> Ran:
    """Call a tool, with its retries; a write that can be read back is read back. Raises nothing that a tool raises."""
    contract, tries = tool.contract, 0
    safe = contract.idempotent or contract.effect is Effect.READ
    while True:
        tries += 1
        ran = _tried(tool, context, arguments, masked)
        if not (safe and ran.passing and tries <= contract.retries):
            break
        sleep(BACKOFF_S * 2 ** (tries - 1))
    if contract.effect is not Effect.READ:
        ran = read_back(tool, context, arguments, masked, ran)
    return ran._replace(tries=tries)


def read_back(
    tool: Tool, context: ToolContext, arguments: Mapping[str, JsonValue], masked: Callable[[str], str], ran: Ran
) -> Ran:
    """What is known of a write after looking whether it happened: its postcondition, or the end of not knowing.

    A call that ran out of its time may still be at work, and what a killed one had sent may still be on its way: that
    nothing was found says nothing then.
    """
    look = tool.read_back
    if look is None or ran.outcome in ("error", "empty"):
        return ran
    try:
        result = _run(look, tool.contract, context, arguments)
        found = None if result is None else project(tool.contract, _plain(result), masked)
    except _ITS_OWN:  # it cannot say, for whatever reason: nothing more is known than before
        return ran
    if ran.outcome == "ok":
        return ran if found is not None else Ran("unknown", "not_found_afterwards", ran.projected)
    if found is not None:
        return Ran("ok", "found_afterwards", found)
    return ran if ran.code in ("timed_out", "killed", "claimed_before") else ran._replace(outcome="error")


def in_time(run: Callable[[], T], timeout_s: float) -> T:
    """What a function returns, if it does within its time; what it raises. Raises TimedOut, and lets it go on."""
    ended: list[tuple[bool, Any]] = []
    context = copy_context()

    def work() -> None:
        try:
            ended.append((True, context.run(run)))
        except BaseException as error:  # noqa: BLE001 - raised again where the caller waits
            ended.append((False, error))

    # A daemon: a call that never comes back must not keep the process alive.
    thread = Thread(target=work, daemon=True, name="tool call")
    thread.start()
    thread.join(timeout_s)
    if not ended:
        raise TimedOut
    fine, value = ended[0]
    if not fine:
        raise value
    returned: T = value
    return returned


# What a tool may raise for itself: it has a thread of its own, where none of these is the caller's.
_ITS_OWN = (Exception, SystemExit, KeyboardInterrupt, GeneratorExit, CancelledError)


def _tried(tool: Tool, context: ToolContext, arguments: Mapping[str, JsonValue], masked: Callable[[str], str]) -> Ran:
    contract = tool.contract
    # What an exception means: a read failed; a write may have happened all the same.
    undecided: Literal["error", "unknown"] = "error" if contract.effect is Effect.READ else "unknown"
    try:
        result = _run(tool.run, contract, context, arguments)
    except TimedOut:
        return Ran(undecided, "timed_out")
    except Killed:
        return Ran(undecided, "killed")
    except ToolError as error:
        given = str(error.code)
        mode = contract.failure(given)
        # A code is ours to show as it is: one that is none may be anybody's text.
        code = masked(given) if _CODE.fullmatch(given) else "tool_error"
        return Ran(undecided if mode and mode.undecided else "error", code, passing=bool(mode and mode.passing))
    except _ITS_OWN as error:
        # The kind alone is shown: what an exception says may hold anything. Whoever mends the tool asks for the log.
        _LOG.info("the tool %s failed", contract.name, exc_info=error)
        kind = error.kind if isinstance(error, Raised) else type(error).__name__
        return Ran(undecided, f"tool_failed:{masked(kind) if _KIND.fullmatch(kind) else 'Exception'}")
    warnings = result.warnings if isinstance(result, Warned) else ()
    try:
        ran = _read(contract, _plain(result), masked)
    except NotText:
        return Ran(undecided, "result_not_text")
    except Exception as error:  # noqa: BLE001 - a result's own methods may raise anything: it cannot be read
        _LOG.info("the result of the tool %s cannot be read", contract.name, exc_info=error)
        return Ran(undecided, "result_invalid")
    if others := ran.projected.left_out:
        # Counted alone: a record outlives what is forgotten, and a field may be called by anybody's name.
        _LOG.info("the tool %s brought fields that its contract does not have: %s", contract.name, others[:_NAMED])
        warnings = (*warnings, f"fields_left_out:{len(others)}")
    return ran._replace(warnings=warnings)


def _read(contract: ToolContract, result: Result, masked: Callable[[str], str]) -> Ran:
    """What a result says. Raises NotText, and whatever its values raise when they are read."""
    failed = next((told.code for told in contract.failed if _tells(told, result)), None)
    if failed is not None:
        return Ran("error", failed)
    if isinstance(result, str | bytes) and len(result) > _MOST_RAW:
        raise TypeError("the result is too large to be read")
    projected = project(contract, result, masked)
    if not projected.empty and not _fits(contract, projected):
        raise TypeError("the result is not what the contract says")
    return Ran("empty" if projected.empty else "ok", None, projected)


def _plain(result: Result | Warned) -> Result:
    return result.result if isinstance(result, Warned) else result


def _run(
    function: ToolFunction, contract: ToolContract, context: ToolContext, arguments: Mapping[str, JsonValue]
) -> Result | Warned:
    if contract.isolated:
        return in_child(function, contract, context, arguments)
    return in_time(lambda: function(context, **arguments), contract.timeout_s)


def _tells(told: Failed, result: Result) -> bool:
    """Whether a result says in this field that the call failed."""
    if not isinstance(result, Mapping) or told.field not in result:
        return False
    value = result[told.field]
    if not told.values:
        return value is not None and value is not False and value not in ("", [], {})
    return any(type(value) is type(one) and value == one for one in told.values)


def _fits(contract: ToolContract, projected: Projected) -> bool:
    """Whether what was projected is what the contract says of its output."""
    if not any(field.required or field.json_schema for field in contract.output):
        return True
    checked = validator(contract.output_schema())
    rows = projected.whole.get("rows")
    return all(checked.is_valid(row) for row in (rows if isinstance(rows, list) else [projected.whole]))
