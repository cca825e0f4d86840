"""Asking, approving, looking: exit codes, the one JSON object, and an account that reads well."""

import json
import os
import pty
import re
import shlex
import subprocess
from contextlib import suppress

from tests.graph.cli.conftest import AGENT, QUESTION, ROTATE, Program, SameProgram, environment

ESCAPE = "\x1b"


def test_an_answer_is_one_json_object(agent: Program) -> None:
    done = agent("ask", QUESTION, "--as", "ana@acme", "--thread", "t", "--model", "offline", "--json")
    assert (done.code, done.err) == (0, "")
    found = done.json()
    assert list(found) == ["thread", "status", "error", "answer", "pending", "decisions", "effects"]
    assert (found["thread"], found["status"], found["error"]) == ("t", "answered", None)
    assert set(found["answer"]) == {"text", "sources", "next_steps"}
    assert "runbook/api-keys@v7#revoked-keys" in found["answer"]["sources"]
    assert found["pending"] == found["effects"] == []
    assert [decision["index"] for decision in found["decisions"]] == [0, 1]
    wanted = {"record", "index", "kind", "manifest", "proposal", "verdicts", "observations", "attempts"}
    assert all(wanted <= decision.keys() for decision in found["decisions"])
    (seen,) = found["decisions"][0]["observations"]
    assert seen["tool"] == "check_api_key_status"
    assert seen["body"]["status"] == "revoked"


def test_the_account_tells_each_decision_and_ends_in_the_answer(same: SameProgram) -> None:
    done = same("ask", QUESTION, "--as", "ana@acme")
    assert (done.code, done.err) == (0, "")
    assert re.search(r"^\[0\] gather/diagnose · turn_begins → observed$", done.out, re.MULTILINE)
    for told in (
        r"  in        \d+ items, [\d,]+ of [\d,]+ tokens \(\d+%\)",
        r"  left out  \d+: \d+ over limit, .*",
        r"  proposed  check_api_key_status\(account_id=A-123\)",
        r"  verdict   allowed by read_in_scope",
        r"  result    ok: .*status=revoked.*",
        r"Answer",
        r"Sources",
        r"  runbook/api-keys@v7#revoked-keys",
        r"answered · 2 decisions · effects: none",
    ):
        assert re.search(f"^{told}$", done.out, re.MULTILINE), told


def test_a_piped_account_has_no_colour_no_line_over_80_columns_and_none_ending_in_blanks(same: SameProgram) -> None:
    told = [same("ask", ROTATE, "--as", "bea@acme", "--thread", "t").out, same("show", "t", "--as", "bea@acme").out]
    told.append(same("doctor").out)
    for out in told:
        assert ESCAPE not in out
        assert [line for line in out.splitlines() if line != line.rstrip()] == []
        # A command may be longer: folded, it could not be copied.
        too_long = [line for line in out.splitlines() if len(line) > 80 and not line.lstrip().startswith("agent ")]
        assert too_long == []


def test_a_terminal_shows_colours_and_no_line_over_its_columns(agent: Program) -> None:
    terminal, inside = pty.openpty()
    process = subprocess.Popen(
        [AGENT, "show", "first", "--as", "ana@acme"],
        env=environment(agent.home, TERM="xterm"),
        cwd=agent.folder,
        stdout=inside,
        stderr=inside,
        stdin=inside,
    )
    os.close(inside)
    shown = b""
    with suppress(OSError):  # how a terminal says that its program is gone
        while more := os.read(terminal, 65_536):
            shown += more
    os.close(terminal)
    assert process.wait(60) == 0
    text = shown.decode()
    assert f"{ESCAPE}[1m" in text
    lines = [line.rpartition("\r")[2] for line in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).split("\r\n")]
    assert "Turn 1" in lines
    assert [line for line in lines if len(line) > 80] == []


def test_an_approval_shows_what_is_asked_and_the_command_that_answers(same: SameProgram) -> None:
    asked = same("ask", ROTATE, "--as", "bea@acme", "--thread", "t")
    assert (asked.code, asked.err) == (3, "")
    for told in ("rotate_api_key (write, cannot be undone)", "from key_id (system)", "until", "in 60 minutes"):
        assert told in asked.out
    command = re.search(r"^  agent (resume t --as bea@acme --approve \S+)$", asked.out, re.MULTILINE)
    assert command
    waiting = same("show", "t", "--as", "bea@acme")
    assert command[0] in waiting.out

    approved = same(*command[1].split(), "--json")
    assert (approved.code, approved.err) == (0, "")
    (effect,) = approved.json()["effects"]
    assert (effect["tool"], effect["state"]) == ("rotate_api_key", "done")
    assert {"tool", "arguments", "call_id", "at"} <= effect.keys()

    again = same(*command[1].split())
    assert again.code == 2
    assert "already decided" in again.err


def test_a_rejected_call_has_no_effect(same: SameProgram) -> None:
    asked = same("ask", ROTATE, "--as", "bea@acme", "--thread", "t", "--json")
    assert asked.code == 3
    (call,) = asked.json()["pending"]
    assert {"call_id", "tool", "arguments", "reason", "expires_at"} <= call.keys()
    done = same("resume", "t", "--as", "bea@acme", "--reject", call["call_id"])
    assert done.code == 0
    assert "denied by rejected_by_person" in done.out
    assert "effects: none" in done.out


