"""The gateway against servers that misbehave: each failure has its name, the others work, nobody is left over."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from pydantic import SecretStr

from graph.mcp.fault import ServerFault
from graph.mcp.gateway import COOLDOWN_S, RECHECK_S, Gateway
from graph.mcp.review import seen
from graph.tool_secrets import SettingsSecrets
from state.mcp import McpServer
from tests.desk import Desk
from tests.fakes import NOW, FakeClock
from tests.graph.mcp.servers import gateway, raw, raw_servers
from tests.graph.order_desk import desk_domain

# How a server behaves, and the name of what comes of it.
WAYS = {
    "hangs": "server_timed_out",
    "crashes": "connection_lost",
    "floods": "answer_too_large",
    "garbles": "answer_garbled",
    "answers_of_no_shape": "answer_garbled",
    "fails_inside": "failed_in_server",
    "asks_of_the_client": "paid",
    "changes_words_at_once": "paid",
    "says_nothing": "server_not_answering",
    "dies_at_once": "server_unavailable",
    "lists_no_definition": "listing_invalid",
    "lists_twice": "definition_changed",
    "renames": "not_listed",
    "changes_schema": "definition_changed",
    "changes_words": "definition_changed",
    "reorders_keys": "paid",
    "well": "paid",
}


def came_of(gate: Gateway, server: str, tool: str = "lookup", timeout_s: float = 3.0) -> str:
    """The status of the order, or how the call failed."""
    try:
        answer = gate.call(server, tool, {"order": "77"}, timeout_s)
    except ServerFault as fault:
        return fault.code.value
    assert isinstance(answer.structured, dict)
    return str(answer.structured["status"])


def test_a_misbehaving_server_is_named_by_what_it_does_and_the_others_work() -> None:
    quick = {"says_nothing": 0.5}
    gate = gateway(*(raw(how, name=how, timeout_s=quick.get(how, 5)) for how in WAYS))
    try:
        with ThreadPoolExecutor(len(WAYS)) as pool:
            found = dict(zip(WAYS, pool.map(lambda how: came_of(gate, how), WAYS), strict=True))
        assert found == WAYS
        assert came_of(gate, "well") == "paid"
        # It said during its call that its tools changed.
        assert came_of(gate, "changes_words_at_once") == "definition_changed"
    finally:
        gate.close()
    assert raw_servers() == 0


def test_a_command_that_is_not_there_is_named() -> None:
    gate = gateway(McpServer(name="gone", command=("no-such-command-anywhere",), tools=()))
    assert came_of(gate, "gone") == "command_not_found"
    gate.close()


def test_a_broken_connection_is_opened_anew_by_the_next_call_and_not_by_the_one_that_broke(tmp_path: Path) -> None:
    gate = gateway(raw("crashes_once", folder=tmp_path))
    assert [came_of(gate, "raw", "ship"), came_of(gate, "raw", "ship")] == ["connection_lost", "paid"]
    assert (tmp_path / "calls").read_text() == "ship\nship\n"
    gate.close()


def test_a_server_that_cannot_be_opened_is_left_alone_for_a_while(tmp_path: Path) -> None:
    clock = FakeClock(NOW)
    gate = gateway(McpServer(name="late", command=(str(tmp_path / "late"),), tools=()), clock=clock)
    assert came_of(gate, "late") == "command_not_found"
    (tmp_path / "late").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "late").chmod(0o755)
    assert came_of(gate, "late") == "command_not_found"
    clock.advance(COOLDOWN_S)
    assert came_of(gate, "late") == "server_unavailable"
    gate.close()


def test_what_changes_while_a_connection_is_open_is_seen_when_it_is_listed_again() -> None:
    clock = FakeClock(NOW)
    gate = gateway(raw("changes_words_later"), clock=clock)
    assert came_of(gate, "raw") == "paid"
    clock.advance(RECHECK_S)
    assert [came_of(gate, "raw"), came_of(gate, "raw", "ship")] == ["definition_changed", "paid"]
    gate.close()


def test_one_connection_serves_calls_from_many_threads(tmp_path: Path) -> None:
    gate = gateway(raw("well", folder=tmp_path))
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: came_of(gate, "raw"), range(40))) == {"paid"}
    assert raw_servers() == 1
    gate.close()
    gate.close()  # a second time does nothing


def test_a_server_is_given_the_credential_it_declares_and_nothing_else_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-for-servers")
    secrets = SettingsSecrets({"orders": SecretStr("orders-credential"), "other": SecretStr("another-credential")})
    gate = gateway(raw("shows_environment", secrets={"ORDERS_TOKEN": "orders"}), secrets=secrets)
    shown = json.loads(came_of(gate, "raw"))
    shown.pop("LC_CTYPE", None)  # the interpreter's own, where no locale is set
    assert shown == {"PATH": os.defpath, "ORDERS_TOKEN": "orders-credential"}
    gate.close()


def fault_of(server: McpServer, secrets: SettingsSecrets | None = None) -> ServerFault:
    gate = gateway(server, secrets=secrets)
    try:
        with pytest.raises(ServerFault) as failed:
            gate.listing("raw")
        return failed.value
    finally:
        gate.close()


def test_the_end_of_a_servers_standard_error_is_kept_in_whole_lines_and_out_of_the_fault_s_own_words() -> None:
    fault = fault_of(raw("says_much_and_dies"))
    assert (fault.said, fault.code.value) == ("the last line\n", "server_unavailable")
    assert "last line" not in f"{fault} {fault.detail}"


def test_a_credential_in_a_servers_last_words_is_masked_where_they_are_shown(tmp_path: Path) -> None:
    secrets = SettingsSecrets({"till": SecretStr("a-long-token-of-the-till")})
    server = raw("says_why_and_dies", secrets={"TILL_TOKEN": "till"})
    domain = replace(desk_domain(tmp_path, Desk()), servers=(server,))
    gate = gateway(server, secrets=secrets)
    try:
        found = seen(domain, gate, "raw")
    finally:
        gate.close()
    assert found.said == ("starting", "no till at [31m/var/till, token [secret till]")


def test_a_server_without_its_credential_is_not_started(tmp_path: Path) -> None:
    gate = gateway(raw("well", folder=tmp_path, secrets={"ORDERS_TOKEN": "orders"}))
    assert came_of(gate, "raw") == "secret_missing"
    assert not (tmp_path / "calls").exists()
    gate.close()


KILLED = """
import os, signal, threading
from tests.graph.mcp.servers import gateway, raw
gate = gateway(raw("hangs"))
gate.listing("raw")
threading.Thread(target=gate.call, args=("raw", "lookup", {"order": "77"}, 600.0), daemon=True).start()
import psutil, time
(server,) = psutil.Process().children()
time.sleep(0.2)
print(server.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere a server ends when its input does")
def test_a_server_does_not_outlive_an_agent_that_was_killed() -> None:
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", KILLED], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    pid, until = int(done.stdout), time.monotonic() + 10
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < until, "the server is still there"
        time.sleep(0.01)
