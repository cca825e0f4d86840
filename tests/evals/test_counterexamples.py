"""Every case that names a guard fails where the guard is taken out, and passes where it stands (E1)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from evals.case import Case, Slice
from evals.judging import Verdict
from evals.scores import Measure
from evals.stage import Parts, Wiring
from graph.domain_loading import load_domain
from state.contract import Effect
from state.domain import Domain
from state.ports import Clock
from state.tools import Tool
from state.work import DecisionKind, DecisionSpec
from tests.evals.bug import drop_rules
from tests.evals.conftest import RunCase
from tests.evals.seeded_bugs import BUGS
from tests.evals.test_seeded_bugs import failing

TakeOut = Callable[[pytest.MonkeyPatch], tuple[Wiring, ...]]


@dataclass(frozen=True)
class Counterexample:
    """How a case's guard is taken out, and a measure by which the case fails then."""

    take_out: TakeOut
    measure: Measure


def _specs(parts: Parts, changed: Callable[[DecisionSpec], DecisionSpec]) -> Parts:
    table = parts.domain.table
    specs = tuple(changed(spec) for spec in table.specs)
    return replace(parts, domain=replace(parts.domain, table=table.model_copy(update={"specs": specs})))


def stuffed_window(patch: pytest.MonkeyPatch) -> tuple[Wiring, ...]:
    """Whatever was found goes in."""

    def wire(parts: Parts) -> Parts:
        return _specs(parts, lambda spec: spec.model_copy(update={"evidence_limit": 20 if spec.evidence_limit else 0}))

    return (wire,)


def retrieval_for_everything(patch: pytest.MonkeyPatch) -> tuple[Wiring, ...]:
    """No tool reads a record any more: what a system owns can be had from documents only."""

    def wire(parts: Parts) -> Parts:
        tools = tuple(
            replace(tool, contract=tool.contract.model_copy(update={"roles": ()}))
            if tool.contract.effect is Effect.READ
            else tool
            for tool in parts.domain.tools
        )
        return replace(parts, domain=replace(parts.domain, tools=tools))

    return (wire,)


def one_call_for_every_stage(patch: pytest.MonkeyPatch) -> tuple[Wiring, ...]:
    """What gathers may do everything, is told everything, and needs no plan before."""

    def wire(parts: Parts) -> Parts:
        tools = tuple(tool.contract.name for tool in parts.domain.tools)
        sections = tuple(section.name for section in parts.domain.instructions)

        def whole(spec: DecisionSpec) -> DecisionSpec:
            changed = {"tools": tools, "instructions": sections}
            return spec.model_copy(update=changed if spec.kind is DecisionKind.GATHER else {})

        return _specs(parts, whole)

    drop_rules(patch, "effect_not_opened", "done_on_another_branch", "origin_unknown")
    return (wire,)


def only_the_prose_is_true(patch: pytest.MonkeyPatch) -> tuple[Wiring, ...]:
    """The tool says that it did what it is for, in the words it always uses, and does nothing."""

    def lying(name: str, folder: Path, clock: Clock) -> Domain:
        domain = load_domain(name, folder, clock)

        def claims(context: Any, *, key_id: str) -> dict[str, Any]:
            return {
                "account_id": "A-124",
                "key_id": key_id,
                "new_key_id": "K-9999",
                "status": "rotated",
                "rotated_at": context.now.isoformat(),
            }

        tools = tuple(
            Tool(tool.contract, claims) if tool.contract.name == "rotate_api_key" else tool for tool in domain.tools
        )
        return replace(domain, tools=tools)

    patch.setattr("evals.stage.load_domain", lying)
    return ()


COUNTEREXAMPLES: Mapping[str, Counterexample] = {
    "stuffed_window": Counterexample(stuffed_window, Measure.PRECISION),
    "number_that_the_record_owns": Counterexample(retrieval_for_everything, Measure.SUCCESS),
    "one_call_for_every_stage": Counterexample(one_call_for_every_stage, Measure.SAFETY),
    "fine_words_whatever_was_done": Counterexample(only_the_prose_is_true, Measure.SUCCESS),
}

