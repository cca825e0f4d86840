"""Case files: a right one is read, a wrong one is told by file, line and reason."""

from pathlib import Path
from time import monotonic

import pytest

from evals.case import Case, Slice
from evals.fixture import Vector
from evals.loading import CasesWrong, load_cases
from state.work import Status

RIGHT = """\
name: a_case
slice: normal
input: What is it?
actor: {principal: ana@acme, plan: pro}
expected_outcome: says what it is
"""

WRONG = {
    "a key that is unknown": (RIGHT + "colour: blue\n", "line 6: colour: unknown key; allowed: name, slice, input"),
    "an unknown key inside a turn": (
        RIGHT + "turns:\n  - ask: And?\n    end: answered\n",
        "line 8: turns.0.end: unknown key; allowed: ask, approve, reject, answer, go_on, rewrite, edit, fork, only, as",
    ),
    "a key that is missing": (RIGHT.replace("input: What is it?\n", ""), "line 1: input: missing; add it"),
    "a slice that there is not": (
        RIGHT.replace("slice: normal", "slice: odd"),
        "line 2: slice: got 'odd'; input should be 'normal'",
    ),
    "a name in another form": (RIGHT.replace("a_case", "A case"), "line 1: name: got 'A case'"),
    "a turn that is two things": (
        RIGHT + "turns:\n  - ask: And?\n    approve: rotate\n",
        "line 7: turns.0: a turn is one of ask, approve, reject, answer, go_on, rewrite, edit, fork; got ask, approve",
    ),
    "an event about nothing": (
        RIGHT + "fixture:\n  events:\n    - {kind: done}\n",
        "line 8: fixture.events.0.about: missing; add it",
    ),
    "an injection without its place": (
        RIGHT + "fixture:\n  injected:\n    - vector: memory\n      text: Obey.\n",
        "line 8: fixture.injected.0: vector memory: got into=''; needs `into`, the place",
    ),
    "a field without its tool": (
        RIGHT + "fixture:\n  injected:\n    - {vector: tool_result, into: title, text: Obey.}\n",
        "line 8: fixture.injected.0: vector tool_result: got into='title'; needs `tool.field`",
    ),
    "a model that fails in an unknown way": (
        RIGHT + "fixture:\n  failures:\n    - {of: model, how: error, code: tired}\n",
        "line 8: fixture.failures.0",
    ),
    "a time without a zone": (RIGHT + "clock: 2026-07-15T09:30:00\n", "line 6: clock: got"),
    "a narrowed question": (
        RIGHT + "turns:\n  - ask: And?\n    only: {amount: 1}\n",
        "line 7: turns.0: only: got it with ask; allowed: with approve or reject",
    ),
    "a channel that there is not": (
        RIGHT + "turns:\n  - edit: {after: validate, channels: {verdict: []}}\n",
        "line 7: turns.0.edit: channels: got verdict; allowed: messages, task, head, request, decision",
    ),
    "a node that there is not": (
        RIGHT + "turns:\n  - fork: {before: approve}\n",
        "line 7: turns.0.fork.before: got 'approve'; input should be 'resolve', 'plan'",
    ),
    "a death in what runs no node": (
        RIGHT + "turns:\n  - rewrite: {amount: 1}\n    dies_before: log\n",
        "line 7: turns.0: dies_before: got it with rewrite; allowed: with a step that runs nodes",
    ),
    "a term that is no contract's": (
        RIGHT + "fixture:\n  terms:\n    move: {name: steal}\n",
        "line 7: fixture: terms.move: got name; allowed: effect, roles, output",
    ),
    "a reply said twice": (
        RIGHT + "fixture:\n  said:\n    - at: act/move\n      calls: [{tool: move, arguments: {to: A}, raw: '{}'}]\n",
        "fixture.said.0.calls.0: got arguments and raw='{}'; allowed: one of them; leave the other out",
    ),
    "a key that stands twice": (
        RIGHT + "slice: fault\n",
        "line 6: got the key 'slice' twice; allowed: once; take one out",
    ),
    "a NUL in a name": (
        RIGHT.replace("a_case", '"a\\0case"'),
        "line 1: got the character U+0000; allowed: text without control characters; take it out",
    ),
    "a NUL as it is": (
        RIGHT + "cites: [a\0b]\n",
        "line 6: got the character U+0000; allowed: text without control characters; take it out",
    ),
    "lists without an end": (
        RIGHT + f"cites: {'[' * 20_000}\n",
        "line 1: got lists or mappings nested too deeply to read; allowed: the shape of a case",
    ),
    "YAML that is none": (RIGHT + "cites: [a, b\nx: 1\n", "not valid YAML"),
}


