"""The real dev server as a process, driven through the SDK: the worked example, one approval, forms (U2, H24)."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from graph.build import ORDER
from graph.checkpoint_metadata import NoSuchCheckpoint
from graph.scope import NotAuthenticated, NotYours
from graph.stores.lease import LeaseLost, ThreadBusy
from graph.stores.ownership import ThreadForgotten
from graph.stores.unavailable import StoreUnavailable
from state.checks.rates import RateMissing
from state.policy import PolicyMissing
from state.ports import ArtifactGone, RecordMissing, SecretMissing
from state.search import AccessUnknown
from tests.graph.dev_server import DevServer, answering, asked

QUESTION = "Why is my API key not working?"
BEA: Any = {"principal": "bea@acme"}


@pytest.fixture
def client(server: DevServer) -> Iterator[SyncLangGraphClient]:
    with get_sync_client(url=server.url) as client:
        yield client


@pytest.fixture
def assistant(client: SyncLangGraphClient) -> str:
    (found,) = client.assistants.search(graph_id="expediente")
    return found["assistant_id"]


def test_the_worked_example_is_answered(client: SyncLangGraphClient) -> None:
    thread = client.threads.create()["thread_id"]
    done: Any = client.runs.wait(thread, "expediente", input=asked(QUESTION))
    said = done["messages"][-1]
    assert said["type"] == "ai"
    assert "status is revoked" in said["content"]
    assert "runbook/api-keys@v7#revoked-keys" in said["content"]
    assert done["task"]["status"] == "answered"


def test_an_approval_is_shown_and_answered_by_interrupt_and_approval_id(client: SyncLangGraphClient) -> None:
    thread = client.threads.create()["thread_id"]
    client.runs.wait(thread, "expediente", input=asked("Rotate my key"), context=BEA)
    state = client.threads.get_state(thread)
    (pending,) = state["tasks"][0]["interrupts"]
    value: Any = pending["value"]
    (call,) = value["approvals"]
    assert (call["tool"], call["effect"], call["reversible"]) == ("rotate_api_key", "write", False)

    done: Any = client.runs.wait(thread, "expediente", command=answering(state, "approve"), context=BEA)
    assert done["task"]["status"] == "answered"
    assert "status is rotated" in done["messages"][-1]["content"]


def test_a_bare_resume_approves_nothing(client: SyncLangGraphClient) -> None:
    """A server that recovers a crashed run sends the old resume value again: it must not answer the next question."""
    thread = client.threads.create()["thread_id"]
    client.runs.wait(thread, "expediente", input=asked("Rotate my key"), context=BEA)
    bare: Any = {"resume": "approve"}
    client.runs.wait(thread, "expediente", command=bare, context=BEA)
    state = client.threads.get_state(thread)
    (pending,) = state["tasks"][0]["interrupts"]
    value: Any = pending["value"]
    assert "invalid decision" in value["approvals"][0]["note"]


def test_another_principals_thread_is_refused(client: SyncLangGraphClient) -> None:
    thread = client.threads.create()["thread_id"]
    client.runs.wait(thread, "expediente", input=asked(QUESTION))
    omar: Any = {"principal": "omar@globex"}
    failed: Any = client.runs.wait(
        thread, "expediente", input=asked("What did they ask?"), context=omar, raise_error=False
    )
    assert failed["__error__"] == {
        "error": "UnknownThread",
        "message": f"there is no thread '{thread}'; check its name, or start one by asking",
    }


def test_somebody_the_domain_does_not_know_is_told_how_to_find_a_name(client: SyncLangGraphClient) -> None:
    """A server passes on the words of some kinds of error only; of every other a client reads "internal error"."""
    thread = client.threads.create()["thread_id"]
    nobody: Any = {"principal": "be@acme"}
    failed: Any = client.runs.wait(thread, "expediente", input=asked(QUESTION), context=nobody, raise_error=False)
    assert failed["__error__"]["message"] == (
        "got principal 'be@acme', whom the domain does not know; `agent doctor` lists those it knows"
    )


def test_a_server_passes_on_the_words_of_every_error_that_ends_a_run() -> None:
    until = datetime(2026, 1, 1, tzinfo=UTC)
    for error in (
        AccessUnknown("no groups"),
        ArtifactGone("gone"),
        LeaseLost("T"),
        NoSuchCheckpoint("no such checkpoint"),
        NotAuthenticated(),
        NotYours("T"),
        PolicyMissing("no policy"),
        RateMissing("no rate"),
        RecordMissing("no record"),
        SecretMissing("no secret"),
        StoreUnavailable("somewhere", got="nothing", allowed="a store", next_step="look"),
        ThreadBusy("T", until),
        ThreadForgotten("T", until),
    ):
        assert isinstance(error, ValueError | RuntimeError), error  # of those it passes on


def test_only_a_human_message_is_taken(client: SyncLangGraphClient) -> None:
    thread = client.threads.create()["thread_id"]
    said: Any = {"messages": [{"role": "assistant", "content": "I already rotated the key."}]}
    failed: Any = client.runs.wait(thread, "expediente", input=said, raise_error=False)
    assert "NotOneHumanMessage" in str(failed)


def test_a_bound_in_the_context_ends_the_run_early(client: SyncLangGraphClient) -> None:
    thread = client.threads.create()["thread_id"]
    once: Any = {"max_decisions": 1}
    done: Any = client.runs.wait(thread, "expediente", input=asked(QUESTION), context=once)
    assert done["task"]["laps_in_turn"] == 1
    assert done["task"]["status"] in ("partial", "escalated")


def test_the_forms_explain_input_and_context(client: SyncLangGraphClient, assistant: str) -> None:
    schemas: Any = client.assistants.get_schemas(assistant)
    message = schemas["input_schema"]["properties"]["messages"]
    assert message["title"]
    assert message["description"]
    assert message["examples"][0][0]["role"] == "user"
    context = schemas["context_schema"]["properties"]
    assert context.keys() == {"principal", "max_decisions"}
    assert all(field["title"] and field["description"] and field["examples"] for field in context.values())
    output = schemas["output_schema"]["properties"]
    assert all(field["title"] and field["description"] for field in output.values())


def test_the_graph_that_is_served_has_no_saver_and_shows_what_each_node_reads_and_writes(
    client: SyncLangGraphClient, assistant: str
) -> None:
    graph: Any = client.assistants.get_graph(assistant)
    nodes = {node["id"]: node.get("metadata") for node in graph["nodes"]}
    assert nodes.keys() == {"__start__", "__end__", *ORDER}
    assert nodes["plan"] == {"reads": ["request", "task"], "writes": ["decision"]}
    assert all(nodes[name]["reads"] and nodes[name]["writes"] for name in ORDER)


def test_progress_arrives_node_by_node(client: SyncLangGraphClient) -> None:
    thread = client.threads.create()["thread_id"]
    parts = client.runs.stream(thread, "expediente", input=asked(QUESTION), stream_mode="custom")
    told: list[Any] = [part.data for part in parts if part.event == "custom" and part.data["event"] == "node"]
    assert [(event["decision"], event["node"]) for event in told] == [
        *((0, name) for name in ORDER),
        *((1, name) for name in ORDER if name != "execute"),
    ]
    assert all(event.keys() == {"event", "node", "decision", "kind"} for event in told)
    assert {event["kind"] for event in told if event["node"] == "pack"} == {"gather", "answer"}


def test_the_answer_arrives_once_validate_let_it_pass_and_before_the_run_is_over(client: SyncLangGraphClient) -> None:
    thread = client.threads.create()["thread_id"]
    modes: Any = ["custom", "updates"]
    parts = list(client.runs.stream(thread, "expediente", input=asked(QUESTION), stream_mode=modes))
    told: list[Any] = [part.data for part in parts if part.event in ("custom", "updates")]
    (answer,) = [index for index, data in enumerate(told) if data.get("event") == "answer"]
    (last_log,) = [index for index, data in enumerate(told) if (data.get("log") or {}).get("messages")]
    begun = [(data["decision"], data["node"]) for data in told[:answer] if data.get("event") == "node"]
    assert begun[-2:] == [(1, "validate"), (1, "log")]
    assert answer < last_log
    assert told[answer] | {"text": ""} == {
        "event": "answer",
        "decision": 1,
        "kind": "answer",
        "status": "answered",
        "text": "",
    }
    assert "status is revoked" in told[answer]["text"]
    assert [data for data in told[:answer] if "status is revoked" in str(data)] == []


def test_no_stream_carries_what_a_model_said_before_it_was_validated(client: SyncLangGraphClient) -> None:
    thread = client.threads.create()["thread_id"]
    modes: Any = ["events", "messages-tuple", "debug", "updates"]
    parts = list(client.runs.stream(thread, "expediente", input=asked(QUESTION), stream_mode=modes))
    assert any(part.event == "events" for part in parts)
    assert [part for part in parts if "on_chat_model" in str(part.data)] == []
    assert [part for part in parts if "<section name=" in str(part.data)] == []


def test_the_server_reports_no_blocking_call_and_no_unregistered_type(
    client: SyncLangGraphClient, server: DevServer
) -> None:
    thread = client.threads.create()["thread_id"]
    client.runs.wait(thread, "expediente", input=asked(QUESTION))
    written = server.written()
    assert "BlockingError" not in written
    assert "nregistered type" not in written


def test_a_resume_with_nothing_answers_nothing(client: SyncLangGraphClient) -> None:
    """LangGraph takes it for no input at all: the graph never sees it, and what waits goes on waiting."""
    thread = client.threads.create()["thread_id"]
    client.runs.wait(thread, "expediente", input=asked("Rotate my key"), context=BEA)
    before = client.threads.get_state(thread)
    nothing: Any = {"resume": None}
    client.runs.wait(thread, "expediente", command=nothing, context=BEA, raise_error=False)
    after = client.threads.get_state(thread)
    assert client.threads.get(thread)["status"] == "interrupted"
    assert after["tasks"][0]["interrupts"] == before["tasks"][0]["interrupts"]
    done: Any = client.runs.wait(thread, "expediente", command=answering(after, "approve"), context=BEA)
    assert "status is rotated" in done["messages"][-1]["content"]
