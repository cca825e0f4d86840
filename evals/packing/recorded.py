"""A recorded run: the retail tasks of the shared data as one long conversation, a task a turn, in the words recorded.

The calls are those that the tasks expect; what they bring is what the tables really hold at that moment, whatever the
tasks before changed there. A person approves what asks, but for every seventh call. Nothing here decides anything, so
it shows what requests hold, not whether a task would be finished.
"""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals.bench.subject import NoEmbedder
from evals.packing.agent import ALL, RESERVED_TOKENS, UNCOMPACTED, WIDE_TOKENS, ReaderModel, RunningClock
from evals.packing.measure import Meter, Played, Probe
from evals.packing.reader import READ_RESULT, Step
from evals.retail.changes import changing_tools
from evals.retail.policy import preconditions, resources
from evals.retail.reading import ROLE, reading_tools
from evals.retail.replay import Task
from evals.retail.store import Store, load
from graph.app import App, open_app
from graph.result import DecisionShown, PendingCall, RunResult
from graph.settings import Settings
from state.contract import Effect
from state.domain import DecisionTable, Domain, Rule, Section
from state.policy import Policy
from state.run import Principal
from state.task import KEPT
from state.verdict import Denied
from state.work import DecisionKind, DecisionSpec, Form

_AGENT = Principal(name="desk@retail", tenant="retail", roles=(ROLE,))
_REFUSED_EVERY = 7


class Recording:
    """Plays the tasks' calls in order and keeps what really became of them."""

    def __init__(self) -> None:
        self.question, self._steps = "", list[Step]()
        self.changed: list[str] = []
        self.refusals = 0
        self._asked = 0
        self._filed: set[int] = set()

    def begin(self, task: Task) -> None:
        """The next turn."""
        self.question = task.instruction
        self._steps = [Step(tool, arguments) for tool, arguments in task.calls]

    def decide(self, text: str) -> Step:
        """The next recorded call, then an answer."""
        return self._steps.pop(0) if self._steps else Step(None, {}, f"Done: {self.question[:60]}")

    def answers(self, pending: Sequence[PendingCall]) -> dict[str, Any]:
        """A person's word on each call that waits."""
        given = {}
        for call in pending:
            self._asked += 1
            given[call.call_id] = "reject" if self._asked % _REFUSED_EVERY == 0 else "approve"
        return given

    def file(self, decision: DecisionShown) -> None:
        """What a decision came to."""
        if decision.index in self._filed:
            return
        self._filed.add(decision.index)
        self.changed += [
            seen.artifact_ref
            for seen in decision.observations
            if seen.effect is not Effect.READ and seen.outcome == "ok"
        ]
        self.refusals += sum(isinstance(one, Denied) for one in decision.verdicts)

    def probes(self) -> list[Probe]:
        """Objective, and of changes and refusals as many of the newest as the state keeps (S2)."""
        probes = [Probe(name="objective", values=(self.question,))]
        probes += [Probe(name="changed", values=(ref,)) for ref in self.changed[-KEPT:]]
        # In its own turn a refusal is told by its call, later by its turn: as many as there were must be told.
        told = ("by rule ", "rejected by a person")
        known = min(self.refusals, KEPT)
        return [*probes, *(Probe(name="refusal", values=told, times=nth) for nth in range(1, known + 1))]


def played(tasks: Sequence[Task], strategy: str, window_tokens: int, decisions: int, data: Path, home: Path) -> Played:
    """The tasks in one conversation until so many decisions were made."""
    meter, clock, recording = Meter(), RunningClock(), Recording()
    model = ReaderModel(meter, clock, recording.decide, recording.probes)
    window = WIDE_TOKENS if strategy == UNCOMPACTED else window_tokens
    started = time.perf_counter()
    with _opened(strategy, window, model, clock, data, home) as app:
        for task in tasks:
            if len(meter.asked) >= decisions:
                break
            recording.begin(task)
            result = app.ask(task.instruction, as_=_AGENT.name, thread="long", on_decision=recording.file)
            _settle(app, result, recording)
    return Played(
        strategy=strategy,
        run="retail",
        budget_tokens=window - RESERVED_TOKENS,
        finished=None,
        decisions=len(meter.asked),
        reread=0,
        seconds=time.perf_counter() - started,
        asked=tuple(meter.asked),
    )


def _settle(app: App, result: RunResult, recording: Recording) -> None:
    while result.pending:
        answers = recording.answers(result.pending)
        result = app.resume("long", as_=_AGENT.name, answers=answers, on_decision=recording.file)


@contextmanager
def _opened(
    strategy: str, window: int, model: ReaderModel, clock: RunningClock, data: Path, home: Path
) -> Iterator[App]:
    home.mkdir(parents=True)
    corpus, path = home / "corpus", home / "retail.db"
    corpus.mkdir()
    load(data, path)
    store = Store(path)
    tools = (*reading_tools(store), *changing_tools(store))
    policy = Policy(
        version="recorded-1",
        effective_from=datetime(2020, 1, 1, tzinfo=UTC),
        approver_roles=(ROLE,),
        self_approval=True,
        max_decisions=64,
        strategy="utility" if strategy == UNCOMPACTED else strategy,
        history_turns=200 if strategy == UNCOMPACTED else 6,
    )
    names = (*(tool.contract.name for tool in tools), READ_RESULT)
    spec = DecisionSpec(
        kind=DecisionKind.ACT, toolset="all", tools=names, forms=(Form.ANSWER,), instructions=("policy",)
    )
    domain = Domain(
        name="retail",
        principals=lambda: (_AGENT.name,),
        principal=lambda name: _AGENT if name == _AGENT.name else None,
        instructions=(Section(name="policy", version="1", text=(data / "policy.md").read_text(encoding="utf-8")),),
        examples=(),
        table=DecisionTable(
            specs=(spec, DecisionSpec(kind=DecisionKind.CLOSE, toolset="bound")),
            rules=(Rule(name="bound", at_bound=True, then="close/bound"), Rule(name="act", then="act/all")),
        ),
        policies=(policy,),
        tools=tools,
        corpus=corpus,
        resources={kind: lambda scope, name: True for kind in resources(store)},
        preconditions=preconditions(store),
    )
    settings = Settings.load(home=home / "app", window_tokens=window, reserved_output_tokens=RESERVED_TOKENS)
    with open_app(settings, domain=domain, model=model, clock=clock, embedder=NoEmbedder(), strategies=ALL) as app:
        yield app


def tasks_of(data: Path) -> tuple[Task, ...]:
    """The recorded tasks. Raises FileNotFoundError for a folder without them."""
    lines = (data / "tasks.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(Task.model_validate(json.loads(line)) for line in lines)
