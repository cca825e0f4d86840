"""The real dev server on a model that takes its time: many runs wait for it at once, and a run may be cancelled."""

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from graph.stores.engine import open_database
from graph.stores.records import SqlDecisionLog
from tests.graph.dev_server import asked, dev_server
from tests.graph.models.stub_server import Answer, completion, serving
from tests.graph.trace_endpoint import TraceEndpoint, trace_endpoint

QUESTION = "Why is my API key not working?"
REPLY = json.dumps({"calls": [{"name": "escalate", "arguments": {"reason": "A person has to look."}}]})
AT_ONCE = 12  # more than a worker takes on by default


@dataclass
class Slow:
    """A model's server that answers once `may_answer` is set. `waiting` counts who asked."""

    may_answer: threading.Event = field(default_factory=threading.Event)
    waiting: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def __call__(self, number: int) -> Answer:
        self.waiting.release()
        self.may_answer.wait(60)
        return completion({"content": REPLY})


@dataclass
class Running:
    client: SyncLangGraphClient
    slow: Slow
    home: Path
    traces: TraceEndpoint


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    slow, folder = Slow(), Path(tmp_path_factory.mktemp("waiting"))
    with serving(slow) as stub, trace_endpoint() as traces:
        settings: dict[str, Any] = {
            **traces.settings,
            "EXPEDIENTE_MODEL": "openai",
            "EXPEDIENTE_OPENAI_MODEL": "slow",
            "EXPEDIENTE_OPENAI_BASE_URL": stub.url,
            "EXPEDIENTE_MODEL_MODES": '["text"]',
        }
        with dev_server(folder, jobs=AT_ONCE, **settings) as server, get_sync_client(url=server.url) as client:
            yield Running(client, slow, server.home, traces)
            slow.may_answer.set()


def test_runs_wait_for_their_model_at_once_with_jobs_raised(running: Running) -> None:
    """Nobody is answered before all of them have asked: with one job fewer this would never end."""
    slow, client = running.slow, running.client

    def one(_: int) -> Any:
        thread = client.threads.create()["thread_id"]
        return client.runs.wait(thread, "expediente", input=asked(QUESTION))

    with ThreadPoolExecutor(AT_ONCE) as crowd:
        runs = [crowd.submit(one, number) for number in range(AT_ONCE)]
        together = [slow.waiting.acquire(timeout=60) for _ in range(AT_ONCE)]
        slow.may_answer.set()
        done = [run.result() for run in runs]
    assert all(together)
    assert {run["task"]["status"] for run in done} == {"escalated"}


def test_a_run_that_the_sdk_cancels_leaves_its_thread_usable(running: Running) -> None:
    slow, client = running.slow, running.client
    slow.may_answer.clear()
    thread = client.threads.create()["thread_id"]
    run = client.runs.create(thread, "expediente", input=asked(QUESTION))
    assert slow.waiting.acquire(timeout=60)
    client.runs.cancel(thread, run["run_id"], wait=True)
    assert client.runs.get(thread, run["run_id"])["status"] == "interrupted"
    state = client.threads.get_state(thread)
    assert state["next"] == ["propose"]
    values: Any = state["values"]
    assert values["task"]["status"] is None

    slow.may_answer.set()
    done: Any = client.runs.wait(thread, "expediente", input=asked("And why does it not work now?"))
    assert done["task"]["status"] == "escalated"
    said = [message["content"] for message in done["messages"]]
    assert said == [QUESTION, "And why does it not work now?", "A person has to look."]
    database = open_database(running.home / "expediente.db")
    filed = SqlDecisionLog(database.everyday).chain("acme", thread, done["head"])
    database.close()
    outcomes = [(one.outcome, [attempt.outcome.name for attempt in one.attempts]) for one in reversed(filed)]
    assert outcomes == [("abandoned", []), ("escalated", ["proposal"])]


def test_langsmith_is_sent_no_text_of_all_this(running: Running) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until and not any(run["name"] == "log" for run in running.traces.runs()):
        time.sleep(0.1)
    sent = running.traces.sent()
    assert {"expediente", "propose", "validate"} <= {run["name"] for run in running.traces.runs()}
    told = [words for words in ("not working", "not work now", "A person has to look", "<section") if words in sent]
    assert told == []
