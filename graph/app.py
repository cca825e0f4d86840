"""The one composition root: settings and ports in, an app out. Command line, notebooks, tests and evals use it."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager, nullcontext
from functools import partial
from typing import Any

from langgraph.types import interrupt

from graph.admission import CheckpointsElsewhere, check_messages
from graph.build import build
from graph.clock import RandomIds, SystemClock, SystemWaiting
from graph.conversation import Conversation
from graph.definition_changes import DefinitionChanges
from graph.domain_check import check_domain
from graph.domain_loading import load_domain
from graph.forgetting.forget import Forgetting
from graph.forgetting.late import looking_back
from graph.home import claim_home, refuse_other_home
from graph.home_library import open_library
from graph.home_stores import open_home_database, open_to_look, open_to_run
from graph.langsmith_client import send_no_texts
from graph.lap_seal import Sealing
from graph.leased import LeasedStateGraph
from graph.masking import learn, masked
from graph.master_secret import master_secret
from graph.mcp.offering import Offering
from graph.mcp.opening import with_servers
from graph.memories import Memories
from graph.models.terms import call_terms, configured_model
from graph.node_threads import NodeThreads
from graph.persistence import open_async_saver
from graph.producing import Producing
from graph.result import RunResult
from graph.rows import Ports, make_nodes
from graph.scope import Identity
from graph.seal import HmacSeal
from graph.settings import Settings
from graph.skills import with_skills
from graph.stores.artifacts import SqlArtifacts
from graph.stores.events import SqlEventQueue
from graph.stores.forgotten import SqlForgotten
from graph.stores.ledger import SqlLedger
from graph.stores.ownership import SqlOwnership
from graph.stores.quotas import SqlQuotas
from graph.stores.records import SqlDecisionLog
from graph.stores.run_lock import SqlRunLock
from graph.tokens import EncodingCounter
from graph.tool_secrets import SettingsSecrets
from graph.tracing import Tracing, open_provider
from nodes.pack.strategy import STRATEGIES
from retrieval.ingest import IngestReport
from retrieval.library import Library
from retrieval.links import CatalogueLinks
from retrieval.memory_writing import MemoryWriter
from retrieval.rerank import open_reranker
from state.domain import Domain
from state.events import Told
from state.node import Node
from state.ports import Clock, Ids
from state.run import Scope


class UnknownPort(TypeError):
    """open_app was given a port it does not have."""


def open_app(
    settings: Settings | None = None, *, only_authenticated: bool = False, looking: bool = False, **ports: Any
) -> "App":
    """An app on the settings, with any port replaced by name (`clock=`, `model=`, ... see Ports, and `embedder`).

    `only_authenticated` is for servers: a run acts for the user whom the server authenticated, or not at all.
    `looking` opens what is filed as it is, also where nothing can be written: threads are read, and nothing runs.
    Raises SettingsError, StoreUnavailable, DomainNotLoaded, ModelNotConfigured and what the parts raise at opening;
    what was opened until then is closed again.
    """
    with ExitStack() as stack:
        app = _opened(settings or Settings.load(), only_authenticated, looking, dict(ports), stack)
        app.closing = stack.pop_all()
        return app


class App(Conversation):
    """The compiled graph with everything behind it. Close it, or use it as a context manager.

    `ingested` says what became of the domain's own corpus at opening, broken documents included.
    """

    closing: ExitStack

    def __init__(
        self,
        settings: Settings,
        ports: Ports,
        library: Library,
        ingested: IngestReport,
        nodes: Sequence[Node],
        drawing: LeasedStateGraph,
        forgetting: Forgetting,
        memories: Memories,
        producing: Producing,
        queue: SqlEventQueue,
        tracing: Tracing | None = None,
        **conversation: Any,
    ) -> None:
        super().__init__(**conversation)
        self.settings, self.ports, self.library, self.ingested = settings, ports, library, ingested
        self.nodes, self.drawing, self.forgetting, self.memories = tuple(nodes), drawing, forgetting, memories
        self.producing, self._queue = producing, queue
        self._tracing = tracing

    def events(self, thread: str, *, as_: str) -> tuple[Told, ...]:
        """What was queued for a thread of one's own, oldest first, and what became of it there (S3).

        Raises UnknownPrincipal, UnknownThread.
        """
        return self._queue.record(self.owned(thread, as_=as_))

    def _run(self, scope: Scope, *given: Any, **more: Any) -> RunResult:
        with nullcontext() if self._tracing is None else self._tracing.run(scope):
            return super()._run(scope, *given, **more)

    @asynccontextmanager
    async def asynchronous(self) -> AsyncIterator[Any]:
        """The same graph compiled with the async saver, for `ainvoke` and `astream` (H24)."""
        async with open_async_saver(self.settings) as saver:
            yield self.drawing.compile(checkpointer=saver, name="expediente")

    def close(self) -> None:
        """Close every store and connection."""
        self.closing.close()

    def __enter__(self) -> "App":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _opened(
    settings: Settings, only_authenticated: bool, looking: bool, given: dict[str, Any], stack: ExitStack
) -> App:
    learn(settings.all_secrets)
    send_no_texts()
    settings.make_home()
    clock: Clock = given.pop("clock", None) or SystemClock()
    ids: Ids = given.pop("ids", None) or RandomIds()
    domain: Domain | None = given.pop("domain", None)
    named = settings.domain if domain is None else None
    if domain is None:
        (refuse_other_home if looking else claim_home)(settings.home, settings.domain)
        domain = load_domain(settings.domain, settings.home / "domain", clock)
    stack.callback(domain.close)
    check_domain(domain)
    domain = with_skills(domain)
    secrets = given.pop("secrets", None) or SettingsSecrets(settings.tool_secrets)
    domain, gateway = with_servers(domain, given.pop("gateway", None), secrets, clock, stack)
    secret = master_secret(settings)
    seal = HmacSeal(secret.keys("seal"))
    library = partial(open_library, settings, given.pop("embedder", None))
    progress = given.pop("progress", None)
    if looking:
        stores = open_to_look(settings, named, secret, stack)
    else:
        stores = open_to_run(
            settings, domain, named, secret, seal, clock, stack, open_library=library, progress=progress
        )
    database, memory = stores.database, stores.memory
    tenants = {one.tenant for name in domain.principals() if (one := domain.principal(name))}
    changes = DefinitionChanges(SqlEventQueue(database.everyday), tenants, clock)
    for name, now in domain.shelf.drifted.items() if domain.shelf and not looking else ():
        changes.blocked(f"skill {name}", now)
    ownership = SqlOwnership(database.everyday, clock)
    run_lock = SqlRunLock(database.everyday, SystemClock(), RandomIds())
    forgetting = Forgetting(
        artifacts=SqlArtifacts(database.everyday, secret.keys("artifacts")),
        log=SqlDecisionLog(database.everyday),
        ledger=SqlLedger(database.durable, seal),
        events=SqlEventQueue(database.everyday),
        ownership=ownership,
        forgotten=SqlForgotten(database.everyday, clock),
        run_lock=run_lock,
        saver=stores.saver,
        memory=stores.memory,
        files=stores.files,
        recording=settings.recording,
    )
    memories = Memories(
        memory,
        MemoryWriter(memory, masked),
        forgetting,
        SqlArtifacts(database.everyday, secret.keys("artifacts")),
        domain,
        clock,
        ids,
    )
    made: dict[str, Callable[[], Any]] = {
        "model": lambda: configured_model(settings, [tool.contract.name for tool in domain.tools]),
        "terms": lambda: call_terms(settings, domain.policies),
        "waiting": SystemWaiting,
        "tokens": lambda: EncodingCounter(settings.tokenizer),
        "artifacts": lambda: SqlArtifacts(database.everyday, secret.keys("artifacts")),
        "log": lambda: SqlDecisionLog(database.everyday),
        "events": lambda: SqlEventQueue(database.everyday),
        "ledger": lambda: SqlLedger(database.durable, seal),
        "quotas": lambda: SqlQuotas(database.everyday),
        "seal": lambda: seal,
        "secrets": lambda: secrets,
        "index": lambda: stores.library.index,
        "lexical": lambda: stores.library.lexical,
        "links": lambda: CatalogueLinks(stores.library.catalogue),
        "reranker": lambda: open_reranker(settings.ranking.reranker),
        "memory": lambda: memory,
        "memories": lambda: memories,
        "strategies": lambda: STRATEGIES,
        "connectors": lambda: Offering(gateway, changes),
    }
    given_provider = given.pop("tracer_provider", None)
    unknown = sorted(given.keys() - made.keys())
    if unknown:
        raise UnknownPort(
            f"got {', '.join(unknown)}; ports: clock, ids, domain, embedder, gateway, tracer_provider, "
            f"{', '.join(made)}"
        )
    given = {**stores.instead, **given}
    ports = Ports(
        clock=clock,
        ids=ids,
        domain=changes.known_to(domain),
        **{name: given[name] if given.get(name) is not None else make() for name, make in made.items()},
    )
    default = None if only_authenticated else settings.dev_principal or domain.principals()[0]
    identity = Identity(domain, ownership, clock, default)
    tracing = _tracing(settings, given_provider, stack)
    if tracing is not None:
        ports.model = tracing.model(ports.model)
    nodes = [looking_back(node, identity, forgetting) for node in make_nodes(settings, ports, interrupt)]
    if tracing is not None:
        nodes = [tracing.node(node) for node in nodes]
    sealing = Sealing(ports.seal)
    threads = NodeThreads()
    stack.callback(threads.close)
    drawing = LeasedStateGraph(identity.scope, run_lock, identity.policy)

    def admit(scope: Scope, messages: Sequence[Any], first: bool) -> None:
        check_messages(messages, identity.policy())
        if first and ports.log.names(scope.tenant, scope.thread):
            raise CheckpointsElsewhere(scope.thread)

    build(drawing, nodes, identity.scope, admit, sealing, threads)
    return App(
        settings,
        ports,
        stores.library,
        stores.ingested,
        nodes,
        drawing,
        forgetting,
        memories,
        Producing(domain, ownership, ports.events),
        SqlEventQueue(database.everyday),
        tracing,
        graph=drawing.compile(checkpointer=stores.saver, name="expediente"),
        identity=identity,
        artifacts=ports.artifacts,
        log=ports.log,
        ledger=ports.ledger,
        run_lock=run_lock,
        sealing=sealing,
        policies=domain.policies,
        clock=clock,
        ids=ids,
    )


def _tracing(settings: Settings, provider: Any, stack: ExitStack) -> Tracing | None:
    if provider is None and settings.otlp_endpoint is not None:
        provider = open_provider(settings.otlp_endpoint, settings.otlp_headers)
        stack.callback(provider.shutdown)
    return None if provider is None else Tracing(provider)


def open_identity(settings: Settings) -> Identity:
    """The domain's principals and the ownership rows alone: what stands before a server needs no more (graph.auth).

    Kept open for the life of the process. Raises SettingsError, StoreUnavailable, DomainNotLoaded.
    """
    settings.make_home()
    clock = SystemClock()
    domain = load_domain(settings.domain, settings.home / "domain", clock)
    secret = master_secret(settings)
    database = open_home_database(settings, settings.domain, secret, HmacSeal(secret.keys("seal")))
    ownership = SqlOwnership(database.everyday, clock)
    return Identity(domain, ownership, clock, None)
