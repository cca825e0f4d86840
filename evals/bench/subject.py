"""What is measured: the whole app on a small domain, its model, embedder and search replaced by constants.

A turn has two decisions, as the worked example has: one calls a read tool, one answers from what that brought.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from graph.app import App, open_app
from graph.settings import Settings
from state.context import Span
from state.contract import Effect, OutputField
from state.domain import DecisionTable, Domain, Example, Rule, Section
from state.knowledge import Chunk, Hit
from state.memory import MemoryRecord, MemorySource
from state.policy import Policy
from state.request import RawCall, Reply, Request
from state.run import Access, Fact, Principal
from state.search import CosineRange, Found
from state.tools import Tool, ToolContext, tool
from state.work import DecisionKind, DecisionSpec, Form, LapOutcome, Route

PRINCIPAL = Principal(
    name="bench@tenant",
    tenant="tenant",
    roles=("reader",),
    groups=("readers",),
    products=("machines",),
    subjects=("M-100",),
    facts=(
        Fact(name="machine_id", value="M-100", source="machine://M-100"),
        Fact(name="site", value="north", source="machine://M-100"),
        Fact(name="ticket", value="The machine stops after an hour", source="ticket://T-1", seeks=True),
    ),
)
THREAD = "bench"
QUESTION = "Question {:05d}: why does the machine stop?"
DECISIONS_PER_TURN = 2
_LONG_AGO = datetime(2025, 1, 1, tzinfo=UTC)
_LINE = "A machine that stops is looked up first: its state says whether heat, power or a person stopped it. "
_INSTRUCTIONS = {"role": 3, "policy": 8, "tool_guidance": 5, "output": 6, "decide": 5}
_HITS = 10  # per branch
_SPAN = _LINE * 7


class ConstantModel:
    """A model port that answers at once: the offered tool where there is one, else an answer with its source."""

    name = "constant"

    def __init__(self) -> None:
        self._call = _reply("read_state", '{"machine_id": "M-100"}')
        self._answer = _reply(
            "answer",
            '{"text": "The machine M-100 was stopped by heat.", "citations": [{"source": "manual/stops@v1#0"}]}',
        )

    def reply(self, request: Request) -> Reply:
        """The constant reply to a request."""
        return self._call if any(offered.name == "read_state" for offered in request.tools) else self._answer

    async def areply(self, request: Request) -> Reply:
        """The same reply."""
        return self.reply(request)


class ConstantSearch:
    """An index and a keyword index that always find the same spans."""

    cosine_range = CosineRange()

    def __init__(self) -> None:
        self._found = Found(hits=tuple(Hit(chunk=_chunk(number), score=0.6 - number / 100) for number in range(_HITS)))

    def search(self, query: str, access: Access, k: int) -> Found:
        """The same spans."""
        return self._found

    def nearness(self, queries: Sequence[str], chunks: Sequence[Chunk]) -> list[list[float]]:
        """Everything is equally near."""
        return [[0.5] * len(chunks) for _ in queries]

    def generation(self, access: Access) -> str:
        """The corpus never changes."""
        return "constant"


class NoEmbedder:
    """Stands where nothing is embedded."""

    name = "none"
    dimension = 8
    cosine_range = CosineRange()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Vectors that mean nothing."""
        return [[1.0] * self.dimension for _ in texts]

    def embed_queries(self, texts: Sequence[str]) -> list[list[float]]:
        """As `embed`."""
        return self.embed(texts)


def open_subject(home: Path, database_url: str | None = None) -> App:
    """The app on the small domain. Real: stores, savers, memory, every node. Constant: model and both searches.

    Everything lies on SQLite in `home`, or with a URL on that server, as EXPEDIENTE_DATABASE_URL would have it.
    """
    corpus = home / "corpus"
    corpus.mkdir(parents=True)
    search = ConstantSearch()
    return open_app(
        Settings.load(home=home, database_url=database_url),
        domain=_domain(corpus),
        model=ConstantModel(),
        embedder=NoEmbedder(),
        index=search,
        lexical=search,
    )


