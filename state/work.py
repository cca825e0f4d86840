"""The work of one run: what is to be decided, what the model proposes, and the task state (S2)."""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, TypeAdapter, model_validator

from state.value import Value

MOST_CALLS = 16  # in one proposal


class DecisionKind(StrEnum):
    """The kinds of decision (L2). Each has its own instructions, tools, forms and budget."""

    PLAN = "plan"
    GATHER = "gather"
    ACT = "act"
    ANSWER = "answer"
    CLARIFY = "clarify"
    ESCALATE = "escalate"
    CLOSE = "close"


class Route(StrEnum):
    """How a decision retrieves (S5)."""

    NONE = "none"
    SINGLE = "single"
    ITERATIVE = "iterative"


class Form(StrEnum):
    """What a proposal may be, beside a call of an offered tool."""

    SEARCH = "search"
    PLAN = "plan"
    ANSWER = "answer"
    CLARIFY = "clarify"
    ESCALATE = "escalate"
    SEARCH_TOOLS = "search_tools"


class DecisionSpec(Value):
    """One kind of decision with one fixed toolset; everything a request of this kind is made from.

    With the form `search_tools` a toolset of more tools than the policy's `most_tools` is offered in part.
    """

    kind: DecisionKind
    toolset: str
    tools: tuple[str, ...] = ()
    forms: tuple[Form, ...] = ()
    instructions: tuple[str, ...] = ()
    route: Route = Route.NONE
    candidates_limit: int = 20
    evidence_limit: int = 0
    memory_limit: int = 0
    memory_purpose: str = ""
    min_citations: int = 0
    examples_limit: int = 0
    # How many bodies of skills. Not written where 0, as before there were any.
    skills_limit: int = Field(default=0, ge=0, exclude_if=lambda limit: not limit)

    @property
    def admits_untrusted(self) -> bool:
        """A plan lap admits nothing untrusted: effects are opened there."""
        return self.kind is not DecisionKind.PLAN

    def decision(self, index: int, rule: str) -> "Decision":
        """The decision this spec describes, chosen by a rule, at its place in the chain."""
        return Decision(index=index, rule=rule, **self.model_dump())

    @property
    def name(self) -> str:
        """Kind and toolset, as `gather/diagnose`."""
        return f"{self.kind.value}/{self.toolset}"


class Decision(DecisionSpec):
    """The next decision, as `plan` chose it by a rule of the table, at its place in the chain.

    `withheld` are tools of its toolset that are not offered, since they are not what was reviewed.
    """

    index: int = Field(ge=0)
    rule: str
    # Not written where there are none: decisions of releases that had none keep their bytes.
    withheld: tuple[str, ...] = Field(default=(), exclude_if=lambda names: not names)


class ToolCall(Value):
    """One proposed call. A string argument copied from a user's turn is kept as a `Quote` of that turn."""

    call_id: str
    tool: str
    arguments: dict[str, JsonValue]


class Quote(Value):
    """A value that stands verbatim in a stored text: kept by reference, so that it is erased with the text."""

    quote: Literal["turn"]  # no default: without the word an object is an argument like any other
    ref: str
    start: int
    end: int


class Citation(Value):
    """A claim's source: the `source` of an item in the manifest."""

    source: str


class Act(Value):
    """Call tools."""

    type: Literal["act"] = "act"
    calls: tuple[ToolCall, ...] = Field(min_length=1, max_length=MOST_CALLS)

    @model_validator(mode="after")
    def _each_id_once(self) -> Self:
        # A verdict is found by its call's id: two calls of one id would share it.
        if len({call.call_id for call in self.calls}) != len(self.calls):
            raise ValueError("two calls of a proposal have one id")
        return self


class Search(Value):
    """Look for more evidence in the next lap."""

    type: Literal["search"] = "search"
    queries: tuple[str, ...] = Field(min_length=1, max_length=4)


class SearchTools(Value):
    """Look among the tools that the decision has and this request does not show."""

    type: Literal["search_tools"] = "search_tools"
    query: str = Field(min_length=1, max_length=500)


class Plan(Value):
    """Ask for steps that need effects. Only in a `plan` lap do `steps` open anything."""

    type: Literal["plan"] = "plan"
    goal: str
    steps: tuple[str, ...] = Field(max_length=8, default=())


class Answer(Value):
    """Answer the user, each claim with its source."""

    type: Literal["answer"] = "answer"
    text: str = Field(min_length=1)
    citations: tuple[Citation, ...] = ()
    next_steps: tuple[str, ...] = ()


class Clarify(Value):
    """Ask the user one question."""

    type: Literal["clarify"] = "clarify"
    question: str = Field(min_length=1)
    options: tuple[str, ...] = ()


class Escalate(Value):
    """Hand over to a person, saying what is missing."""

    type: Literal["escalate"] = "escalate"
    reason: str = Field(min_length=1)
    missing: tuple[str, ...] = ()


Proposal = Annotated[Act | Search | SearchTools | Plan | Answer | Clarify | Escalate, Field(discriminator="type")]
PROPOSAL: TypeAdapter[Proposal] = TypeAdapter(Proposal)


def spoken(proposal: Proposal) -> str | None:
    """What a proposal says to the user, if it ends a turn."""
    match proposal:
        case Answer():
            return proposal.text
        case Clarify():
            return proposal.question
        case Escalate():
            return proposal.reason
        case Act() | Search() | SearchTools() | Plan():
            return None


class LapOutcome(StrEnum):
    """How a lap ended, as code judged it; the decision table reads nothing else of it."""

    OBSERVED = "observed"  # at least one call brought a result
    CALL_FAILED = "call_failed"
    DENIED = "denied"
    REJECTED = "rejected"  # a person refused
    SEARCHED = "searched"
    PLAN_REQUESTED = "plan_requested"
    PLANNED = "planned"
    ANSWERED = "answered"
    ASKED = "asked"
    ESCALATED = "escalated"
    CLOSED = "closed"
    MODEL_FAILED = "model_failed"
    DOES_NOT_FIT = "does_not_fit"
    INSUFFICIENT = "insufficient"
    ABANDONED = "abandoned"  # a new message came while the lap was open


class Status(StrEnum):
    """How a run stands, as its caller sees it."""

    ANSWERED = "answered"
    NEEDS_APPROVAL = "needs_approval"
    NEEDS_INPUT = "needs_input"
    ESCALATED = "escalated"
    PARTIAL = "partial"
    FAILED = "failed"
