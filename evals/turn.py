"""The steps of a case: what a caller does, and what happens to the thread, its directory and its process meanwhile."""

from typing import Literal, Self

from pydantic import Field, JsonValue, model_validator

from state.run import AgentState
from state.value import Value
from state.work import Status

Box = Literal["resolve", "plan", "retrieve", "pack", "propose", "validate", "execute", "log"]
PLACE = r"^[a-z_]+/[a-z_]+$"


class Edit(Value):
    """Somebody who can write the thread's state puts these channels into it, as if the node `after` had left them.

    In a value, a text `$verdicts.0.call_id` stands for what the state has at that place.
    """

    after: Box
    channels: dict[str, JsonValue] = Field(min_length=1)

    @model_validator(mode="after")
    def _channels_of_the_graph(self) -> Self:
        if unknown := sorted(self.channels.keys() - AgentState.__annotations__.keys()):
            allowed = ", ".join(AgentState.__annotations__)
            raise ValueError(f"channels: got {', '.join(unknown)}; allowed: {allowed}")
        return self


class Fork(Value):
    """The thread goes on from where it stood before that node ran last, in a decision `at` that place if one is named:
    a second branch."""

    before: Box
    at: str = Field(default="", pattern=rf"{PLACE}|^$")


_ACTS = ("ask", "approve", "reject", "answer", "go_on", "rewrite", "edit", "fork")


class Turn(Value):
    """One step of a case: something is asked, or a pending call of a tool is approved or rejected.

    `only` narrows an approval or a rejection to the waiting calls with at least these arguments. `answer` resumes with
    any value, as a client of a server could: in it `$call` is the id of the call that waits, `$approval` the id of the
    approval that it waits for.

    Four steps come from outside the conversation: `go_on` runs on where the run was cut off, as a server does;
    `rewrite` is somebody who can write the stored bodies and puts other arguments into the calls that wait; `edit`
    writes channels of the thread; `fork` runs on from an earlier state of it.

    Before the step `after_s` lets the clock run, and `roles` changes the directory: these people have those roles from
    then on. `dies_before` ends the process before that node begins. `ends` is how the run may stand then, `cites` what
    its answer must cite: sources, or `result:TOOL` for what a call of that tool brought in this turn. `refused` names
    the error that the step must meet, where it is to be refused.
    """

    ask: str | None = None
    approve: str | None = None
    reject: str | None = None
    answer: JsonValue = None
    go_on: Literal[True] | None = None
    rewrite: dict[str, JsonValue] | None = None
    edit: Edit | None = None
    fork: Fork | None = None
    only: dict[str, JsonValue] = {}
    as_: str | None = Field(default=None, alias="as")
    after_s: int = Field(default=0, ge=0)
    roles: dict[str, tuple[str, ...]] = {}
    dies_before: Box | None = None
    ends: tuple[Status, ...] = ()
    cites: tuple[str, ...] = ()
    refused: str = ""

    @model_validator(mode="after")
    def _one_act(self) -> Self:
        if len(self._given) != 1:
            raise ValueError(f"a turn is one of {', '.join(_ACTS)}; got {', '.join(self._given) or 'none'}")
        if self.only and not self.answers:
            raise ValueError(f"only: got it with {self._given[0]}; allowed: with approve or reject")
        if self.dies_before and (self.rewrite or self.edit):
            raise ValueError(f"dies_before: got it with {self._given[0]}; allowed: with a step that runs nodes")
        return self

    @property
    def _given(self) -> list[str]:
        return [name for name in _ACTS if getattr(self, name) is not None]

    @property
    def answers(self) -> str | None:
        """The tool whose waiting calls are approved or rejected."""
        return self.approve or self.reject

    @property
    def from_outside(self) -> bool:
        """Whether the step, or what comes before it, is no talk: such a case looks at how the run stands after it."""
        return bool(self.go_on or self.rewrite or self.edit or self.fork or self.dies_before)

    @property
    def name(self) -> str:
        """What is told of this step where it went wrong."""
        return self.ask or self.answers or self._given[0].replace("_", " ")