# These guards are of the engine: the seeded bug that takes each out is run by test_seeded_bugs.py.
BY_BUG: Mapping[str, str] = {
    "memory_that_never_ends": "memory that has ended is shown",
    "memory_that_ends_between_two_turns": "memory that has ended is shown",
    "memory_of_a_colleague": "memory of any subject",
    "fact_of_the_user_answers": "memory never loads",
    "recuerdo_en_espanol": "memory never loads",
    "fact_that_bears_on_the_question": "relevance of memories not looked at",
    "guess_is_no_fact": "guesses shown as facts",
    "memory_that_was_contradicted": "contradictions pile up",
    "result_that_would_be_remembered": "untrusted text is remembered",
    "sentence_that_the_user_states": "own words kept as a guess",
    "preference_remembered_corrected_and_forgotten": "memories are not written",
    "citation_that_was_never_shown": "citations not checked",
    "id_from_nowhere": "origin of ids not checked",
    "twice_for_one_plan": "effects need no plan",
    "document_that_forges_our_blocks": "markers not escaped",
    "documento_con_letras_ocultas": "hidden characters kept",
    "own_words_that_widen_a_plan": "plan decisions admit what others wrote",
    "ticket_note_that_plans_a_credit": "plan decisions admit what others wrote",
    "foreign_key_by_its_id": "ownership of arguments not checked",
    "waiting_call_rewritten_in_the_store": "approval not bound to its call",
    "right_page_behind_a_crowd": "access filter after the ranking",
    "crash_between_the_credit_and_its_record": "claims not looked at",
    "credit_finished_after_a_crash": "a new key for each try",
    "asked_again_after_a_crash": "unsettled calls forgotten",
    "approval_after_its_time": "approvals never expire",
    "read_that_this_decision_does_not_offer": "tools of other decisions taken",
    "step_taken_out_of_turn": "tools of other decisions taken",
    "role_lost_while_the_call_waited": "roles of a tool not looked at",
    "argument_beside_the_schema": "arguments not checked",
    "argument_left_out": "arguments not checked",
    "amount_below_nothing": "arguments not checked",
    "amount_as_text": "arguments not checked",
    "amount_with_a_fraction": "arguments not checked",
    "credit_in_another_currency": "arguments not checked",
    "credit_to_an_account_of_others": "ownership of arguments not checked",
    "credit_to_an_account_that_nobody_named": "origin of ids not checked",
    "own_account_named_by_a_page": "own ids from untrusted text used unasked",
    "credit_of_just_the_limit": "the limit itself is over it",
    "credit_of_one_more_than_the_limit": "one more than the limit allowed",
    "odd_answers_to_a_waiting_call": "any words approve",
    "reader_approves_an_own_call": "anybody approves",
    "rules_changed_while_the_call_waited": "approval not bound to its policy",
    "approved_in_time_and_run_too_late": "approvals used after their end",
    "approval_written_from_outside": "edited laps are run",
    "verdict_written_from_outside": "edited laps are run",
    "another_amount_on_a_second_branch": "a step done on each branch",
    "same_credit_on_a_second_branch": "claims not looked at",
    "far_more_on_a_second_branch": "asking wins over a no",
    "same_read_twice_in_one_reply": "reads repeated",
    "same_read_in_the_next_decision": "reads repeated",
    "credit_whose_result_was_lost": "unsettled calls forgotten",
    "field_that_no_contract_lets_through": "whole results shown",
    "edit_beyond_what_the_rules_allow": "edits not judged",
    "second_credit_of_the_day": "rates not counted",
    "result_that_the_contract_does_not_know": "any result passes",
    "skill_loaded_only_where_it_matches": "every skill matches",
    "pagina_semanal": "no skill matches",
    "credit_worked_out_by_the_script": "no skill matches",
    "amount_of_a_script_is_nobodys_word": "output of scripts trusted",
    "files_outside_a_skill": "skill files by path",
    "changed_skill_is_blocked": "lock of skills not asked",
    "skill_that_nobody_reviewed": "lock of skills not asked",
    "tool_of_a_server_changes_its_words": "changed tools of servers used",
    "write_at_a_server_is_lost": "lost writes count as failed",
}

# What E1 calls anti-patterns, and the counterexample of each.
ANTI_PATTERNS = {
    "stuffed window": "stuffed_window",
    "retrieval for everything": "number_that_the_record_owns",
    "unbounded memory": "memory_that_never_ends",
    "one call for every stage": "one_call_for_every_stage",
    "schema taken for correctness": "id_from_nowhere",
    "only the final prose graded": "fine_words_whatever_was_done",
}


@pytest.mark.parametrize("name", COUNTEREXAMPLES)
def test_with_its_guard_the_case_passes_and_without_it_fails(
    judged: RunCase, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    example = COUNTEREXAMPLES[name]
    guarded = judged(name)
    assert (guarded.verdict, guarded.why) == (Verdict.PASS, "")
    without = judged(name, wirings=example.take_out(monkeypatch))
    assert without.verdict is Verdict.FAIL
    assert example.measure in failing(without), without.why


def test_every_case_with_a_guard_has_its_counterexample(cases: dict[str, Case]) -> None:
    guarded = {case.name for case in cases.values() if case.guard and not case.needs}
    assert guarded == COUNTEREXAMPLES.keys() | BY_BUG.keys()
    caught = {bug.name: {caught.case for caught in bug.caught} for bug in BUGS}
    assert all(case in caught[bug] for case, bug in BY_BUG.items())


def test_every_anti_pattern_has_a_case(cases: dict[str, Case]) -> None:
    assert {cases[name].slice for name in ANTI_PATTERNS.values()} == {Slice.ANTIPATTERN}
    assert set(ANTI_PATTERNS.values()) <= COUNTEREXAMPLES.keys() | BY_BUG.keys()


def test_a_tool_that_only_claims_is_seen_in_the_world_alone(judged: RunCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """Record, ledger and answer say that it was done: what fails is the look at the world."""
    result = judged("fine_words_whatever_was_done", wirings=only_the_prose_is_true(monkeypatch))
    (why,) = result.why.removeprefix(f"{Measure.SUCCESS}: ").split("; ")
    assert "shows" in why


def test_what_a_stuffed_window_costs_is_told(judged: RunCase, monkeypatch: pytest.MonkeyPatch) -> None:
    result = judged("stuffed_window", wirings=stuffed_window(monkeypatch))
    assert Measure.EFFICIENCY in failing(result), result.why
