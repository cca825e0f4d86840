"""A second person's approval on the real dev server: the route of graph/approvals.py, and nothing beside it (X1)."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from langgraph_sdk.client import SyncLangGraphClient

from graph.doorkeeper import APPROVAL_SCHEME
from tests.graph.dev_server import DevServer, answering, asked, dev_server
from tests.graph.test_dev_server_auth import KEY, bearer, client_of, documented, token

WISH = "Rotate my key"
BEA, VERA, ANA, OMAR = "bea@acme", "vera@acme", "ana@acme", "omar@globex"


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    folder: Path = tmp_path_factory.mktemp("approvals")
    with dev_server(folder, documented(), EXPEDIENTE_AUTH_KEY=KEY) as running:
        yield running


@pytest.fixture
def bea(closed: DevServer) -> Iterator[SyncLangGraphClient]:
    with client_of(closed, BEA) as client:
        yield client


@pytest.fixture
def vera(closed: DevServer) -> Iterator[SyncLangGraphClient]:
    """A supervisor of bea's tenant: an approver who owns none of bea's threads."""
    with client_of(closed, VERA) as client:
        yield client


@pytest.fixture
def waiting(bea: SyncLangGraphClient) -> str:
    """A thread of bea's on which a call waits for a person."""
    thread: str = bea.threads.create(metadata={"note": "of bea's own"})["thread_id"]
    bea.runs.wait(thread, "expediente", input=asked(WISH))
    return thread


def pending_on(client: SyncLangGraphClient, thread: str) -> Any:
    found: Any = client.http.get(f"/approvals/{thread}")
    return found


def answers(found: Any, decision: str) -> dict[str, Any]:
    return {call["call_id"]: {"approval_id": call["approval_id"], "decision": decision} for call in found["pending"]}


def test_an_approver_of_the_tenant_sees_the_waiting_call_and_nothing_of_the_conversation(
    vera: SyncLangGraphClient, waiting: str
) -> None:
    found = pending_on(vera, waiting)
    (call,) = found.pop("pending")
    assert found == {"thread": waiting, "status": "needs_approval", "effects": []}
    assert (call["tool"], call["rule"], call["reversible"]) == ("rotate_api_key", "needs_confirmation", False)
    assert "key_id" in call["arguments"]
    assert WISH not in str(call)


def test_an_approval_runs_in_the_approvers_name_and_tells_what_became_of_the_call(
    bea: SyncLangGraphClient, vera: SyncLangGraphClient, waiting: str
) -> None:
    found = pending_on(vera, waiting)
    done: Any = vera.http.post(f"/approvals/{waiting}", json=answers(found, "approve"))
    assert done.keys() == {"thread", "status", "pending", "effects"}
    assert (done["status"], done["pending"]) == ("answered", [])
    (effect,) = done["effects"]
    assert (effect["call_id"], effect["tool"]) == (found["pending"][0]["call_id"], "rotate_api_key")
    assert effect["state"] == "done"
    values: Any = bea.threads.get_state(waiting)["values"]
    assert "status is rotated" in values["messages"][-1]["content"]
    run: Any = bea.runs.list(waiting)[0]
    assert run["kwargs"]["config"]["configurable"]["langgraph_auth_user_id"] == VERA


def test_a_rejection_has_no_effect(bea: SyncLangGraphClient, vera: SyncLangGraphClient, waiting: str) -> None:
    done: Any = vera.http.post(f"/approvals/{waiting}", json=answers(pending_on(vera, waiting), "reject"))
    assert (done["pending"], done["effects"]) == ([], [])
    values: Any = bea.threads.get_state(waiting)["values"]
    assert values["task"]["status"] == done["status"]


def test_the_owner_goes_on_as_before_after_somebody_elses_answer(
    bea: SyncLangGraphClient, vera: SyncLangGraphClient, waiting: str
) -> None:
    vera.http.post(f"/approvals/{waiting}", json=answers(pending_on(vera, waiting), "reject"))
    bea.runs.wait(waiting, "expediente", input=asked(WISH))
    done: Any = bea.runs.wait(waiting, "expediente", command=answering(bea.threads.get_state(waiting), "approve"))
    assert done["task"]["status"] == "answered"


