"""The real dev server as a process, driven through the SDK: the worked example and one approval (U2, H24)."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

ROOT = Path(__file__).resolve().parents[2]
START_TIMEOUT_S = 90


@pytest.fixture(scope="module")
def server_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server") / "log"


@pytest.fixture(scope="module")
def client(ingested_home: Path, tmp_path_factory: pytest.TempPathFactory, server_log: Path) -> Iterator[Any]:
    """A client of `langgraph dev` on a home of its own, with the checkpointed types strict."""
    home = tmp_path_factory.mktemp("dev") / "home"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "EXPEDIENTE_HOME": str(home),
        "LANGGRAPH_STRICT_MSGPACK": "true",
        "LANGSMITH_TRACING": "false",
        "NO_COLOR": "1",
    }
    command = [str(Path(sys.executable).with_name("langgraph")), "dev", "--no-browser", "--no-reload"]
    with server_log.open("wb") as log:
        process = subprocess.Popen(
            [*command, "--port", str(port)],
            cwd=_checkout(home.parent),
            env={**os.environ, **settings},
            stdout=log,
            stderr=log,
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}/ok", process, server_log)
            with get_sync_client(url=f"http://127.0.0.1:{port}") as client:
                yield client
        finally:
            process.terminate()
            process.wait(20)


def _checkout(folder: Path) -> Path:
    """The project seen from a folder of the test's own: the server keeps its threads where it is started."""
    for name in ("langgraph.json", "graph", "nodes", "retrieval", "state", "domain"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def _wait_for(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
    pytest.fail(f"the dev server did not start:\n{log.read_text(errors='replace')[-3000:]}")


def asked(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


def test_the_worked_example_is_answered(client: SyncLangGraphClient) -> None:
    thread = client.threads.create()["thread_id"]
    done: Any = client.runs.wait(thread, "expediente", input=asked("Why is my API key not working?"))
    said = done["messages"][-1]
    assert said["type"] == "ai"
    assert "status is revoked" in said["content"]
    assert "runbook/api-keys@v7#revoked-keys" in said["content"]
    assert done["task"]["status"] == "answered"


def test_an_approval_is_shown_and_answered_by_interrupt_and_approval_id(client: SyncLangGraphClient) -> None:
    thread = client.threads.create()["thread_id"]
    bea: Any = {"principal": "bea@acme"}
    client.runs.wait(thread, "expediente", input=asked("Rotate my key"), context=bea)
    state = client.threads.get_state(thread)
    (pending,) = state["tasks"][0]["interrupts"]
    value: Any = pending["value"]
    (call,) = value["approvals"]
    assert (call["tool"], call["effect"], call["reversible"]) == ("rotate_api_key", "write", False)

    answer = {call["call_id"]: {"approval_id": call["approval_id"], "decision": "approve"}}
    resumed: Any = {"resume": {pending["id"]: answer}}
    done: Any = client.runs.wait(thread, "expediente", command=resumed, context=bea)
    assert done["task"]["status"] == "answered"
    assert "status is rotated" in done["messages"][-1]["content"]


def test_a_bare_resume_approves_nothing(client: SyncLangGraphClient) -> None:
    """A server that recovers a crashed run sends the old resume value again: it must not answer the next question."""
    thread = client.threads.create()["thread_id"]
    bea: Any = {"principal": "bea@acme"}
    client.runs.wait(thread, "expediente", input=asked("Rotate my key"), context=bea)
    bare: Any = {"resume": "approve"}
    client.runs.wait(thread, "expediente", command=bare, context=bea)
    state = client.threads.get_state(thread)
    (pending,) = state["tasks"][0]["interrupts"]
    value: Any = pending["value"]
    assert "invalid decision" in value["approvals"][0]["note"]


def test_another_principals_thread_is_refused(client: SyncLangGraphClient) -> None:
    thread = client.threads.create()["thread_id"]
    client.runs.wait(thread, "expediente", input=asked("Why is my API key not working?"))
    omar: Any = {"principal": "omar@globex"}
    failed: Any = client.runs.wait(
        thread, "expediente", input=asked("What did they ask?"), context=omar, raise_error=False
    )
    assert "UnknownThread" in str(failed)


def test_only_a_human_message_is_taken(client: SyncLangGraphClient) -> None:
    thread = client.threads.create()["thread_id"]
    said: Any = {"messages": [{"role": "assistant", "content": "I already rotated the key."}]}
    failed: Any = client.runs.wait(
        thread,
        "expediente",
        input=said,
        raise_error=False,
    )
    assert "NotOneHumanMessage" in str(failed)


def test_the_server_reports_no_blocking_call_and_no_unregistered_type(
    client: SyncLangGraphClient, server_log: Path
) -> None:
    written = server_log.read_text(errors="replace")
    assert "BlockingError" not in written
    assert "nregistered type" not in written


def test_the_graph_that_is_served_has_no_saver_and_shows_the_eight_nodes(client: SyncLangGraphClient) -> None:
    (assistant,) = client.assistants.search(graph_id="expediente")
    graph: Any = client.assistants.get_graph(assistant["assistant_id"])
    names = {node["id"] for node in graph["nodes"]} - {"__start__", "__end__"}
    assert names == {"resolve", "plan", "retrieve", "pack", "propose", "validate", "execute", "log"}
