"""Two runs at once on one thread, begun in any two ways: one gets one error, and the record keeps one branch."""

import asyncio
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from sqlalchemy import create_engine, func, select

from graph.admission import CheckpointsElsewhere
from graph.app import App
from graph.inspection.verify import verify
from graph.leased import NoLease
from graph.stores.lease import ThreadBusy
from graph.stores.schema import run_leases
from graph.stores.url import database_url as stores_url
from tests.desk import AGENT, Desk
from tests.graph.conftest import on_both_engines
from tests.graph.order_desk import ENDS, order_desk

ON: RunnableConfig = {"configurable": {"thread_id": "T"}}
AS_AGENT: Any = {"principal": AGENT.name}
ROUNDS = 6
SECONDS = 60


def asked(text: str = "Good morning") -> Any:
    return {"messages": [{"type": "human", "content": text}]}


def through_app(app: App) -> None:
    app.ask("Good morning", as_=AGENT.name, thread="T")


def through_graph(app: App) -> None:
    app.graph.invoke(asked(), ON, context=AS_AGENT)


def through_stream(app: App) -> None:
    for _ in app.graph.stream(asked(), ON, context=AS_AGENT, stream_mode="values"):
        pass


def through_async(app: App) -> None:
    async def run() -> None:
        async with app.asynchronous() as graph:
            await graph.ainvoke(asked(), ON, context=AS_AGENT)

    asyncio.run(run())


def through_events(app: App) -> None:
    async def run() -> None:
        async with app.asynchronous() as graph:
            async for _ in graph.astream_events(asked(), ON, context=AS_AGENT, version="v2"):
                pass

    asyncio.run(run())


WAYS = (through_app, through_graph, through_stream, through_async, through_events)


def tried(app: App, way: Callable[[App], None], together: threading.Barrier) -> bool:
    together.wait(SECONDS)
    try:
        way(app)
    except ThreadBusy:
        return False
    return True


def assert_one_branch(app: App, runs: int) -> None:
    found = verify(app, "T", as_=AGENT.name)
    assert (found.branches, found.records, found.faults) == (1, runs, ())


@on_both_engines
def test_of_two_runs_at_once_in_one_process_none_forks_the_record(tmp_path: Path, database_url: str | None) -> None:
    chance, ran = random.Random(5), 1
    with order_desk(tmp_path, Desk(), [ENDS] * (2 * ROUNDS + 1), database_url=database_url) as app:
        through_app(app)
        for _ in range(ROUNDS):
            together = threading.Barrier(2)
            with ThreadPoolExecutor(2) as pool:
                ways = chance.choices(WAYS, k=2)
                done = list(pool.map(lambda way, together=together: tried(app, way, together), ways))
            assert any(done)
            ran += sum(done)
        assert_one_branch(app, ran)


def test_of_many_tasks_of_one_loop_each_runs_or_is_told_that_the_thread_is_busy(tmp_path: Path) -> None:
    async def run(app: App) -> list[Any]:
        async with app.asynchronous() as graph:
            runs = (graph.ainvoke(asked(), ON, context=AS_AGENT) for _ in range(8))
            return await asyncio.gather(*runs, return_exceptions=True)

    with order_desk(tmp_path, Desk(), [ENDS] * 8) as app:
        ended = asyncio.run(run(app))
        refused = [one for one in ended if isinstance(one, BaseException)]
        assert all(isinstance(one, ThreadBusy) for one in refused)
        assert len(refused) < 8
        assert_one_branch(app, 8 - len(refused))


def begins(home: Path, database_url: str | None, number: int, together: Any, told: Any) -> None:
    """In a process of its own: one run a round, when the other process begins one too."""
    chance = random.Random(number)
    with order_desk(home, Desk(), [ENDS] * ROUNDS, database_url=database_url) as app:
        told.put(sum(tried(app, chance.choice(WAYS), together) for _ in range(ROUNDS)))


@on_both_engines
def test_of_two_processes_on_one_thread_none_forks_the_record(tmp_path: Path, database_url: str | None) -> None:
    with order_desk(tmp_path, Desk(), [ENDS], database_url=database_url) as app:
        through_app(app)
        spawn = get_context("spawn")
        together, told = spawn.Barrier(2), spawn.Queue()
        both = [spawn.Process(target=begins, args=(tmp_path, database_url, n, together, told)) for n in (1, 2)]
        for process in both:
            process.start()
        ran = sum(told.get(timeout=2 * SECONDS) for _ in both)
        for process in both:
            process.join(SECONDS)
            assert process.exitcode == 0
        assert ran >= ROUNDS
        assert_one_branch(app, ran + 1)


@contextmanager
def desk(tmp_path: Path) -> Iterator[App]:
    with order_desk(tmp_path, Desk(), [ENDS] * 4) as app:
        yield app


def leases(app: App) -> int:
    engine = create_engine(stores_url(app.settings.database))
    with engine.connect() as connection:
        found: int = connection.scalar(select(func.count()).select_from(run_leases)) or 0
    engine.dispose()
    return found