def test_an_edit_is_given_as_json_and_what_is_none_changes_nothing(same: SameProgram) -> None:
    asked = same("ask", ROTATE, "--as", "bea@acme", "--thread", "t")
    command = re.search(r"^  agent (resume t --as bea@acme --edit (\S+) '(.*)')$", asked.out, re.MULTILINE)
    assert command
    call_id, arguments = command[2], json.loads(command[3])
    assert re.search(r"^  answer +approve or edit or reject, by admin or supervisor$", asked.out, re.MULTILINE)
    for odd in ("", "5", "[]", "{'key_id': 1}", '{"key_id": "K-1", "key_id": "K-2"}'):
        wrong = same("resume", "t", "--as", "bea@acme", "--edit", call_id, odd)
        assert (wrong.code, "allowed: a JSON object with all arguments" in wrong.err) == (2, True)
    left = same("resume", "t", "--as", "bea@acme", "--edit", call_id, '{"key_id": "K-2001"}')
    assert left.code == 3
    assert "rule resource_not_owned denies the call as edited" in " ".join(left.out.split())
    done = same(*shlex.split(command[1]))
    assert done.code == 0, done
    assert re.search(rf"^  verdict +allowed by \w+, edited by bea@acme: key_id={arguments['key_id']}$", done.out, re.M)
    again = same("resume", "t", "--as", "bea@acme", "--approve", call_id)
    assert "already decided: edited and approved by bea@acme at " in again.err


def test_an_approver_is_shown_the_call_and_no_count_of_what_is_not_theirs_to_see(same: SameProgram) -> None:
    same("ask", ROTATE, "--as", "bea@acme", "--thread", "t")
    shown = same("show", "t", "--as", "vera@acme").out
    assert shown.startswith("thread t · vera@acme · needs_approval\n")
    assert "\nWaits for a person\n  call      rotate_api_key" in shown
    call_id = re.findall(r"--reject (\S+)", shown)[0]
    done = same("resume", "t", "--as", "vera@acme", "--reject", call_id)
    assert done.out.startswith("What was said on this thread is for its owner to see.\n")
    assert done.out.endswith("answered · effects: none\n")


def test_a_question_back_and_a_hand_over_have_their_own_exit_codes(same: SameProgram) -> None:
    back = same("ask", "hi", "--as", "ana@acme", "--json")
    assert (back.code, back.json()["status"]) == (3, "needs_input")
    over = same("ask", ROTATE, "--as", "ana@acme", "--json")
    codes = {"needs_input": 3, "escalated": 4, "partial": 4}
    assert over.code == codes[over.json()["status"]]


def test_show_gives_every_turn_with_what_was_in_what_was_out_and_why(same: SameProgram) -> None:
    same("ask", "-", "--as", "ana@acme", "--thread", "first", given=QUESTION)
    shown = same("show", "first", "--as", "ana@acme")
    assert shown.code == 0
    assert "Turn 1" in shown.out
    assert "Turn 2" in shown.out
    assert re.search(r"^ +\d+  policy://role · policy, required$", shown.out, re.MULTILINE)
    assert re.search(r"^ +\d+  runbook/api-keys@v7#revoked-keys · untrusted, utility \d", shown.out, re.MULTILINE)
    assert re.search(r"^ +superseded\n +–  runbook/api-keys@v6$", shown.out, re.MULTILINE)
    found = same("show", "first", "--as", "ana@acme", "--json").json()
    assert {decision["turn"] for decision in found["decisions"]} == {1, 2}
    assert {decision["question"] for decision in found["decisions"]} == {QUESTION}


def test_show_gives_one_decision_by_its_number(same: SameProgram) -> None:
    whole = same("show", "first", "--as", "ana@acme").out
    shown = same("show", "first", "--as", "ana@acme", "--decision", "1")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.startswith(f"Turn 1\n  {QUESTION}\n\n[1] answer/explain")
    assert "[0] " not in shown.out
    assert shown.out.partition("[1]")[2].strip() in whole


def test_one_decision_as_json_is_that_of_the_whole_thread(same: SameProgram) -> None:
    whole = same("show", "first", "--as", "ana@acme", "--json").json()
    assert same("show", "first", "--as", "ana@acme", "--decision", "0", "--json").json() == whole["decisions"][0]


def test_a_question_cannot_steer_the_terminal(same: SameProgram) -> None:
    done = same("ask", f"{ESCAPE}[31m{QUESTION}{ESCAPE}[2J", "--as", "ana@acme", "--thread", "t")
    assert done.code == 0
    assert ESCAPE not in done.out + same("show", "t", "--as", "ana@acme").out


def test_a_command_to_copy_is_whole_however_narrow_the_terminal(same: SameProgram) -> None:
    told = same("ask", ROTATE, "--as", "bea@acme", "--thread", "t", COLUMNS="40").out
    assert '--as bea@acme --edit call-2-0 \'{"key_id": "K-1012"}\'\n' in told
