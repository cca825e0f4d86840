"""The same tasks with LangChain's agent and its ways to keep a history short, at the same budget (extra `evals`).

Each is set to begin where our request would be full: at so many tokens, by our count. The reader drives them too; the
summariser that SummarizationMiddleware is given keeps lines whole and is no language model, as ours is none.
"""

import json
import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ContextEditingMiddleware,
    ModelRequest,
    SummarizationMiddleware,
    wrap_model_call,
)
from langchain.agents.middleware.context_editing import ClearToolUsesEdit
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, trim_messages
from langchain_core.tools import BaseTool, StructuredTool

from evals.packing.agent import UNCOMPACTED, Trail
from evals.packing.measure import Meter, Played
from evals.packing.plant import DENIED, READ, REPLACE, Plant
from evals.packing.reader import next_step
from evals.packing.recursive import retold
from graph.models.inprocess import InProcessModel, ToolDefinitions
from graph.tokens import EncodingCounter
from state.canonical import canonical_json
from state.spending import PER_MESSAGE, PER_REPLY, PER_TOOL

_INSTRUCTIONS = "You inspect the assets of a plant, one at a time."
_TOKENS = EncodingCounter("o200k_base")
_SUMMARY_CHARS = 4_000  # of a summary: about 1,500 tokens
_KEPT_RESULTS = 3
_LOG = re.compile(r', "log": "[^"]*"')


def count(messages: Iterable[Any]) -> int:
    """The tokens of messages by our count, calls included."""
    messages = list(messages)
    return sum(_TOKENS.count_all([_text(message) for message in messages])) + PER_MESSAGE * len(messages)


def _text(message: BaseMessage) -> str:
    calls = [{"tool": call["name"], **call["args"]} for call in getattr(message, "tool_calls", [])]
    return "\n".join([str(message.content), *(json.dumps(call) for call in calls)])


class _Bound(Exception):
    """A run has made as many decisions as ours may make."""


class MeasuredReader(InProcessModel):
    """The reader as a chat model: each call is measured, then answered from the text of its messages alone."""

    taken: Callable[[list[BaseMessage], ToolDefinitions], str]
    trail: Any

    @property
    def _llm_type(self) -> str:
        return "reader"

    def replying(self, messages: list[BaseMessage], tools: ToolDefinitions) -> AIMessage:
        """The next call, or the report."""
        step = self.trail.noting(next_step)(self.taken(messages, tools))
        if step.tool is None:
            return AIMessage(content=step.report)
        number = sum(isinstance(message, AIMessage) for message in messages)
        return AIMessage(content="", tool_calls=[{"name": step.tool, "args": step.arguments, "id": f"c{number}"}])


def extract(messages: Sequence[BaseMessage]) -> str:
    """What messages say, a line for each, without the long field; the summary before is taken apart again. The task,
    receipts and refusals matter; of the rest the oldest lines go where it is too long."""
    told = [_LOG.sub("", str(message.content)) for message in messages if not isinstance(message, AIMessage)]
    lines = [line for text in told for line in text.splitlines() if line.strip()]
    return "\n".join(retold(lines, _SUMMARY_CHARS, _matters))


def _matters(line: str) -> bool:
    return line.startswith("Inspect every asset") or '"receipt"' in line or DENIED in line


def _trimming(budget_tokens: int) -> AgentMiddleware[Any, Any, Any]:
    def trimmed(request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]) -> Any:
        kept: list[Any] = trim_messages(
            request.messages,
            max_tokens=budget_tokens,
            token_counter=count,
            strategy="last",
            start_on="human",
            include_system=True,
            allow_partial=False,
        )
        # Its oldest message is the task: without it a run of one turn has nothing to start on.
        first = request.messages[0]
        kept = kept or [first, *trim_messages(request.messages[1:], max_tokens=budget_tokens - count([first]),
                                              token_counter=count, strategy="last", start_on="ai")]  # fmt: skip
        return handler(request.override(messages=[*kept]))

    made: AgentMiddleware[Any, Any, Any] = wrap_model_call(trimmed)
    return made


def middlewares(budget_tokens: int) -> dict[str, Callable[[InProcessModel], list[AgentMiddleware[Any, Any, Any]]]]:
    """The peers by name, each for a budget of messages."""
    return {
        "peer: SummarizationMiddleware": lambda model: [
            SummarizationMiddleware(
                model,
                trigger=("tokens", int(budget_tokens * 0.8)),
                keep=("tokens", int(budget_tokens * 0.4)),
                token_counter=count,
                trim_tokens_to_summarize=None,
                summarizer=extract,
            )
        ],
        "peer: ContextEditingMiddleware": lambda model: [
            ContextEditingMiddleware(
                edits=[ClearToolUsesEdit(trigger=int(budget_tokens * 0.8), keep=_KEPT_RESULTS)], token_counter=count
            )
        ],
        "peer: trim_messages": lambda model: [_trimming(budget_tokens)],
        f"peer: {UNCOMPACTED}": lambda model: [],
    }


def played(plant: Plant, peer: str, window_tokens: int, reserved_tokens: int) -> Played:
    """The plant's task with a peer, from the assignment to the report or to the bound on decisions."""
    meter, trail, most = Meter(), Trail(plant), 3 * plant.size
    tools = _tools(plant)
    definitions = [canonical_json({"name": one.name, "parameters": one.get_input_jsonschema()}) for one in tools]
    around = sum(_TOKENS.count_all([one.decode() for one in definitions])) + PER_TOOL * len(tools) + PER_REPLY
    budget = window_tokens - reserved_tokens
    report = ""

    def taken(messages: list[BaseMessage], offered: ToolDefinitions) -> str:
        if len(meter.asked) == most:
            raise _Bound
        text = "\n".join(_text(message) for message in messages)
        stable = str(messages[0].content).encode() + b"".join(definitions)
        meter.take(
            kind="agent",
            tokens=count(messages) + around,
            stable=stable,
            rest="\n".join(_text(message) for message in messages[1:]).encode(),
            text=text,
            probes=trail.probes(),
        )
        return text

    model = MeasuredReader(taken=taken, trail=trail)
    available = budget - around - count([HumanMessage(content=_INSTRUCTIONS)])
    agent = create_agent(model, tools, system_prompt=_INSTRUCTIONS, middleware=middlewares(available)[peer](model))
    started = time.perf_counter()
    asked: Any = {"messages": [HumanMessage(content=plant.assignment)]}
    try:
        report = str(agent.invoke(asked, {"recursion_limit": most * 10})["messages"][-1].content)
    except _Bound:
        report = ""
    return Played(
        strategy=peer,
        run=plant.name,
        budget_tokens=budget,
        finished=plant.is_reported(report),
        decisions=len(meter.asked),
        reread=trail.reread,
        seconds=time.perf_counter() - started,
        asked=tuple(meter.asked),
    )


def _tools(plant: Plant) -> list[BaseTool]:
    def read_asset(asset_id: str) -> str:
        """Read the page of an asset: its state, its reading, its log, and which asset comes next."""
        if asset_id not in plant.assets:
            return f"{READ} {asset_id} was {DENIED} not_found"
        return json.dumps({"tool": READ, **plant.page(asset_id)})

    def replace_part(asset_id: str) -> str:
        """Replace the worn part of an asset and get the receipt."""
        if asset_id not in plant.assets or not plant.is_free(asset_id):
            return f"{REPLACE} {asset_id} was {DENIED} precondition_unmet"
        return json.dumps({"tool": REPLACE, **plant.replace(asset_id)})

    return [StructuredTool.from_function(read_asset), StructuredTool.from_function(replace_part)]
