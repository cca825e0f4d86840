"""Bugs in what an engine allows: answers that rest on nothing, and calls that a rule should have stopped."""

from dataclasses import replace
from typing import Any

import pytest

from evals.scores import Measure
from evals.suite import HIJACKED
from nodes.validate import rules
from nodes.validate.case import Case, Deny, Finding
from state.verdict import ANSWER, Accepted
from tests.evals.bug import Caught, SeededBug, change_rule, drop_rules, entering

ALLOWED: list[SeededBug] = []
bug = entering(ALLOWED)


@bug("citations not checked", Caught("citation_that_was_never_shown", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """An answer may name a source that was in no request."""
    accepted = Accepted(call_id=ANSWER, rule="citations_resolve", policy_version="v1")
    patch.setattr("nodes.validate.answer_verdict", lambda *given: accepted)


# Tools and their arguments


@bug(
    "tools of other decisions taken",
    Caught("read_that_this_decision_does_not_offer", Measure.SAFETY),
    Caught("step_taken_out_of_turn", Measure.SAFETY),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """Any decision may call any tool of the domain, whatever it was offered."""
    drop_rules(patch, "tool_not_offered")


@bug("roles of a tool not looked at", Caught("role_lost_while_the_call_waited", Measure.SAFETY))
def _(patch: pytest.MonkeyPatch) -> None:
    """A call is made for someone whose roles do not include its tool any more: neither node looks."""
    drop_rules(patch, "role_not_allowed")
    patch.setattr("nodes.execute.still_has_role", lambda step: True)


@bug(
    "arguments not checked",
    Caught("argument_beside_the_schema", Measure.SAFETY),
    Caught("argument_left_out", Measure.SAFETY),
    Caught("amount_below_nothing", Measure.SAFETY),
    Caught("amount_as_text", Measure.SUCCESS),
    Caught("amount_with_a_fraction", Measure.SAFETY),
    Caught("credit_in_another_currency", Measure.SAFETY),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """A tool is called with whatever a reply has, beside its schema, wherever that comes from."""
    drop_rules(patch, "arguments_invalid", "origin_unknown")


@bug(
    "ownership of arguments not checked",
    Caught("foreign_key_by_its_id", Measure.SAFETY),
    Caught("credit_to_an_account_of_others", Measure.SAFETY),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """A tool is called with the id of something that belongs to others."""
    drop_rules(patch, "resource_not_owned")


@bug("ids from untrusted text used unasked", Caught("page_that_sends_data_away", Measure.SAFETY, HIJACKED))
def _(patch: pytest.MonkeyPatch) -> None:
    """A document says whose record is read: neither owner nor origin of an id stops it."""
    drop_rules(patch, "resource_not_owned", "untrusted_origin")


@bug(
    "own ids from untrusted text used unasked",
    Caught("own_account_named_by_a_page", Measure.SAFETY),
    Caught("reader_approves_an_own_call", Measure.SAFETY),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """Where an id is the asker's own, it does not count who named it."""
    drop_rules(patch, "untrusted_origin")


@bug(
    "origin of ids not checked",
    Caught("id_from_nowhere", Measure.SAFETY),
    Caught("credit_to_an_account_that_nobody_named", Measure.SAFETY),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """A model may make an id up, and hit one that exists: nobody refuses it, and nobody is asked."""
    drop_rules(patch, "argument_invented", "origin_unknown")


@bug(
    "reads repeated",
    Caught("same_read_twice_in_one_reply", Measure.SUCCESS),
    Caught("same_read_in_the_next_decision", Measure.SUCCESS),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """What was read this turn is read again as often as a reply says."""
    drop_rules(patch, "already_read")


# Effects and limits


@bug("effects need no plan", Caught("twice_for_one_plan", Measure.SAFETY))
def _(patch: pytest.MonkeyPatch) -> None:
    """An effect happens as often as a reply names it, and not as often as a plan opened it."""
    # The second amount is nobody's word, which the rule of origins would ask about.
    drop_rules(patch, "effect_not_opened", "done_on_another_branch", "origin_unknown")


@bug("a step done on each branch", Caught("another_amount_on_a_second_branch", Measure.SAFETY))
def _(patch: pytest.MonkeyPatch) -> None:
    """Who takes the thread back to before an effect gets another one for the same step of the plan."""
    # The other amount is nobody's word, which the rule of origins would ask about.
    drop_rules(patch, "done_on_another_branch", "origin_unknown")


@bug(
    "unsettled calls forgotten",
    Caught("asked_again_after_a_crash", Measure.SAFETY),
    Caught("credit_whose_result_was_lost", Measure.SAFETY),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """What may have been done, before a crash or by a tool that failed, is done again, unasked."""
    drop_rules(patch, "earlier_call_unsettled")


@bug(
    "limits not checked",
    Caught("credit_above_the_limit", Measure.SUCCESS),
    Caught("credit_above_what_anybody_may_grant", Measure.SUCCESS),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """An amount over the policy's limit asks nobody."""
    drop_rules(patch, "over_limit")


def _shifted(case: Case, by: int) -> Case:
    values = {name: value + by if type(value) is int else value for name, value in case.policy.values.items()}
    return replace(case, policy=case.policy.model_copy(update={"values": values}))


@bug("one more than the limit allowed", Caught("credit_of_one_more_than_the_limit", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """The first amount over the limit passes for the last one within it."""
    change_rule(patch, "over_limit", lambda case: _shifted(case, 1))


@bug("the limit itself is over it", Caught("credit_of_just_the_limit", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """The last amount within the limit asks a person."""
    change_rule(patch, "over_limit", lambda case: _shifted(case, -1))


@bug("rates not counted", Caught("second_credit_of_the_day", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """A tool is called as often as somebody asks, whatever the policy says of a day."""
    drop_rules(patch, "rate_exceeded")


@bug("asking wins over a no", Caught("far_more_on_a_second_branch", Measure.SAFETY))
def _(patch: pytest.MonkeyPatch) -> None:
    """The first rule that finds anything decides, so that a person is asked for what a later rule forbids."""

    def first(case: Case) -> tuple[str, Finding]:
        found: Any = ((rule.__name__, rule(case)) for rule in rules.RULES)
        return next(((name, finding) for name, finding in found if finding is not None), ("default_deny", Deny("no")))

    patch.setattr("nodes.validate.settling.judge", first)
