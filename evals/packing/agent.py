"""A long run through the whole app: real stores, savers, gate and nodes; the reader in the model's place."""

import json
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from evals.bench.subject import PRINCIPAL, ConstantSearch, NoEmbedder
from evals.packing.ablations import ABLATIONS
from evals.packing.measure import Meter, Played, Probe
from evals.packing.plant import DENIED, READ, REPLACE, Plant, not_sealed, owns, tools
from evals.packing.reader import READ_RESULT, Step, next_step
from evals.packing.recursive import RecursiveSummary
from graph.app import App, open_app
from graph.settings import Settings
from graph.tokens import EncodingCounter
from nodes.pack.strategy import STRATEGIES
from state.domain import DecisionTable, Domain, Rule, Section
from state.policy import Policy
from state.render import blocks
from state.request import RawCall, Reply, Request
from state.spending import count_request
from state.work import DecisionKind, DecisionSpec, Form, Route

UNCOMPACTED = "uncompacted"
ALL = {**STRATEGIES, "recursive_summary": RecursiveSummary(), **ABLATIONS}
RESERVED_TOKENS = 512
WIDE_TOKENS = 4_000_000
_BEGUN = datetime(2026, 7, 15, 9, tzinfo=UTC)
_A_DECISION_S = 61  # five of them outlive what a result is fresh for
_CATEGORIES = {
    "user_turn": "assignment",
    "observation": "observations",
    "summary": "observations",
    "index": "index",
    "document": "evidence",
    "own_answer": "reasoning",
    "memory": "memory",
}


class RunningClock:
    """A clock that goes on with every decision."""

    def __init__(self, decision_s: int = _A_DECISION_S) -> None:
        self._now, self._decision = _BEGUN, timedelta(seconds=decision_s)

    def now(self) -> datetime:
        """The time now."""
        return self._now

    def go_on(self) -> None:
        """One decision later."""
        self._now += self._decision


class ReaderModel:
    """The model port: measures each request, then lets `decide` answer it from its text."""

    name = "reader"

    def __init__(
        self, meter: Meter, clock: RunningClock, decide: Callable[[str], Step], probes: Callable[[], list[Probe]]
    ) -> None:
        self._meter, self._clock, self._decide, self._probes = meter, clock, decide, probes
        self._tokens = EncodingCounter("o200k_base")
        self.report = ""

    def reply(self, request: Request) -> Reply:
        """The next step."""
        stable, rest = (message.content for message in request.messages)
        head = stable.encode() + b"".join(tool.canonical for tool in request.tools)
        text = "\n".join(block.text for block in blocks(rest))
        self._meter.take(
            kind="+".join(tool.name for tool in request.tools),
            tokens=count_request(request, self._tokens),
            stable=head,
            rest=rest.encode(),
            text=f"{stable}\n{text}",
            probes=self._probes(),
            by_category=self._by_category(request),
        )
        self._clock.go_on()
        step = self._decide(text)
        if step.tool is None:
            self.report = step.report
            return _called("answer", {"text": step.report or "Done.", "citations": []})
        return _called(step.tool, step.arguments)

    async def areply(self, request: Request) -> Reply:
        """The same."""
        return self.reply(request)

    def _by_category(self, request: Request) -> dict[str, int]:
        stable, rest = (message.content for message in request.messages)
        texts = [("instructions", stable), *(("instructions", tool.canonical.decode()) for tool in request.tools)]
        texts += [(_CATEGORIES.get(block.tag, "state"), block.text) for block in blocks(rest)]
        sums: Counter[str] = Counter()
        for (name, _), count in zip(texts, self._tokens.count_all([text for _, text in texts]), strict=True):
            sums[name] += count
        return dict(sums)


