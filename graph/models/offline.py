"""The default model: a deterministic reader behind the chat-model interface. It is no language model.

It sees only the request. It picks the offered tool whose description fits the question, asks for a plan where none
does, takes arguments only from what the request shows, and answers with observed values, with values that a record or
the policy owns, and with cited sentences and rows. It knows no tool, field or document, so that it works on any domain;
and it obeys nothing that data says, because sentences are all that data is to it. Of a skill's body, which is no data,
it takes the tools that it names. It never proposes a search: nothing
in a request tells it whether one was made already.
"""

from langchain_core.messages import AIMessage, BaseMessage
from pydantic import JsonValue

from graph.models.answering import Composed, compose
from graph.models.arguments import fill
from graph.models.choosing import (
    by_procedure,
    chosen_change,
    chosen_read,
    fitting,
    observed,
    ranked,
    steps_to,
    unobtainable,
)
from graph.models.facts import answerable_from_facts
from graph.models.inprocess import InProcessModel, ToolDefinitions, proposing
from graph.models.reading import Offered, Reading, read
from graph.models.routing import asks_for_a_document, asks_for_record, wants_change, wants_other_read
from graph.models.words import content_words
from state.work import DecisionKind

Call = tuple[str, dict[str, JsonValue]]

_GOAL_LENGTH = 200
# What an escalation names as missing. The user's own words are not repeated: the turn stays their only copy.
_MISSING = {
    "change": ("a tool that may make this change", "una herramienta que pueda hacer este cambio"),
    "source": ("a source that answers the question", "una fuente que responda a la pregunta"),
}


class OfflineReader(InProcessModel):
    """Answers each request by its decision kind, always with one call of a tool or a form."""

    @property
    def _llm_type(self) -> str:
        return "offline"

    def replying(self, messages: list[BaseMessage], tools: ToolDefinitions) -> AIMessage:
        """One call of a tool or a form."""
        return proposing(decide(read(messages, tools)))


def decide(reading: Reading) -> Call:
    """The one call that a request leads to."""
    match reading.kind:
        case DecisionKind.GATHER:
            return _gather(reading)
        case DecisionKind.PLAN:
            return _plan(reading)
        case DecisionKind.ACT:
            return _act(reading)
        case DecisionKind.ANSWER:
            return _answer(reading)
        case DecisionKind.CLARIFY:
            return _ask(reading, {})
        case _:
            return _hand_over(reading, ())


def _gather(reading: Reading) -> Call:
    for tool in () if reading.steps else by_procedure(reading):
        filled = fill(tool.parameters, reading)
        if not filled.missing and not observed(tool, filled.arguments, reading):
            return tool.name, filled.arguments
    if "plan" in reading.forms and not reading.steps and (wants_change(reading) or wants_other_read(reading)):
        return "plan", {"goal": _goal(reading)}
    if not content_words(reading.turn) and not reading.steps:
        return _ask(reading, {})
    missing: dict[str, tuple[str, ...]] = {}
    told = "answer" in reading.forms and (answerable_from_facts(reading) or asks_for_a_document(reading))
    tools = () if told else fitting(reading)
    for tool in _next_step(reading) or tools:
        filled = fill(tool.parameters, reading)
        if not filled.missing:
            if not observed(tool, filled.arguments, reading):
                return tool.name, filled.arguments
            missing = {}
            break
        missing = missing or filled.missing
    composed = compose(reading)
    if "answer" in reading.forms and composed.supported:
        return _answered(composed)
    return _ask(reading, missing) if missing else _hand_over(reading, ())


def _next_step(reading: Reading) -> list[Offered]:
    return [tool for tool in reading.tools if reading.steps and tool.name == reading.steps[0]]


def _plan(reading: Reading) -> Call:
    """The steps of a change, or of a question for a record; a question never ends in a change."""
    kind, aim = ("source", chosen_read(reading)) if asks_for_record(reading) else ("change", chosen_change(reading))
    if aim is None or "plan" not in reading.forms:
        return _hand_over(reading, (_MISSING[kind][reading.spanish],))
    unknown = unobtainable(aim, reading)
    if unknown:
        options = fill(aim.parameters, reading).missing
        return _ask(reading, {name: options[name] for name in unknown}, aim)
    steps: list[JsonValue] = list(steps_to(aim, reading))
    return "plan", {"goal": _goal(reading), "steps": steps}


def _act(reading: Reading) -> Call:
    missing: dict[str, tuple[str, ...]] = {}
    for tool in _next_step(reading) or ranked(reading):
        filled = fill(tool.parameters, reading)
        if not filled.missing:
            return tool.name, filled.arguments
        missing = missing or filled.missing
    return _ask(reading, missing) if missing else _hand_over(reading, ())


def _goal(reading: Reading) -> str:
    """The wish in its content words; ids stay in the turn, from which they are quoted when they become arguments."""
    return " ".join(content_words(reading.turn))[:_GOAL_LENGTH]


def _answer(reading: Reading) -> Call:
    composed = compose(reading)
    if "answer" in reading.forms and composed.supported:
        return _answered(composed)
    return _hand_over(reading, (), composed.lines)


def _answered(composed: Composed) -> Call:
    citations: list[JsonValue] = [{"source": source} for source in composed.sources]
    next_steps: list[JsonValue] = list(composed.next_steps)
    return "answer", {"text": "\n".join(composed.lines), "citations": citations, "next_steps": next_steps}


def _ask(reading: Reading, missing: dict[str, tuple[str, ...]], about: Offered | None = None) -> Call:
    """The question for the first missing value; its options are the values between which nothing decides."""
    if "clarify" not in reading.forms:
        return _hand_over(reading, tuple(missing))
    name = next(iter(missing), "")
    if not name:
        question = "¿Qué necesita exactamente?" if reading.spanish else "What exactly do you need?"
        return "clarify", {"question": question, "options": []}
    tools = [about] if about else reading.tools
    described = (tool.parameters["properties"][name].get("description", "") for tool in tools
                 if name in tool.parameters.get("properties", {}))  # fmt: skip
    question = f"¿Qué {name}?" if reading.spanish else f"Which {name}?"
    return "clarify", {"question": f"{question} {next(described, '')}".strip(), "options": list(missing[name])}


def _hand_over(reading: Reading, missing: tuple[str, ...], known: tuple[str, ...] = ()) -> Call:
    """Escalation with what is known and what is missing; where it is not offered, a question."""
    if "escalate" not in reading.forms and "clarify" in reading.forms:
        return _ask(reading, {})
    reason = (
        "Nada de lo mostrado permite responder o actuar; hace falta una persona."
        if reading.spanish
        else "Nothing that was shown supports an answer or an action; a person has to look at this."
    )
    named: list[JsonValue] = list(missing or (_MISSING["source"][reading.spanish],))
    return "escalate", {"reason": "\n".join((*known, reason)), "missing": named}