def _domain(corpus: Path) -> Domain:
    return Domain(
        name="bench",
        principals=lambda: (PRINCIPAL.name,),
        principal=lambda name: PRINCIPAL if name == PRINCIPAL.name else None,
        instructions=tuple(Section(name=name, version="1", text=_LINE * n) for name, n in _INSTRUCTIONS.items()),
        examples=(Example(example_id="stops", version="1", kind=DecisionKind.ANSWER, text=_LINE * 3),),
        table=_TABLE,
        policies=(Policy(version="bench", effective_from=_LONG_AGO, approver_roles=("admin",), values={"limit": 5}),),
        tools=_tools(),
        corpus=corpus,
        resources={"machine": lambda scope, machine: machine == "M-100"},
        memories=(_memory(),),
    )


def _tools() -> tuple[Tool, ...]:
    output = tuple(OutputField(name=name, trust="system") for name in ("machine_id", "state", "checked_at"))

    @tool(effect=Effect.READ, roles=("reader",), resources={"machine_id": "machine"}, output=output, idempotent=True)
    def read_state(context: ToolContext, *, machine_id: str) -> dict[str, Any]:
        """Read the state of a machine to find out why it runs or does not run."""
        return {"machine_id": machine_id, "state": "stopped by heat", "checked_at": context.now.isoformat()}

    @tool(effect=Effect.READ, roles=("reader",), resources={"machine_id": "machine"}, output=output, idempotent=True)
    def read_log(context: ToolContext, *, machine_id: str) -> dict[str, Any]:
        """Read the log of a machine, newest line first."""
        return {"machine_id": machine_id, "state": "hot"}

    return read_state, read_log


def _memory() -> MemoryRecord:
    return MemoryRecord(
        memory_id="mem-1",
        subject="M-100",
        tenant="tenant",
        purpose="bench",
        text="The machine M-100 was serviced in spring.",
        source=MemorySource.SYSTEM_RECORD,
        source_ref="machine://M-100",
        basis="contract",
        created_at=_LONG_AGO,
        expires_at=_LONG_AGO + timedelta(days=36_500),
    )


def _chunk(number: int) -> Chunk:
    return Chunk(
        chunk_id=f"c{number}",
        document_id="stops",
        version="v1",
        source=f"manual/stops@v1#{number}",
        title="Stops",
        headings=("Stops", f"Part {number}"),
        text=f"Part {number}. {_SPAN}",
        span=Span(start=number * len(_SPAN), end=(number + 1) * len(_SPAN)),
        tenant="tenant",
        acl=("readers",),
        product="machines",
        effective_from=_LONG_AGO,
    )


def _reply(name: str, arguments: str) -> Reply:
    return Reply(
        text="",
        calls=(RawCall(call_id="call-1", name=name, arguments=arguments),),
        finish_reason="tool_calls",
        model="constant",
    )


def _spec(kind: DecisionKind, tools: tuple[str, ...]) -> DecisionSpec:
    return DecisionSpec(
        kind=kind,
        toolset="bench",
        tools=tools,
        forms=(Form.ANSWER, Form.SEARCH, Form.PLAN, Form.CLARIFY, Form.ESCALATE),
        instructions=tuple(_INSTRUCTIONS),
        route=Route.SINGLE,
        evidence_limit=2,
        memory_limit=1,
        memory_purpose="bench",
        min_citations=1,
        examples_limit=1,
    )


_TABLE = DecisionTable(
    specs=(
        _spec(DecisionKind.GATHER, ("read_state", "read_log")),
        _spec(DecisionKind.ANSWER, ()),
        DecisionSpec(kind=DecisionKind.CLOSE, toolset="bound"),
    ),
    rules=(
        Rule(name="turn_begins", outcomes=(None, LapOutcome.ANSWERED), then="gather/bench"),
        Rule(name="observed", outcomes=(LapOutcome.OBSERVED,), then="answer/bench"),
        Rule(name="went_wrong", then="close/bound"),
    ),
)
