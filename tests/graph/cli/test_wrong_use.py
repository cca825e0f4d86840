"""A wrong call: one line that says what was got, what is allowed and what to do; exit 2; nothing written."""

from pathlib import Path

import pytest

from tests.graph.cli.conftest import SameProgram, one_line_error


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["frob"], "No such command 'frob'"),
        (["ask", "hi"], "Missing option '--as'; see `agent ask --help`"),
        (["ask", "--as", "ana@acme"], "Missing argument"),
        (["ask", "hi", "--as", "ana@acme", "--bogus"], "No such option: --bogus"),
        (["resume", "t", "--as", "ana@acme", "--approve", "c", "--reject", "c"], "allowed: one answer per call"),
        (["draw", "--write", "--check"], "allowed: one of them"),
    ],
)
def test_a_call_that_cannot_be(same: SameProgram, arguments: list[str], said: str) -> None:
    assert said in one_line_error(same(*arguments), 2)


def test_with_json_an_error_is_one_object_and_stderr_is_empty(same: SameProgram) -> None:
    done = same("ask", "hi", "--json")
    assert (done.code, done.err) == (2, "")
    found = done.json()
    assert set(found) == {"error", "status"}
    assert found["status"] == "failed"


@pytest.mark.parametrize(
    ("arguments", "given", "said"),
    [
        (["ask", "hi", "--as", "zoe@acme", "--thread", "t"], "", "got principal 'zoe@acme'"),
        (["ask", "  ", "--as", "ana@acme", "--thread", "t"], "", "got an empty question; allowed: 1 to"),
        (["ask", "-", "--as", "ana@acme", "--thread", "t"], "x" * 1_000_000, "got a question of 1000000 characters"),
        (["ask", "hi", "--as", "ana@acme", "--thread", ""], "", "got a thread name of 0 characters; allowed: 1 to"),
        (
            ["ask", "hi", "--as", "ana@acme", "--model", "gpt"],
            "",
            "allowed: offline, hijacked, openai, replay",
        ),
        (
            ["show", "first", "--as", "ana@acme", "--decision", "2"],
            "",
            "got --decision 2; allowed on thread first: 0 to 1",
        ),
        (["resume", "first", "--as", "ana@acme"], "", "got no answer; pending on this thread: nothing"),
        (["resume", "first", "--as", "ana@acme", "--approve", "c"], "", "got call c; pending on this thread: nothing"),
    ],
    ids=["principal", "empty", "long", "no name", "model", "no decision", "no answer", "no such call"],
)
def test_a_call_that_is_refused_leaves_nothing(same: SameProgram, arguments: list[str], given: str, said: str) -> None:
    before = same.threads()
    assert said in one_line_error(same(*arguments, given=given), 2)
    assert same.threads() == before


def test_someone_elses_thread_and_an_unknown_one_get_the_same_words(same: SameProgram) -> None:
    foreign = one_line_error(same("show", "first", "--as", "omar@globex"), 2)
    assert one_line_error(same("ask", "hi", "--as", "omar@globex", "--thread", "first"), 2) == foreign
    assert one_line_error(same("show", "none", "--as", "omar@globex"), 2) == foreign.replace("first", "none")


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "t", "--as", "ana@acme"],
        ["resume", "t", "--approve", "c", "--as", "ana@acme"],
        ["verify", "t", "--as", "ana@acme"],
        ["replay", "t", "0", "--as", "ana@acme"],
        ["explain", "t", "0", "--as", "ana@acme"],
        ["diff", "t", "0", "1", "--as", "ana@acme"],
        ["prefix", "t", "--as", "ana@acme"],
        ["forget", "--subject", "ana"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_what_was_filed_is_not_looked_for_in_a_home_made_for_it(
    same: SameProgram, tmp_path: Path, arguments: list[str]
) -> None:
    elsewhere = same.elsewhere(tmp_path / "nobodys")
    said = one_line_error(elsewhere(*arguments), 2)
    assert "nobodys; allowed: a folder that `agent ask` or `agent chat` has filed to; start where it lies" in said
    assert not (tmp_path / "nobodys").exists()
