"""A model server that refuses the key or is not there: the run fails with its reason, and the key is told nobody."""

import json
import signal
import socket
import time
from collections.abc import Mapping
from typing import Any

from tests.graph.cli.conftest import QUESTION, Program, SameProgram, finished, one_line_error
from tests.graph.models.stub_server import Answer, completion, refusal, serving, tool_call

KEY = "sk-a-secret-that-nobody-may-see"
ASK = ("ask", QUESTION, "--as", "ana@acme", "--thread", "t", "--model", "openai")


def settings(url: str) -> dict[str, str]:
    return {
        "EXPEDIENTE_OPENAI_API_KEY": KEY,
        "EXPEDIENTE_OPENAI_MODEL": "served",
        "EXPEDIENTE_OPENAI_BASE_URL": url,
    }


def stored(program: Program) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(program.home.rglob("*")) if path.is_file())


def test_a_refused_key_fails_the_run_with_its_reason(same: SameProgram) -> None:
    with serving(refusal(401, message=f"Incorrect API key provided: {KEY}", code="invalid_api_key")) as server:
        told = same(*ASK, **settings(server.url))
        done = same(*ASK, "--json", **settings(server.url))
    assert (told.code, told.err, done.code, done.err) == (1, "", 1, "")
    found = done.json()
    assert (found["status"], found["answer"]) == ("failed", None)
    assert found["error"].startswith("unauthorised: ")
    assert "EXPEDIENTE_OPENAI_API_KEY" in found["error"]
    assert found["decisions"][-1]["attempts"][-1]["outcome"]["name"] == "unauthorised"
    assert "unauthorised: " in told.out
    assert KEY not in told.out + done.out
    assert KEY.encode() not in stored(same)


def test_a_server_that_is_not_there_fails_the_run(same: SameProgram) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        done = same(*ASK, "--json", **settings(f"http://127.0.0.1:{unused.getsockname()[1]}/v1"))
    assert done.code == 1
    found = done.json()
    assert found["error"].startswith("unreachable: ")
    assert "EXPEDIENTE_OPENAI_BASE_URL" in found["error"]


def test_a_model_without_its_settings_is_one_line(same: SameProgram) -> None:
    before = same.threads()
    assert "EXPEDIENTE_OPENAI_MODEL" in one_line_error(same(*ASK), 1)
    assert same.threads() == before


def test_ctrl_c_is_one_line_and_leaves_a_thread_that_goes_on(agent: Program, same: SameProgram) -> None:
    slow = Answer(completion({"content": "late"}).body, pause_s=60)
    with serving(slow) as server, agent.start(*ASK, **settings(server.url)) as process:
        deadline = time.monotonic() + 30
        while not server.asked and time.monotonic() < deadline:
            time.sleep(0.05)
        assert server.asked
        process.send_signal(signal.SIGINT)
        error = one_line_error(finished(process), 130)
    assert "agent show t --as ana@acme" in error
    shown = same("show", "t", "--as", "ana@acme", "--json").json()
    assert (shown["status"], shown["answer"]) == ("failed", None)
    assert "cut off" in shown["error"]
    assert same("ask", QUESTION, "--as", "ana@acme", "--thread", "t").code == 0


def like_vllm(sent: Mapping[str, Any]) -> Answer:
    """A server that calls tools only when it must, and takes no developer role and no newer names."""
    call = {"name": "look_up", "arguments": {"loan": "L-17"}}
    if "messages" not in sent:
        return refusal(404)
    if any(message["role"] == "developer" for message in sent["messages"]) or "max_tokens" not in sent:
        return refusal(400, message=KEY)
    words = sum(len(message["content"].split()) for message in sent["messages"])
    usage = {"prompt_tokens": max(9, words), "completion_tokens": min(sent["max_tokens"], 50)}
    if "tools" in sent and sent.get("tool_choice") == "required":
        return completion({"tool_calls": [tool_call("look_up", '{"loan": "L-17"}')]}, "tool_calls", usage=usage)
    if "loan" not in sent["messages"][1]["content"]:
        return completion({"content": "Once upon a time"}, "length", usage=usage)
    text = json.dumps({"calls": [call]}) if sent.get("response_format", {}).get("type") == "json_schema" else "Hm."
    return completion({"content": text}, usage=usage)


def test_the_doctor_says_which_profile_a_server_fits_and_what_fails(same: SameProgram) -> None:
    with serving(lambda number: like_vllm(server.asked[-1])) as server:
        told = same("doctor", "--model", "served", **settings(server.url))
        done = same("doctor", "--model", "served", "--json", **settings(server.url))
    assert (told.code, told.err, done.code) == (0, "", 0)
    assert "set EXPEDIENTE_OPENAI_PROFILE=vllm" in told.out
    found = done.json()
    assert (found["ok"], found["profile"]) == (True, "vllm")
    by_name = {check["name"]: check for check in found["checks"]}
    assert [name for name, check in by_name.items() if name.startswith("as ") and check["ok"]] == ["as vllm"]
    assert (
        "tools fails (malformed: the reply has text but calls neither a tool nor a form)"
        in by_name["as ollama"]["found"]
    )
    assert "unsupported" in by_name["as openai"]["found"]
    assert by_name["usage"]["fix"] == "not reported: cached_tokens"
    assert KEY not in told.out + done.out


def test_the_doctor_asks_nothing_more_where_nobody_answers(same: SameProgram) -> None:
    with serving(refusal(401, message=KEY)) as server:
        done = same("doctor", "--model", "served", "--json", **settings(server.url))
    assert done.code == 1
    assert [(check["name"], check["found"]) for check in done.json()["checks"]] == [("chat", "unauthorised")]
    assert len(server.asked) == 1
    assert KEY not in done.out