def played(plant: Plant, strategy: str, window_tokens: int, home: Path, decision_s: int = _A_DECISION_S) -> Played:
    """The plant's task under a strategy, from the assignment to the report or to the bound on decisions."""
    meter, clock = Meter(), RunningClock(decision_s)
    most = 3 * plant.size
    policy = Policy(
        version="packing-1",
        effective_from=datetime(2020, 1, 1, tzinfo=UTC),
        approver_roles=("nobody",),
        max_decisions=most,
        strategy="utility" if strategy == UNCOMPACTED else strategy,
    )
    trail = Trail(plant)
    model = ReaderModel(meter, clock, trail.noting(next_step), trail.probes)
    window = WIDE_TOKENS if strategy == UNCOMPACTED else window_tokens
    (home / "corpus").mkdir(parents=True)
    search = ConstantSearch()
    settings = Settings.load(home=home, window_tokens=window, reserved_output_tokens=RESERVED_TOKENS)
    started = time.perf_counter()
    with open_app(
        settings,
        domain=_domain(plant, policy, home / "corpus"),
        model=model,
        clock=clock,
        embedder=NoEmbedder(),
        index=search,
        lexical=search,
        strategies=ALL,
    ) as app:
        trail.watch(app)
        app.ask(plant.assignment, as_=PRINCIPAL.name, thread="long")
    return Played(
        strategy=strategy,
        run=plant.name,
        budget_tokens=window - RESERVED_TOKENS,
        finished=plant.is_reported(model.report),
        decisions=len(meter.asked),
        reread=trail.reread,
        seconds=time.perf_counter() - started,
        asked=tuple(meter.asked),
    )


class Trail:
    """What really happened so far, noted outside the engine, and the probes that it makes."""

    def __init__(self, plant: Plant) -> None:
        self._plant, self.reread = plant, 0
        self._app: App | None = None

    def watch(self, app: App) -> None:
        """The app whose ledger says what the results of effects are called."""
        self._app = app

    def noting(self, decide: Callable[[str], Step]) -> Callable[[str], Step]:
        """The reader, with what it reads again counted."""

        def decided(text: str) -> Step:
            step = decide(text)
            again = step.tool == READ and step.arguments["asset_id"] in self._plant.reads
            self.reread += again or step.tool == READ_RESULT
            return step

        return decided

    def probes(self) -> list[Probe]:
        """What the next step may need: objective, constraint, changes with their receipts, refusals, what is open."""
        return plant_probes(self._plant)


def plant_probes(plant: Plant) -> list[Probe]:
    """The probes of a plant as it is now."""
    probes = [
        Probe(name="objective", values=(plant.assignment,)),
        Probe(name="constraint", values=(plant.constraint,)),
        Probe(name="id", values=(plant.named,)),
    ]
    probes += [Probe(name="changed", values=(receipt,)) for receipt in plant.done.values()]
    probes += [Probe(name="refusal", values=(DENIED,), times=nth) for nth in range(1, len(plant.refused) + 1)]
    if plant.reads:
        probes.append(Probe(name="open", values=(plant.following(),)))
    return probes


def _domain(plant: Plant, policy: Policy, corpus: Path) -> Domain:
    spec = DecisionSpec(
        kind=DecisionKind.GATHER,
        toolset="inspect",
        tools=(READ, REPLACE, READ_RESULT),
        forms=(Form.ANSWER,),
        instructions=("role",),
        route=Route.SINGLE,
        evidence_limit=2,
    )
    return Domain(
        name="plant",
        principals=lambda: (PRINCIPAL.name,),
        principal=lambda name: PRINCIPAL if name == PRINCIPAL.name else None,
        instructions=(Section(name="role", version="1", text="You inspect the assets of a plant, one at a time."),),
        examples=(),
        table=DecisionTable(
            specs=(spec, DecisionSpec(kind=DecisionKind.CLOSE, toolset="bound")),
            rules=(Rule(name="bound", at_bound=True, then="close/bound"), Rule(name="on", then="gather/inspect")),
        ),
        policies=(policy,),
        tools=tools(plant, PRINCIPAL.roles),
        corpus=corpus,
        resources={"asset": partial(owns, plant)},
        preconditions={"not_sealed": lambda scope, arguments, now: not_sealed(plant, arguments, now)},
    )


def _called(name: str, arguments: object) -> Reply:
    call = RawCall(call_id="call-1", name=name, arguments=json.dumps(arguments))
    return Reply(text="", calls=(call,), finish_reason="tool_calls", model="reader")
