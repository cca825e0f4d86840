"""The steps of a case past the conversation: what they do, and what is told where there is nothing to do it on."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from evals.case import Case
from evals.dressing import StageWrong
from evals.judging import BOUNDARIES, Verdict, run_case
from evals.play import CRASHED, Played, play
from evals.stage import Stage, named_model, staged
from evals.turn import Turn
from state.work import Status
from tests.evals.conftest import RunCase

ROTATION = "rotation_confirmed_and_followed_up"
NOWHERE: dict[str, tuple[dict[str, Any], str]] = {
    "an edit that takes what is not there": (
        {"edit": {"after": "validate", "channels": {"verdicts": ["$verdicts.7.call_id"]}}},
        "'edit' was not possible: the thread has nothing at verdicts.7.call_id",
    ),
    "a fork of what never was": (
        {"fork": {"before": "execute", "at": "act/credit"}},
        "'fork' was not possible: the thread never stood before execute of act/credit",
    ),
    "a death before what does not come": (
        {"reject": "rotate_api_key", "dies_before": "execute"},
        "'rotate_api_key' was not possible: the run did not come to execute, before which the process was to die",
    ),
}


def followed_by(case: Case, *turns: dict[str, Any], **labels: Any) -> Case:
    """The case with other steps behind its input."""
    steps = tuple(Turn.model_validate(turn) for turn in turns)
    plain: dict[str, Any] = {"effects": (), "required_tools": (), "observed": {}, "final_state": (), "cites": ()}
    return case.model_copy(update={**plain, "turns": steps, **labels})


@contextmanager
def on_stage(case: Case, home: Path, library: Path) -> Iterator[Stage]:
    with staged(case, home, domain="domain", make_model=named_model("offline"), library=library) as stage:
        yield stage


@pytest.fixture
def rotation(cases: dict[str, Case]) -> Case:
    return cases[ROTATION]


@pytest.mark.parametrize("name", NOWHERE)
def test_a_step_that_finds_nothing_fails_a_reader_and_shows_nothing_of_an_attacker(
    judged: RunCase, rotation: Case, library: Path, tmp_path: Path, name: str
) -> None:
    step, why = NOWHERE[name]
    case = followed_by(rotation, step)
    failed = judged(case)
    assert (failed.verdict, "stopped with NothingThere" in failed.why) == (Verdict.FAIL, True)
    make = named_model("offline")
    blind = run_case(case, tmp_path / "blind", domain="domain", make_model=make, deciding=BOUNDARIES, library=library)
    assert (blind.verdict, blind.why) == (Verdict.INCONCLUSIVE, why)


def test_a_process_that_dies_before_a_node_has_done_all_before_it(
    rotation: Case, library: Path, tmp_path: Path
) -> None:
    case = followed_by(rotation, {"approve": "rotate_api_key", "dies_before": "execute"}, {"go_on": True})
    with on_stage(case, tmp_path / "home", library) as stage:
        played = play(stage)
    _, died, went_on = played.turns
    assert (died.stopped_by, died.status) == (CRASHED, None)
    assert went_on.status is Status.ANSWERED
    assert [run.tool for run in played.runs] == ["rotate_api_key"]
    assert played.unproved == ()


def test_what_happened_on_a_branch_that_was_left_is_seen_too(
    cases: dict[str, Case], library: Path, tmp_path: Path
) -> None:
    with on_stage(cases["another_amount_on_a_second_branch"], tmp_path / "home", library) as stage:
        played: Played = play(stage)
    acts = [decision for decision in played.decisions if decision.kind == "act"]
    assert len(acts) == 2
    assert acts[0].index == acts[1].index
    assert [effect.arguments["amount"] for effect in played.effects] == [30]
    assert (played.unproved, played.unreadable) == ((), "")


def test_the_directory_changes_for_those_who_are_named_and_from_then_on(
    rotation: Case, library: Path, tmp_path: Path
) -> None:
    case = followed_by(rotation, {"approve": "rotate_api_key", "roles": {"bea@acme": ["customer"]}})
    with on_stage(case, tmp_path / "home", library) as stage:
        before = stage.parts.domain.principal("bea@acme")
        play(stage)
        after = {name: stage.parts.domain.principal(name) for name in ("bea@acme", "vera@acme")}
    assert before is not None
    assert before.roles == ("admin",)
    assert [one.roles for one in after.values() if one] == [("customer",), ("supervisor",)]


def test_terms_that_no_contract_takes_are_told_by_case_and_tool(judged: RunCase, rotation: Case) -> None:
    fixture = rotation.fixture.model_copy(update={"terms": {"rotate_api_key": {"confirm": "perhaps"}}})
    with pytest.raises(StageWrong, match=rf"^{ROTATION}: fixture.terms.rotate_api_key: confirm: Input should be"):
        judged(rotation.model_copy(update={"fixture": fixture}))


def test_terms_that_the_domain_cannot_keep_are_told_before_anything_runs(judged: RunCase, rotation: Case) -> None:
    terms = {"issue_credit": {"limits": [{"parameter": "amount", "policy_key": "credit_for_all"}]}}
    fixture = rotation.fixture.model_copy(update={"terms": terms})
    with pytest.raises(StageWrong, match=rf"^{ROTATION}: .*issue_credit needs credit_for_all"):
        judged(rotation.model_copy(update={"fixture": fixture}))


def test_terms_and_policy_of_a_case_are_those_of_its_run_alone(rotation: Case, library: Path, tmp_path: Path) -> None:
    given = {"terms": {"rotate_api_key": {"confirm": False}}, "policy": {"credit_limit": 7}}
    case = rotation.model_copy(update={"fixture": rotation.fixture.model_copy(update=given)})
    with on_stage(case, tmp_path / "changed", library) as changed, on_stage(rotation, tmp_path / "own", library) as own:
        limits = [stage.parts.domain.policies[0].values["credit_limit"] for stage in (changed, own)]
        confirmed = [
            tool.contract.confirm
            for stage in (changed, own)
            for tool in stage.parts.domain.tools
            if tool.contract.name == "rotate_api_key"
        ]
    assert (limits, confirmed) == ([7, 30], [False, True])