def test_a_stream_holds_its_thread_until_it_is_read_or_closed(tmp_path: Path) -> None:
    with desk(tmp_path) as app:
        part = app.graph.stream(asked(), ON, context=AS_AGENT, stream_mode="updates")
        next(part)
        assert leases(app) == 1
        for way in WAYS:
            with pytest.raises(ThreadBusy):
                way(app)
        with pytest.raises(ThreadBusy):
            app.graph.update_state(ON, {"head": None})
        part.close()  # type: ignore[attr-defined]  # a generator
        assert leases(app) == 0
        through_app(app)


def test_a_run_that_is_cancelled_gives_its_thread_back(tmp_path: Path) -> None:
    async def run(app: App) -> None:
        async with app.asynchronous() as graph:
            for after_s in (0.0, 0.001, 0.05):
                task = asyncio.create_task(graph.ainvoke(asked(), ON, context=AS_AGENT))
                await asyncio.sleep(after_s)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            patience = asyncio.get_running_loop().time() + SECONDS
            while leases(app):
                assert asyncio.get_running_loop().time() < patience, "the lease was not given back"
                await asyncio.sleep(0.01)
            async for _ in graph.astream(asked(), ON, context=AS_AGENT):
                break
        assert leases(app) <= 1  # the generator that nobody reads on is closed with its loop

    with desk(tmp_path) as app:
        asyncio.run(run(app))
        assert leases(app) == 0


def test_a_node_that_outlives_its_cancelled_run_keeps_the_thread_until_it_ends(tmp_path: Path) -> None:
    began, goes_on = threading.Event(), threading.Event()

    async def run(app: App) -> None:
        async with app.asynchronous() as graph:
            task = asyncio.create_task(graph.ainvoke(asked(), ON, context=AS_AGENT))
            await asyncio.to_thread(began.wait, SECONDS)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            with pytest.raises(ThreadBusy):
                await graph.ainvoke(asked(), ON, context=AS_AGENT)
            goes_on.set()
            patience = asyncio.get_running_loop().time() + SECONDS
            while leases(app):
                assert asyncio.get_running_loop().time() < patience, "the lease was not given back"
                await asyncio.sleep(0.01)

    with desk(tmp_path) as app:
        append = app.ports.log.append

        def slow(record: Any) -> str:
            began.set()
            goes_on.wait(SECONDS)
            return append(record)

        app.ports.log.append = slow  # type: ignore[method-assign]  # the node that files
        asyncio.run(run(app))
        app.ports.log.append = append  # type: ignore[method-assign]  # as above
        app.graph.invoke(None, ON, context=AS_AGENT)  # what it filed is filed again
        assert_one_branch(app, 1)


def test_a_run_inside_a_run_of_the_same_thread_is_refused(tmp_path: Path) -> None:
    refused: list[BaseException] = []

    def nested(*_: Any) -> Any:
        with pytest.raises(ThreadBusy) as busy:
            through_graph(app)
        refused.append(busy.value)
        return ENDS

    with order_desk(tmp_path, Desk(), [nested]) as app:  # type: ignore[list-item]  # a line may look at the request
        through_app(app)
    assert len(refused) == 1


def test_a_node_without_a_run_that_holds_its_thread_does_not_begin(tmp_path: Path) -> None:
    with desk(tmp_path) as app:
        bare: Any = super(type(app.drawing), app.drawing).compile(checkpointer=InMemorySaver())
        with pytest.raises(NoLease, match="allowed: the nodes of app"):
            bare.invoke(asked(), ON, context=AS_AGENT)


@on_both_engines
def test_a_thread_whose_checkpoints_are_kept_elsewhere_is_not_begun_anew(
    tmp_path: Path, database_url: str | None
) -> None:
    """As a server's are, which shares the home."""
    with ExitStack() as stack:
        app = stack.enter_context(order_desk(tmp_path, Desk(), [ENDS] * 4, database_url=database_url))
        served: Any = app.drawing.compile(checkpointer=InMemorySaver())
        through_app(app)
        for _ in range(2):  # the first leaves a checkpoint, of its input alone
            with pytest.raises(CheckpointsElsewhere, match="has records and no checkpoint here"):
                served.invoke(asked(), ON, context=AS_AGENT)
        through_app(app)
        assert_one_branch(app, 2)
        elsewhere: RunnableConfig = {"configurable": {"thread_id": "U"}}
        served.invoke(asked(), elsewhere, context=AS_AGENT)
        for _ in range(2):
            with pytest.raises(CheckpointsElsewhere):
                app.ask("Good morning", as_=AGENT.name, thread="U")
        assert len(app.ports.log.names(AGENT.tenant, "U")) == 1


def test_a_checkpoint_that_a_servers_own_saver_has_not_begins_no_thread_anew(tmp_path: Path) -> None:
    with desk(tmp_path) as app:
        served: Any = app.drawing.compile(checkpointer=InMemorySaver())
        served.invoke(asked(), ON, context=AS_AGENT)
        nowhere: Any = {"configurable": {"thread_id": "T", "checkpoint_id": "1f1ecfa7-b8a7-6a0f-bfff-856abb28ecc8"}}
        with pytest.raises(CheckpointsElsewhere, match="the one that was named is not there"):
            served.invoke(asked(), nowhere, context=AS_AGENT)
        assert len(app.ports.log.names(AGENT.tenant, "T")) == 1
