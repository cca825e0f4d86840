"""Every run of the graph holds its thread, however it is begun: from before it reads the state until it is over.

`invoke`, `stream`, their asynchronous forms, the streams of events and what a LangGraph server calls all come to the
same two methods. A node asks for the lease of its run, and one of a run without a lease does not begin.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager, nullcontext
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, merge_configs
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph

from graph.admission import check_resumed
from graph.stores.lease import Lease
from graph.stores.run_lock import LEASE_S, SqlRunLock
from state.policy import Policy
from state.run import AgentState, RunContext, RunInput, RunOutput, Scope

Identify = Callable[[Mapping[str, Any], Mapping[str, Any] | None], Scope]
# Named as LangGraph names what is its own: no saver, tracer or stream of checkpoints tells of it.
HELD = "__pregel_expediente_lease"
_NAMED = "__pregel_expediente_named"
# Its own key for how soon a checkpoint is written: given as a parameter, it warns where there is no saver.
_DURABILITY = "__pregel_durability"
_SAVER = "__pregel_checkpointer"  # where the graph has none of its own
_NODES_PER_LAP = 10  # eight, one repeat of pack and propose, one pause of validate
# A server begins one run of a thread after the other, so what holds a thread there is over soon, or was killed.
SERVED_WAIT_S = LEASE_S + 5.0


class NoLease(RuntimeError):
    """A node was begun outside a run of the graph."""

    def __init__(self) -> None:
        super().__init__(
            "got a node's run that holds no thread; allowed: the nodes of app.graph, of app.asynchronous() and of what "
            "app.drawing.compile() gives; run one of them"
        )


def held_by(configurable: Mapping[str, Any]) -> Lease:
    """The lease of the run that a node belongs to. Raises NoLease."""
    lease = configurable.get(HELD)
    if not isinstance(lease, Lease):
        raise NoLease
    return lease


def names_checkpoint(configurable: Mapping[str, Any]) -> bool:
    """Whether whoever began a node's run named the checkpoint that it goes on from: a fork."""
    return configurable.get(_NAMED) is True


