"""Several processes, each with a home of its own, on one PostgreSQL database: one deployment, or refused."""

import asyncio
import multiprocessing
import shutil
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, inspect, select, update

from graph.app import open_app, open_identity
from graph.conversation import NothingPending
from graph.settings import SettingsError
from graph.stores.lease import ThreadBusy
from graph.stores.migrations import STEPS
from graph.stores.schema import marks, schema_version
from graph.stores.url import database_url as url_of
from state.work import Status
from tests.desk import AGENT, Desk
from tests.fakes import FakeClock
from tests.graph.conftest import NOW, OpenApp, on_both_engines, settings
from tests.graph.order_desk import ENDS, order_desk
from tests.graph.stores import version_1

SECRET, LATER = "the-secret-that-all-workers-share", "the-secret-that-came-after-the-first"
ROTATE = "Rotate my key"


@pytest.fixture
def homes(ingested_home: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Two homes as on two machines: the same corpus, and no secret of their own yet."""
    made = tmp_path / "one", tmp_path / "two"
    for home in made:
        shutil.copytree(ingested_home, home, ignore=shutil.ignore_patterns("secret"))
    return made


def in_another_process(run: Callable[..., None], *given: Any) -> Any:
    """What a function sends from a process of its own."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=run, args=(*given, theirs))
    process.start()
    theirs.close()
    try:
        return ours.recv()
    finally:
        process.join(60)
        process.kill()
        ours.close()


def _pauses(home: Path, url: str, told: Connection) -> None:
    given = settings(home, database_url=url, secret=SECRET)
    with open_app(given, clock=FakeClock(NOW)) as app:
        (call,) = app.ask(ROTATE, as_="bea@acme", thread="t").pending
    told.send(call.call_id)


@pytest.mark.slow
def test_what_one_process_asked_for_is_approved_in_another_one_with_another_home(
    homes: tuple[Path, Path], postgres_url: str
) -> None:
    call_id = in_another_process(_pauses, homes[0], postgres_url)
    with open_app(settings(homes[1], database_url=postgres_url, secret=SECRET), clock=FakeClock(NOW)) as app:
        result = app.resume("t", as_="bea@acme", answers={call_id: "approve"})
        assert result.status is Status.ANSWERED
        assert [(effect.tool, effect.state) for effect in result.effects] == [("rotate_api_key", "done")]
        with pytest.raises(NothingPending, match="already decided"):
            app.resume("t", as_="bea@acme", answers={call_id: "approve"})


def _starts(home: Path, url: str, told: Connection) -> None:
    with open_app(settings(home, database_url=url, secret=SECRET), clock=FakeClock(NOW)) as app:
        told.send(app.ask("Why is my API key not working?", as_="ana@acme").status)


@pytest.mark.slow
def test_processes_that_start_together_on_an_empty_database_both_answer(
    homes: tuple[Path, Path], postgres_url: str
) -> None:
    context = multiprocessing.get_context("spawn")
    pipes = [multiprocessing.Pipe() for _ in homes]
    started = [
        context.Process(target=_starts, args=(home, postgres_url, theirs))
        for home, (_, theirs) in zip(homes, pipes, strict=True)
    ]
    for process in started:
        process.start()
    assert [ours.recv() for ours, _ in pipes if ours.poll(90)] == [Status.ANSWERED] * 2
    for process in started:
        process.join(60)
    for ours, theirs in pipes:
        ours.close()
        theirs.close()


def test_a_home_with_a_secret_of_its_own_is_refused(homes: tuple[Path, Path], postgres_url: str) -> None:
    """Else it would run until the first approval of another process, and break there."""
    open_app(settings(homes[0], database_url=postgres_url)).close()
    with pytest.raises(SettingsError, match="EXPEDIENTE_SECRET: got another secret than this database") as refused:
        open_app(settings(homes[1], database_url=postgres_url))
    for home in homes:
        assert (home / "secret").read_text("ascii").strip() not in str(refused.value)
    shutil.copy(homes[0] / "secret", homes[1] / "secret")
    open_app(settings(homes[1], database_url=postgres_url)).close()


@on_both_engines
def test_a_secret_is_followed_by_the_next_one_and_not_the_other_way(home: Path, database_url: str | None) -> None:
    open_app(settings(home, database_url=database_url, secret=SECRET, previous_secrets=_kept(home))).close()
    with pytest.raises(SettingsError, match="or the former one among EXPEDIENTE_PREVIOUS_SECRETS"):
        open_app(settings(home, database_url=database_url, secret=LATER))
    open_app(settings(home, database_url=database_url, secret=LATER, previous_secrets=[SECRET])).close()
    open_app(settings(home, database_url=database_url, secret=LATER)).close()
    with pytest.raises(SettingsError, match="got another secret"):
        open_app(settings(home, database_url=database_url, secret=SECRET))


def _kept(home: Path) -> list[str]:
    return [(home / "secret").read_text("ascii").strip()]


def test_a_database_holds_the_data_of_one_domain(home: Path, tmp_path: Path, postgres_url: str) -> None:
    open_app(settings(home, database_url=postgres_url, secret=SECRET)).close()
    other = settings(tmp_path / "other", database_url=postgres_url, secret=SECRET, domain="tests.domains.library_desk")
    told = "EXPEDIENTE_DATABASE_URL: got a database that holds the data of domain 'domain'; allowed: one domain"
    with pytest.raises(SettingsError, match=told):
        open_app(other)


@on_both_engines
def test_another_domains_older_database_is_refused_as_it_is(
    home: Path, tmp_path: Path, database_url: str | None
) -> None:
    target: Path | str = database_url or tmp_path / "theirs.db"
    where = database_url or f"sqlite:///{target}"
    engine = create_engine(url_of(target))
    with engine.begin() as connection:
        version_1.make(connection)
        STEPS[0](connection, None)
        connection.execute(marks.insert().values(name="domain", value="garden"))
        connection.execute(update(schema_version).values(version=2))
    for opened in (open_app, open_identity):
        with pytest.raises(SettingsError, match="got a database that holds the data of domain 'garden'"):
            opened(settings(home, database_url=where))
    with engine.connect() as connection:
        assert connection.execute(select(schema_version.c.version)).scalar_one() == 2
        assert "expediente_forgotten" not in inspect(connection).get_table_names()
        assert connection.execute(select(marks.c.name)).scalars().all() == ["domain"]
    engine.dispose()


def _holds_the_thread(home: Path, url: str, told: Connection) -> None:
    with order_desk(home, Desk(), [ENDS], database_url=url) as app:
        app.identity.owner(app.identity.principal(AGENT.name), "T")
        with app._run_lock.holding("T"):
            told.send("held")
            told.poll(60)


@pytest.mark.slow
def test_two_processes_do_not_run_on_one_thread(tmp_path: Path, postgres_url: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_holds_the_thread, args=(home, postgres_url, theirs))
    process.start()
    try:
        assert ours.recv() == "held"
        with order_desk(home, Desk(), [ENDS], database_url=postgres_url) as app:
            with pytest.raises(ThreadBusy, match="allowed: one at a time"):
                app.ask("please help", as_=AGENT.name, thread="T")
            ours.send("over")
            process.join(60)
            assert app.ask("please help", as_=AGENT.name, thread="T").status is Status.ANSWERED
    finally:
        process.kill()
        process.join()
        ours.close()
        theirs.close()


@on_both_engines
def test_the_async_graph_goes_on_where_the_sync_one_paused(start: OpenApp) -> None:
    app = start()
    (call,) = app.ask(ROTATE, as_="bea@acme", thread="t").pending
    config: Any = {"configurable": {"thread_id": "t"}}
    question = {"messages": [{"role": "user", "content": "Why is my API key not working?"}]}

    async def run() -> Any:
        async with app.asynchronous() as graph:
            waiting = await graph.aget_state(config)
            assert waiting.interrupts[0].value["approvals"][0]["call_id"] == call.call_id
            return await graph.ainvoke(question, config, context={"principal": "bea@acme"})

    assert asyncio.run(run())["task"]["status"] == "answered"
    outcomes = [decision.outcome for decision in app.records("t", as_="bea@acme")]
    assert "abandoned" in outcomes
    assert outcomes[-1] == "answered"