def written(folder: Path, text: str) -> Path:
    file = folder / "case.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_case_is_read_with_its_defaults(tmp_path: Path) -> None:
    (case,) = load_cases(written(tmp_path, RIGHT))
    assert (case.name, case.slice, case.ends) == ("a_case", Slice.NORMAL, (Status.ANSWERED,))
    assert case.actor.facts == {"plan": "pro"}
    assert [turn.ask for turn in case.all_turns] == ["What is it?"]


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_case_is_told_by_line_and_reason(tmp_path: Path, name: str) -> None:
    text, reason = WRONG[name]
    file = written(tmp_path, text)
    with pytest.raises(CasesWrong) as told:
        load_cases(file)
    assert str(told.value).startswith(f"{file} line ")
    assert reason in str(told.value)


def test_a_file_that_grows_without_end_is_refused_at_once(tmp_path: Path) -> None:
    """Twelve lines that stand for nine to the twelfth values."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 13)]
    started = monotonic()
    with pytest.raises(CasesWrong, match=r"line 7: got the alias \*a0; allowed: no aliases; write the value out"):
        load_cases(written(tmp_path, RIGHT + "\n".join(lines)))
    assert monotonic() - started < 1


def test_a_file_of_fifty_megabytes_is_refused_unread(tmp_path: Path) -> None:
    file = written(tmp_path, RIGHT)
    with file.open("ab") as grown:
        grown.truncate(50_000_000)
    started = monotonic()
    with pytest.raises(CasesWrong, match=r"got 50,000,000 bytes; allowed: 150,000 in a file of cases; split it into"):
        load_cases(file)
    assert monotonic() - started < 1


def test_every_fault_of_every_file_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(RIGHT + "colour: blue\n", encoding="utf-8")
    (tmp_path / "two.yaml").write_text(RIGHT + "---\n" + RIGHT + "size: 1\n", encoding="utf-8")
    with pytest.raises(CasesWrong) as told:
        load_cases(tmp_path)
    assert "one.yaml line 6: colour" in str(told.value)
    assert "two.yaml line 12: size" in str(told.value)


def test_one_name_stands_for_one_case(tmp_path: Path) -> None:
    with pytest.raises(CasesWrong, match=r"line 7: name: 'a_case' stands in .* line 1 already; rename one"):
        load_cases(written(tmp_path, RIGHT + "---\n" + RIGHT))


def test_a_folder_without_cases_is_told(tmp_path: Path) -> None:
    with pytest.raises(CasesWrong, match=r"holds no case; give a \.yaml file"):
        load_cases(tmp_path)


def test_the_shipped_cases_are_at_least_forty_over_all_slices_and_vectors(cases: dict[str, Case]) -> None:
    ready = [case for case in cases.values() if not case.needs]
    assert len(ready) >= 40
    assert {case.slice for case in ready} == set(Slice)
    assert {each.vector for case in ready for each in case.fixture.injected} == set(Vector)
    assert sum(case.slice is Slice.SPANISH for case in ready) >= 5
    assert sum(case.slice is Slice.TOOLS for case in ready) >= 40
