"""What is seen from outside the engine while a case runs: each request as sent, each tool as it really ran.

The wrappers stand where the live objects do, so what they note does not rest on the engine's own record. They also
bring in what the case injects: hostile values in results and failures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import JsonValue

from evals.fixture import MODEL, Failure, Fixture, Injected, Said, Vector
from state.canonical import canonical_json
from state.contract import Effect
from state.ports import Model
from state.render import blocks
from state.request import AttemptOutcome, ModelError, RawCall, Reply, Request
from state.tools import Tool, ToolContext, ToolError
from state.value import Value


class Crash(BaseException):
    """Stands for the death of the process: no node may catch it."""


class ToolRun(Value):
    """One run of a tool's function. `done` is false where it raised: then nothing was changed.

    `key` names the effect to the tool: two runs of one key are one effect.
    """

    tool: str
    effect: Effect
    arguments: dict[str, JsonValue]
    principal: str
    done: bool
    key: str = ""


@dataclass
class Watch:
    """Everything seen, in order. `model_faults` are errors of the model that the case did not ask for.

    Once the case is `over`, whoever calls a tool looks at the world as it is, unwatched.
    `unsaid` is what the model was to say and had no decision for so far, `unfailed` what was to fail and was not
    called, or not so often.
    """

    requests: list[Request] = field(default_factory=list)
    runs: list[ToolRun] = field(default_factory=list)
    model_faults: list[str] = field(default_factory=list)
    unsaid: list[Said] = field(default_factory=list)
    unfailed: list[str] = field(default_factory=list)
    over: bool = False


class WatchedModel:
    """A model port that notes each request, and fails and says what the case wants. `playing` stands in for a turn."""

    def __init__(self, model: Model, watch: Watch, fixture: Fixture) -> None:
        self._model, self._watch = model, watch
        self._failing = _queue(fixture.failures, MODEL, watch)
        watch.unsaid = list(fixture.said)
        self.playing: Model | None = None

    @property
    def name(self) -> str:
        """The inner model's name."""
        return self._model.name

    def reply(self, request: Request) -> Reply:
        """The inner model's reply. Raises ModelError, also where the case wants one."""
        if self.playing is not None:
            return self.playing.reply(request)
        self._watch.requests.append(request)
        failure = _next(self._failing, self._watch)
        if failure is not None:
            raise ModelError(AttemptOutcome.model_validate({"name": failure.code, "detail": "injected"}))
        at = place(request)
        said = next((said for said in self._watch.unsaid if said.at == at), None)
        if said is not None:
            self._watch.unsaid.remove(said)
            return _reply(said, self.name)
        try:
            return self._model.reply(request)
        except Exception as fault:
            # Whatever it is, the case says nothing about it: what was to be tested did not happen (H25).
            self._watch.model_faults.append(type(fault).__name__)
            raise

    async def areply(self, request: Request) -> Reply:
        """The same reply."""
        return self.reply(request)


def watched(tool: Tool, watch: Watch, fixture: Fixture) -> Tool:
    """A tool that notes its runs, with the case's failures and injections around its function."""
    name = tool.contract.name
    failing = _queue(fixture.failures, name, watch)
    forgets = name in fixture.forgetful
    texts = {each.into.partition(".")[2]: each for each in _of(fixture, Vector.TOOL_RESULT, name)}
    errors = [each.text for each in _of(fixture, Vector.ERROR_TEXT, name)]

    def run(context: ToolContext, **arguments: Any) -> Any:
        if watch.over:
            return tool.run(context, **arguments)

        def note(*, done: bool) -> None:
            watch.runs.append(
                ToolRun(
                    tool=name,
                    effect=tool.contract.effect,
                    arguments=arguments,
                    principal=context.scope.principal.name,
                    done=done,
                    key=key,
                )
            )

        key = f"{context.idempotency_key}/{len(watch.runs)}" if forgets else context.idempotency_key
        failure = _next(failing, watch)
        if failure is not None and failure.how != "crash":
            note(done=False)
            return _failed(failure)
        if errors:
            note(done=False)
            raise ToolError("unavailable", errors[0])
        try:
            result = tool.run(replace(context, idempotency_key=key), **arguments)
        except BaseException:
            note(done=False)
            raise
        note(done=True)
        if failure is not None:
            raise Crash(name)
        return _spoiled(result, texts)

    # What runs in a process of its own cannot be watched: here it runs in this one.
    contract = tool.contract.model_copy(update={"isolated": False})
    if not forgets:
        return Tool(contract, run, tool.read_back)
    # What does not know an effect again cannot say afterwards whether it happened either.
    return Tool(contract.model_copy(update={"idempotent": False, "reads_back": False}), run)


def _queue(failures: Sequence[Failure], of: str, watch: Watch) -> list[Failure | None]:
    """What becomes of each call of a tool or of the model, in order: a failure, or none."""
    queue = [
        each
        for failure in failures
        if failure.of == of
        for each in (*[None] * failure.after, *[failure] * failure.times)
    ]
    watch.unfailed += [failure.of for failure in queue if failure is not None]
    return queue


def _next(queue: list[Failure | None], watch: Watch) -> Failure | None:
    failure = queue.pop(0) if queue else None
    if failure is not None:
        watch.unfailed.remove(failure.of)
    return failure


def place(request: Request) -> str:
    """The kind and toolset of the decision that a request is for, as `act/move`."""
    shown = [block for message in request.messages if message.channel == "input" for block in blocks(message.content)]
    sources = [block.attributes.get("source", "") for block in shown if block.tag == "decision"]
    return sources[-1].removeprefix("decision://") if sources else ""


def _reply(said: Said, model: str) -> Reply:
    calls = tuple(
        RawCall(call_id=None, name=call.tool, arguments=call.raw or canonical_json(call.arguments).decode())
        for call in said.calls
    )
    return Reply(text="", calls=calls, finish_reason="tool_calls", model=model)


def _of(fixture: Fixture, vector: Vector, tool: str) -> list[Injected]:
    return [each for each in fixture.injected if each.vector is vector and each.into.partition(".")[0] == tool]


def _failed(failure: Failure) -> None:
    if failure.how == "empty":
        return
    if failure.how == "error":
        raise ToolError(failure.code, "injected")
    raise RuntimeError("injected")


def _spoiled(result: Any, texts: Mapping[str, Injected]) -> Any:
    """The result with hostile values in its fields; of several rows, in the first that has the field."""
    for name, injected in texts.items():
        result = _with(result, name, injected.text)
    return result


def _with(result: Any, name: str, value: str) -> Any:
    if isinstance(result, list):
        rows = list(result)
        for number, row in enumerate(rows):
            if isinstance(row, Mapping) and name in row:
                rows[number] = {**row, name: value}
                break
        return rows
    return {**result, name: value} if isinstance(result, Mapping) else result
