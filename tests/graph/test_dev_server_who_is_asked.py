"""Over the route of graph/approvals.py an approver meets the calls that ask one of his roles, and no other (X1).

The support agent, but for one term: only an admin may answer for the rotation of a key. The policy's other approvers,
supervisors, may answer for other tools.
"""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.graph.dev_server import DevServer, asked, dev_server
from tests.graph.test_dev_server_approvals import BEA, VERA, WISH, answers, pending_on
from tests.graph.test_dev_server_auth import KEY, bearer, client_of, documented

DOMAIN = """
from dataclasses import replace

import domain
from state.contract import Approvers


def load(folder, now):
    made = domain.load(folder, now)
    terms = {"approvers": Approvers(roles=("admin",), self_approval=True)}
    guarded = [
        replace(tool, contract=tool.contract.model_copy(update=terms if tool.contract.name == "rotate_api_key" else {}))
        for tool in made.tools
    ]
    return replace(made, tools=tuple(guarded))
"""


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    folder: Path = tmp_path_factory.mktemp("asked")
    (folder / "guarded.py").write_text(DOMAIN, encoding="utf-8")
    with dev_server(folder, documented(), EXPEDIENTE_AUTH_KEY=KEY, EXPEDIENTE_DOMAIN="guarded") as running:
        yield running


def test_a_call_that_asks_other_roles_is_not_there_before_and_after_it_is_decided(closed: DevServer) -> None:
    with client_of(closed, BEA) as bea, client_of(closed, VERA) as vera:
        thread: str = bea.threads.create()["thread_id"]
        bea.runs.wait(thread, "expediente", input=asked(WISH))
        own = pending_on(bea, thread)
        (call,) = own["pending"]
        assert (call["tool"], call["approver_roles"]) == ("rotate_api_key", ["admin"])
        assert pending_on(vera, thread) == {
            "thread": thread,
            "status": "needs_approval",
            "pending": [],
            "effects": [],
        }
        at, said = f"{closed.url}/approvals/{thread}", answers(own, "approve")
        nothing = f"invalid decision: got call {call['call_id']}; pending on this thread: nothing; nothing was changed"
        before = httpx.post(at, headers=bearer(VERA), json=said, timeout=60)
        assert (before.status_code, before.json()["detail"]) == (409, nothing)
        done = httpx.post(at, headers=bearer(BEA), json=said, timeout=60)
        assert [effect["state"] for effect in done.json()["effects"]] == ["done"]
        after = httpx.post(at, headers=bearer(VERA), json=said, timeout=60)
        assert (after.status_code, after.json()["detail"]) == (409, nothing)
        again = httpx.post(at, headers=bearer(BEA), json=said, timeout=60)
        assert "already decided: approved by" in again.json()["detail"]