def test_the_owner_may_use_the_route_too(bea: SyncLangGraphClient, waiting: str) -> None:
    done: Any = bea.http.post(f"/approvals/{waiting}", json=answers(pending_on(bea, waiting), "approve"))
    assert [effect["state"] for effect in done["effects"]] == ["done"]


def test_an_answer_is_taken_once(vera: SyncLangGraphClient, closed: DevServer, waiting: str) -> None:
    said = answers(pending_on(vera, waiting), "approve")
    vera.http.post(f"/approvals/{waiting}", json=said)
    again = httpx.post(f"{closed.url}/approvals/{waiting}", headers=bearer(VERA), json=said)
    assert again.status_code == 409
    (call_id,) = said
    told = re.escape(f"call {call_id} is already decided: approved by {VERA} at ")
    assert re.fullmatch(rf"{told}\S+ \S+ UTC; nothing was changed", again.json()["detail"])


def test_of_two_answers_at_once_one_is_taken_and_the_other_is_told(
    closed: DevServer, vera: SyncLangGraphClient, waiting: str
) -> None:
    said = answers(pending_on(vera, waiting), "approve")
    at = f"{closed.url}/approvals/{waiting}"
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda who: httpx.post(at, headers=bearer(who), json=said, timeout=60), (BEA, VERA)))
    taken, late = sorted(both, key=lambda answer: answer.status_code)
    assert (taken.status_code, late.status_code) == (200, 409)
    assert [effect["state"] for effect in taken.json()["effects"]] == ["done"]
    assert "already decided: approved by" in late.json()["detail"]


def test_an_edit_is_answered_over_the_route(vera: SyncLangGraphClient, waiting: str) -> None:
    (call,) = pending_on(vera, waiting)["pending"]
    assert call["decisions"] == ["approve", "edit", "reject"]
    edit = {"approval_id": call["approval_id"], "decision": "edit", "arguments": {"key": 1}}
    left: Any = vera.http.post(f"/approvals/{waiting}", json={call["call_id"]: edit})
    assert "rule arguments_invalid denies the call as edited" in left["pending"][0]["note"]
    other = {**edit, "arguments": call["arguments"], "tool": "delete_account"}
    left = vera.http.post(f"/approvals/{waiting}", json={call["call_id"]: other})
    assert "an edit keeps the tool" in left["pending"][0]["note"]
    done: Any = vera.http.post(
        f"/approvals/{waiting}", json={call["call_id"]: {**edit, "arguments": call["arguments"]}}
    )
    assert [effect["state"] for effect in done["effects"]] == ["done"]


def test_another_approvals_id_answers_nothing_and_the_call_says_why(vera: SyncLangGraphClient, waiting: str) -> None:
    (call,) = pending_on(vera, waiting)["pending"]
    wrong = {call["call_id"]: {"approval_id": "apr-of-another", "decision": "approve"}}
    done: Any = vera.http.post(f"/approvals/{waiting}", json=wrong)
    assert done["effects"] == []
    assert done["pending"][0]["note"]


@pytest.mark.parametrize("name", [ANA, OMAR], ids=["of the tenant without the role", "an admin of another tenant"])
def test_for_everybody_else_a_waiting_thread_looks_like_none(closed: DevServer, waiting: str, name: str) -> None:
    said = {"call-2-0": {"approval_id": "apr-0", "decision": "approve"}}
    unknown = str(uuid4())
    for thread in (waiting, unknown):
        at = f"{closed.url}/approvals/{thread}"
        for answer in (httpx.get(at, headers=bearer(name)), httpx.post(at, headers=bearer(name), json=said)):
            assert answer.status_code == 404
            assert answer.json() == {"detail": f"there is no thread '{thread}'; check its name, or start one by asking"}


