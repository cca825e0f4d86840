"""execute and isolated tools (L7): a process of its own for each call, which is killed when its time is over."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from state.contract import FailureMode, OutputField
from state.tools import Tool
from tests.fakes import NOW, FakeSecrets
from tests.nodes import isolated_tools
from tests.nodes.executing import REFUND, allowed, body, executed
from tests.nodes.parts import Parts

LOOK: dict[str, Any] = {"order": "A1"}
SEEN = tuple(OutputField(name=name) for name in ("order", "state", "seen", "pid", "text"))


def looking(parts: Parts, run: Any, **terms: Any) -> Any:
    """The observation of an isolated read."""
    parts.desk.replace("lookup", run, **{"output": SEEN, "isolated": True, **terms})
    (seen,) = executed(parts, parts.act(("c1", "lookup", LOOK)), allowed(parts, "lookup", LOOK))
    return seen


def test_an_isolated_tool_runs_elsewhere_with_its_context_and_nothing_of_our_environment(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", "demo-cred-4471-QWER")
    seen = looking(parts, isolated_tools.told)
    assert (seen.outcome, seen.code) == ("ok", None)
    shown = body(parts, seen)
    assert shown["seen"] == ["PATH", "PYTHONPATH"]
    assert shown["pid"] != os.getpid()
    assert shown["state"].startswith(f"mia@t1 {NOW.isoformat()}")


def test_an_isolated_tool_is_given_the_credentials_of_its_contract_alone(parts: Parts) -> None:
    parts.secrets = FakeSecrets(api_key="demo-cred-4471-QWER", other="demo-cred-9999-QWER")
    seen = looking(parts, isolated_tools.signed, secrets=("api_key",))
    assert body(parts, seen)["state"] == "19 SecretNotDeclared"


@pytest.mark.parametrize(
    ("run", "code"),
    [
        (isolated_tools.text, "result_not_text"),
        (isolated_tools.refusing, "busy"),
        (isolated_tools.breaking, "tool_failed:ZeroDivisionError"),
        (isolated_tools.dying, "tool_failed:Died"),
        (isolated_tools.leaving, "tool_failed:SystemExit"),
        (isolated_tools.endless, "tool_failed:ValueError"),
        (isolated_tools.flooding, "tool_failed:TooLarge"),
    ],
    ids=["no text", "a tool error", "an exception", "a process that ends", "an exit", "a loop", "a flood"],
)
def test_what_goes_wrong_elsewhere_is_told_like_here(parts: Parts, run: Any, code: str) -> None:
    seen = looking(parts, run, failures=(FailureMode(code="busy"),))
    assert (seen.outcome, seen.code) == ("error", code)
    assert "business" not in parts.get(seen.ref)


def test_what_json_has_no_form_for_is_shown_as_a_result_of_this_process_would_be(parts: Parts) -> None:
    seen = looking(parts, isolated_tools.odd)
    assert (body(parts, seen)["state"], body(parts, seen)["text"]) == ("\ufffd ok", "{'a'}")


def test_an_isolated_tool_runs_in_an_empty_folder(parts: Parts) -> None:
    assert body(parts, looking(parts, isolated_tools.placed))["state"] == "[]"


def test_a_call_that_is_done_is_not_kept_waiting_by_what_it_began(parts: Parts) -> None:
    seen = looking(parts, isolated_tools.holding, timeout_s=20)
    assert (seen.outcome, body(parts, seen)["state"]) == ("ok", "done")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process of its parent's end")
def test_where_the_agent_is_killed_its_call_does_not_go_on(tmp_path: Path) -> None:
    log = tmp_path / "log"
    program = (
        "from nodes.execute.isolated import in_child\nfrom state.tools import ToolContext\n"
        "from tests.desk import SCOPE, Desk\nfrom tests.fakes import NOW\nfrom tests.nodes.isolated_tools import slow\n"
        f"in_child(slow, Desk().contracts['lookup'], ToolContext(SCOPE, NOW, 'k'), {{'order': {str(log)!r}}})"
    )
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen([sys.executable, "-c", program], cwd=root, env={"PYTHONPATH": str(root)}) as agent:
        while not log.exists():
            assert agent.poll() is None
            time.sleep(0.05)
        agent.kill()
    time.sleep(4)
    assert log.read_text(encoding="utf-8") == "begun\n"


@pytest.mark.parametrize("hangs", [isolated_tools.late, isolated_tools.daemon], ids=["a process", "a daemon"])
@pytest.mark.parametrize("back", [None, isolated_tools.trace], ids=["not looked", "looked, not found"])
def test_a_call_that_hangs_is_killed_with_what_it_began(parts: Parts, tmp_path: Path, back: Any, hangs: Any) -> None:
    touched = tmp_path / "touched"
    arguments = {**REFUND, "order": str(touched)}
    parts.desk.replace("refund", hangs, isolated=True, timeout_s=1.5, reads_back=back is not None)
    parts.desk.tools["refund"] = Tool(parts.desk.contracts["refund"], hangs, back)
    (seen,) = executed(parts, parts.act(("c1", "refund", arguments)), allowed(parts, "refund", arguments))
    assert (seen.outcome, seen.code) == ("unknown", "killed")
    time.sleep(5)
    assert not touched.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a daemon of a process that is gone is not found")
def test_what_a_tool_began_is_killed_whatever_the_tool_did_to_itself(parts: Parts, tmp_path: Path) -> None:
    """It lets go of its orphans, ends without a word, or kills its own group."""
    tools = (isolated_tools.freeing, isolated_tools.fleeing, isolated_tools.killing)
    for number, run in enumerate(tools):
        arguments = {**REFUND, "order": str(tmp_path / run.__name__)}
        parts.desk.replace("refund", run, isolated=True, timeout_s=1.5)
        call = (f"c{number}", "refund", arguments)
        (seen,) = executed(parts, parts.act(call), allowed(parts, "refund", arguments, call_id=call[0]))
        assert seen.outcome == "unknown"
    time.sleep(4)
    assert list(tmp_path.iterdir()) == []


def test_a_function_that_another_process_cannot_find_is_no_isolated_tool(parts: Parts) -> None:
    def inner(context: Any, *, order: str) -> None: ...

    with pytest.raises(ValueError, match=r"inner for the isolated tool lookup; another process finds it by name: move"):
        parts.desk.replace("lookup", inner, isolated=True)


def test_where_an_isolated_tool_failed_is_told_in_the_log_too(parts: Parts, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="nodes"):
        looking(parts, isolated_tools.breaking)
    assert "isolated_tools.py" in caplog.text
    assert "ZeroDivisionError: a text that is nobody's business" in caplog.text