class LeasedGraph(CompiledStateGraph[AgentState, RunContext, RunInput, RunOutput]):
    """The compiled graph. `wait_s` is how long a run waits for another on its thread, `step_limit` how many steps it
    may take where whoever begins it sets no `recursion_limit`.

    Each checkpoint is written before the next node begins, whatever `durability` is asked for: a run that is killed
    would else go on from before what its records tell of, and branch them.
    """

    def __init__(
        self,
        *,
        identify: Identify,
        run_lock: SqlRunLock,
        step_limit: Callable[[], int],
        wait_s: float = 0.0,
        **graph: Any,
    ) -> None:
        super().__init__(**graph)
        self.identify, self.run_lock, self.step_limit, self.wait_s = identify, run_lock, step_limit, wait_s

    def stream(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> Iterator[Any]:
        """As LangGraph's. Raises BadInput, what `identify` raises, ThreadBusy, LeaseLost."""
        check_resumed(input)
        with self._holding(config, more.get("context")) as held:
            yield from super().stream(input, held, **_without_durability(more))

    async def astream(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> AsyncIterator[Any]:
        """As LangGraph's. Raises BadInput, what `identify` raises, ThreadBusy, LeaseLost."""
        check_resumed(input)
        async with self._aholding(config, more.get("context")) as held:
            parts: Any = super().astream(input, held, **_without_durability(more))
            async with aclosing(parts):
                async for part in parts:
                    yield part

    def astream_events(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> Any:
        """As LangGraph's, with this graph's limit of steps: LangChain would put its own where none is given."""
        return super().astream_events(input, self._limited(config), **more)

    def bulk_update_state(self, config: RunnableConfig, supersteps: Any) -> RunnableConfig:
        """As LangGraph's; a run would not see what is written beside it. Raises ThreadBusy."""
        thread = _thread(config)
        with self.run_lock.holding(thread, self.wait_s) if thread else nullcontext():
            return super().bulk_update_state(config, supersteps)

    async def abulk_update_state(self, config: RunnableConfig, supersteps: Any) -> RunnableConfig:
        """As LangGraph's. Raises ThreadBusy."""
        thread = _thread(config)
        async with self.run_lock.aholding(thread, self.wait_s) if thread else nullcontext():
            return await super().abulk_update_state(config, supersteps)

    @contextmanager
    def _holding(self, config: RunnableConfig | None, context: Any) -> Iterator[RunnableConfig]:
        given, configurable = self._given(config)
        scope = self.identify(configurable, context)
        if _passed_on(configurable, scope):
            yield self._on_its_way(given, configurable)
            return
        with self.run_lock.holding(scope.thread, self.wait_s) as lease:
            yield self._on_its_way(_with(given, lease), configurable)

    @asynccontextmanager
    async def _aholding(self, config: RunnableConfig | None, context: Any) -> AsyncIterator[RunnableConfig]:
        given, configurable = self._given(config)
        scope = await asyncio.to_thread(self.identify, configurable, context)
        if _passed_on(configurable, scope):
            yield self._on_its_way(given, configurable)
            return
        async with self.run_lock.aholding(scope.thread, self.wait_s) as lease:
            yield self._on_its_way(_with(given, lease), configurable)

    def _given(self, config: RunnableConfig | None) -> tuple[RunnableConfig, Mapping[str, Any]]:
        """What the caller gave, and the configurable values as the run will have them."""
        return self._limited(config), ensure_config(merge_configs(self.config, config)).get("configurable", {})

    def _limited(self, config: RunnableConfig | None) -> RunnableConfig:
        limit = (self.config or {}).get("recursion_limit")
        return {"recursion_limit": self.step_limit() if limit is None else limit, **(config or {})}

    def _on_its_way(self, config: RunnableConfig, given: Mapping[str, Any]) -> RunnableConfig:
        """With a saver each checkpoint is waited for; without one there is nothing that LangGraph could wait for."""
        waits = {_DURABILITY: "sync"} if self.checkpointer or _SAVER in given else {}
        named = given.get("checkpoint_id") is not None
        return {**config, "configurable": {**config.get("configurable", {}), **waits, _NAMED: named}}


class LeasedStateGraph(StateGraph[AgentState, RunContext, RunInput, RunOutput]):
    """The drawing, which compiles to nothing but a graph whose runs hold their threads."""

    def __init__(self, identify: Identify, run_lock: SqlRunLock, policy: Callable[[], Policy]) -> None:
        super().__init__(AgentState, context_schema=RunContext, input_schema=RunInput, output_schema=RunOutput)
        self._identify, self._run_lock, self._policy = identify, run_lock, policy

    def compile(self, *given: Any, **more: Any) -> LeasedGraph:
        """As LangGraph's."""
        compiled = super().compile(*given, **more)
        return LeasedGraph(
            identify=self._identify, run_lock=self._run_lock, step_limit=self._step_limit, **vars(compiled)
        )

    def _step_limit(self) -> int:
        """The policy's bound on decisions, and room for pauses."""
        return (self._policy().max_decisions + 2) * _NODES_PER_LAP


def _passed_on(configurable: Mapping[str, Any], scope: Scope) -> bool:
    """Whether whoever begins this run holds the thread for it, and for no other run."""
    lease = configurable.get(HELD)
    return isinstance(lease, Lease) and lease.begun(scope.thread)


def _with(config: RunnableConfig, lease: Lease) -> RunnableConfig:
    lease.begun(lease.thread)
    return {**config, "configurable": {**config.get("configurable", {}), HELD: lease}}


def _without_durability(more: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in more.items() if name not in ("durability", "checkpoint_during")}


def _thread(config: RunnableConfig) -> str | None:
    thread = config.get("configurable", {}).get("thread_id")
    return None if thread is None else str(thread)