def test_beside_the_route_an_approver_gets_nothing_of_a_waiting_thread(
    closed: DevServer, vera: SyncLangGraphClient, waiting: str
) -> None:
    at, me = f"{closed.url}/threads/{waiting}", bearer(VERA)
    run = {"assistant_id": "expediente"}
    (call,) = pending_on(vera, waiting)["pending"]
    answer = {call["call_id"]: {"approval_id": call["approval_id"], "decision": "approve"}}
    resume = {**run, "command": {"resume": {"0" * 32: answer}}}
    tried = {
        "read": httpx.get(at, headers=me),
        "state": httpx.get(f"{at}/state", headers=me),
        "history": httpx.post(f"{at}/history", headers=me, json={}),
        "runs": httpx.get(f"{at}/runs", headers=me),
        "ask": httpx.post(f"{at}/runs/wait", headers=me, json={**run, "input": asked("Hello?")}),
        "resume": httpx.post(f"{at}/runs/wait", headers=me, json=resume),
        "resume in the background": httpx.post(f"{at}/runs", headers=me, json=resume),
        "edit": httpx.post(f"{at}/state", headers=me, json={"values": {"head": None}}),
        "take": httpx.patch(at, headers=me, json={"metadata": {"owner": VERA}}),
        "delete": httpx.delete(at, headers=me),
    }
    assert {what: answer.status_code for what, answer in tried.items()} == dict.fromkeys(tried, 404)
    assert waiting not in httpx.post(f"{closed.url}/threads/search", headers=me, json={}).text


def test_after_an_approval_its_run_is_the_owners_to_see(
    closed: DevServer, bea: SyncLangGraphClient, vera: SyncLangGraphClient, waiting: str
) -> None:
    vera.http.post(f"/approvals/{waiting}", json=answers(pending_on(vera, waiting), "approve"))
    run = bea.runs.list(waiting)[0]["run_id"]
    at = f"{closed.url}/threads/{waiting}/runs/{run}"
    for path in ("", "/join"):
        assert httpx.get(f"{at}{path}", headers=bearer(VERA)).status_code == 404, path
    # A stream has said 200 before the server looks who asks.
    streamed = httpx.get(f"{at}/stream", headers=bearer(VERA)).text
    assert streamed.startswith("event: error")
    assert "Thread not found" in streamed
    assert "rotated" not in streamed


WRONG: dict[str, Any] = {
    "no answer": {},
    "a list": [],
    "a bare word": {"call-2-0": "approve"},
    "another decision": {"call-2-0": {"approval_id": "apr-0", "decision": "maybe"}},
    "an edit of nothing": {"call-2-0": {"approval_id": "apr-0", "decision": "edit"}},
    "an edit of too much": {
        "call-2-0": {"approval_id": "apr-0", "decision": "edit", "arguments": {"key_id": "x" * 20_000}}
    },
    "more than an answer": {"call-2-0": {"approval_id": "apr-0", "decision": "approve", "update": {}}},
}


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG.keys())
def test_what_is_no_answer_changes_nothing(
    closed: DevServer, bea: SyncLangGraphClient, vera: SyncLangGraphClient, waiting: str, body: Any
) -> None:
    before = pending_on(vera, waiting)
    assert httpx.post(f"{closed.url}/approvals/{waiting}", headers=bearer(VERA), json=body).status_code == 422
    assert pending_on(vera, waiting) == before
    assert len(bea.runs.list(waiting)) == 1


STRANGERS = {
    "no token": {},
    "a token in the place of a pass": {"Authorization": f"{APPROVAL_SCHEME} {token(VERA)}"},
    "no pass at all": {"Authorization": f"{APPROVAL_SCHEME} x.y.z"},
}


@pytest.mark.parametrize("headers", STRANGERS.values(), ids=STRANGERS.keys())
def test_a_stranger_gets_nowhere(closed: DevServer, waiting: str, headers: dict[str, str]) -> None:
    run = {"assistant_id": "expediente", "command": {"resume": {"0" * 32: {}}}}
    assert httpx.get(f"{closed.url}/approvals/{waiting}", headers=headers).status_code == 401
    assert httpx.post(f"{closed.url}/approvals/{waiting}", headers=headers, json={}).status_code == 401
    assert httpx.post(f"{closed.url}/threads/{waiting}/runs", headers=headers, json=run).status_code == 401


def test_the_route_holds_up_no_event_loop_and_tells_no_secret(
    closed: DevServer, vera: SyncLangGraphClient, waiting: str
) -> None:
    vera.http.post(f"/approvals/{waiting}", json=answers(pending_on(vera, waiting), "approve"))
    assert "BlockingError" not in closed.written()
    assert KEY not in closed.written()
