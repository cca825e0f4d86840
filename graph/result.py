"""What a run gives its caller: one object for the command line, notebooks, tests and evals."""

from pydantic import AwareDatetime, JsonValue

from state.context import ContextManifest
from state.labels import Traced
from state.request import Attempt
from state.tools import Observation
from state.value import Value
from state.verdict import Verdict, Word
from state.work import Status


class AnswerShown(Value):
    """What the agent said: the text, its sources, and what could be done next."""

    text: str
    sources: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()


class PendingCall(Value):
    """A call that waits for a person: what it would do, where its arguments came from, and who may say what to it.

    `origins` names the items that show each value, `trace` says what that makes of it.
    """

    call_id: str
    tool: str
    arguments: dict[str, JsonValue]
    reason: str
    expires_at: AwareDatetime
    approval_id: str
    effect: str
    reversible: bool
    decisions: tuple[Word, ...]
    approver_roles: tuple[str, ...]
    self_approval: bool
    origins: dict[str, JsonValue] = {}
    trace: tuple[Traced, ...] = ()
    rule: str = ""
    note: str = ""


class ObservationShown(Observation):
    """An observation with its body: what the call showed, read from its address."""

    body: dict[str, JsonValue]


class DecisionShown(Value):
    """One decision as filed. `record` is null while the decision is still open, `question` when it was erased.

    `edited` says that the lap, or the task it began from, was written into from outside.
    """

    record: str | None
    index: int
    turn: int
    question: str | None
    kind: str
    toolset: str
    rule: str
    outcome: str | None
    manifest: ContextManifest | None
    missing: tuple[str, ...] = ()
    proposal: dict[str, JsonValue] | None
    verdicts: tuple[Verdict, ...]
    observations: tuple[ObservationShown, ...]
    attempts: tuple[Attempt, ...]
    edited: bool = False


class EffectShown(Value):
    """One effect in the world, as the ledger has it. `state` is open, unknown, done, or failed: the tool said no."""

    tool: str
    arguments: dict[str, JsonValue]
    call_id: str
    at: AwareDatetime
    state: str


class RunResult(Value):
    """The outcome of one turn: status, answer or pending calls, and every decision of the turn.

    `error` says why a run failed, and is null otherwise.
    """

    thread: str
    status: Status
    error: str | None = None
    answer: AnswerShown | None
    pending: tuple[PendingCall, ...]
    decisions: tuple[DecisionShown, ...]
    effects: tuple[EffectShown, ...]
