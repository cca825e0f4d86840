"""`agent chat` through a pipe: turns, approvals inline, and a thread that goes on."""

import json
import re
import signal
import time

from tests.graph.cli.conftest import QUESTION, ROTATE, Program, SameProgram, finished, one_line_error

ESCAPE = "\x1b"


def lines(*said: str) -> str:
    return "".join(f"{line}\n" for line in said)


def test_each_line_is_a_turn_of_one_thread(same: SameProgram) -> None:
    done = same("chat", "--as", "ana@acme", "--thread", "t", given=lines("hi", "", QUESTION, "/show", "/quit", "never"))
    assert (done.code, done.err) == (0, "")
    assert f"> {QUESTION}" in done.out
    assert "runbook/api-keys@v7#revoked-keys" in done.out
    assert "What exactly do you need?" in done.out
    assert "policy://role" in done.out.partition("> /show")[2]  # the working set of the last turn
    assert "never" not in done.out
    assert done.out.endswith("agent chat --as ana@acme --thread t\n")
    assert {one["turn"] for one in same("show", "t", "--as", "ana@acme", "--json").json()["decisions"]} == {1, 2}


def test_the_exit_code_is_that_of_the_last_turn(same: SameProgram) -> None:
    assert same("chat", "--as", "ana@acme", given="hi\n").code == 3
    assert same("chat", "--as", "ana@acme", given="").code == 0


def test_a_piped_chat_has_no_colour_and_no_line_over_80_columns(same: SameProgram) -> None:
    done = same("chat", "--as", "bea@acme", "--thread", "t", given=lines(QUESTION, ROTATE, "later", "/show", "/help"))
    assert ESCAPE not in done.out
    assert [line for line in done.out.splitlines() if line != line.rstrip()] == []
    assert [line for line in done.out.splitlines() if len(line) > 80 and not line.lstrip().startswith("agent ")] == []


def test_an_approval_is_asked_for_inline_and_only_a_clear_word_answers_it(same: SameProgram) -> None:
    done = same("chat", "--as", "bea@acme", "--thread", "t", given=lines(ROTATE, "sure, why not", "approve"))
    assert done.code == 0, done
    assert "rotate_api_key (write, cannot be undone)" in done.out
    assert done.out.count("approve, edit, reject or later? ") == 2
    (effect,) = same("show", "t", "--as", "bea@acme", "--json").json()["effects"]
    assert (effect["tool"], effect["state"]) == ("rotate_api_key", "done")


def test_an_edit_is_asked_for_with_its_arguments(same: SameProgram) -> None:
    said = lines(ROTATE, "edit", "no json", "edit", '{"key_id": "K-1007"}')
    done = same("chat", "--as", "bea@acme", "--thread", "t", given=said)
    assert "got the arguments 'no json'; allowed: a JSON object" in one_line(done.err)
    assert done.code == 0, done
    assert "edited by bea@acme: key_id=K-1007" in done.out


def test_a_word_that_is_no_answer_is_told_with_the_words_that_are(same: SameProgram) -> None:
    done = same("chat", "--as", "bea@acme", "--thread", "t", given=lines(ROTATE, "yes", "later"))
    assert "got 'yes'; allowed: approve, edit, reject, later; the call is still pending" in one_line(done.err)
    assert same("show", "t", "--as", "bea@acme", "--json").json()["effects"] == []


def test_a_rejected_call_has_no_effect(same: SameProgram) -> None:
    done = same("chat", "--as", "bea@acme", "--thread", "t", given=lines(ROTATE, "r"))
    assert "denied by rejected_by_person" in done.out
    assert same("show", "t", "--as", "bea@acme", "--json").json()["effects"] == []


def test_a_call_that_was_put_off_waits_for_the_next_chat(same: SameProgram) -> None:
    left = same("chat", "--as", "bea@acme", "--thread", "t", given=lines(ROTATE, "later"))
    assert left.code == 3
    assert re.search(r"agent resume t --as bea@acme --approve \S+", left.out)
    done = same("chat", "--as", "bea@acme", "--thread", "t", given=lines("approve"))
    assert done.code == 0, done
    assert len(same("show", "t", "--as", "bea@acme", "--json").json()["effects"]) == 1


def test_what_goes_wrong_in_a_turn_is_one_line_and_the_chat_goes_on(same: SameProgram) -> None:
    done = same("chat", "--as", "ana@acme", "--thread", "t", given=lines("x" * 50_000, QUESTION))
    assert done.code == 0
    assert "got a question of 50000 characters" in one_line(done.err)
    assert "Sources" in done.out


def test_nobody_talks_on_another_ones_thread_and_an_unknown_principal_not_at_all(same: SameProgram) -> None:
    foreign = same("chat", "--as", "omar@globex", "--thread", "first", given=lines("hi"))
    assert foreign.code == 2
    assert "first" in one_line(foreign.err)
    assert QUESTION not in foreign.out
    assert "got principal 'zoe@acme'" in one_line_error(same("chat", "--as", "zoe@acme", given="hi\n"), 2)


def test_with_json_each_turn_is_one_line(same: SameProgram) -> None:
    done = same("chat", "--as", "ana@acme", "--json", given=lines("hi", QUESTION))
    found = [json.loads(line) for line in done.out.splitlines()]
    assert [one["status"] for one in found] == ["needs_input", "answered"]


def test_ctrl_c_leaves_a_thread_that_goes_on(agent: Program, same: SameProgram) -> None:
    with agent.start("chat", "--as", "ana@acme", "--thread", "t") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines(QUESTION))
        process.stdin.flush()
        while "Sources" not in process.stdout.readline():
            assert process.poll() is None
        time.sleep(0.5)  # until it waits for the next line
        process.send_signal(signal.SIGINT)
        error = one_line_error(finished(process), 130)
    assert "agent chat --as ana@acme --thread t" in error
    assert same("chat", "--as", "ana@acme", "--thread", "t", given=lines(QUESTION)).code == 0


def one_line(error: str) -> str:
    assert error.count("\n") == 1, error
    return error
