"""Bugs in what an engine lets happen: calls that no rule allows, approvals that nobody gave, effects done twice."""

from datetime import datetime, timedelta
from functools import cached_property
from typing import Any
from uuid import uuid4

import pytest

from evals.scores import Measure
from evals.suite import HIJACKED
from graph.stores.ledger import SqlLedger
from nodes.execute.step import Step
from nodes.validate.approval import answer_to, approval_request
from state.checks.binding import call_digest
from state.ports import Claim, Claimed
from state.verdict import ANSWER, Accepted, Approval, ApprovalRequest
from tests.evals.bug import Caught, SeededBug, change_contracts, drop_rules, entering

DONE: list[SeededBug] = []
bug = entering(DONE)


@bug("citations not checked", Caught("citation_that_was_never_shown", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """An answer may name a source that was in no request."""
    accepted = Accepted(call_id=ANSWER, rule="citations_resolve", policy_version="v1")
    patch.setattr("nodes.validate.answer_verdict", lambda *given: accepted)


@bug("ownership of arguments not checked", Caught("foreign_key_by_its_id", Measure.SAFETY))
def _(patch: pytest.MonkeyPatch) -> None:
    """A tool is called with the id of something that belongs to others."""
    drop_rules(patch, "resource_not_owned")


@bug("ids from untrusted text used unasked", Caught("page_that_sends_data_away", Measure.SAFETY, HIJACKED))
def _(patch: pytest.MonkeyPatch) -> None:
    """A document says whose record is read: neither owner nor origin of an id stops it."""
    drop_rules(patch, "resource_not_owned", "untrusted_origin")


@bug("origin of ids not checked", Caught("id_from_nowhere", Measure.SAFETY))
def _(patch: pytest.MonkeyPatch) -> None:
    """A model may make an id up, and hit one that exists."""
    drop_rules(patch, "argument_invented")


@bug("effects need no plan", Caught("twice_for_one_plan", Measure.SAFETY))
def _(patch: pytest.MonkeyPatch) -> None:
    """An effect happens as often as a reply names it, and not as often as a plan opened it."""
    drop_rules(patch, "effect_not_opened", "done_on_another_branch")


@bug("limits not checked", Caught("credit_above_the_limit", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """An amount over the policy's limit asks nobody."""
    drop_rules(patch, "over_limit")


@bug("unsettled calls forgotten", Caught("asked_again_after_a_crash", Measure.SAFETY))
def _(patch: pytest.MonkeyPatch) -> None:
    """What may have been done before a crash is done again, unasked."""
    drop_rules(patch, "earlier_call_unsettled")


# Approvals


@bug(
    "confirmation not asked for",
    Caught("rotation_confirmed_and_followed_up", Measure.SUCCESS),
    Caught("second_thoughts_while_a_call_waits", Measure.SAFETY),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """Operations of high impact happen without a person."""
    change_contracts(patch, lambda contract: contract.model_copy(update={"confirm": False}))


@bug("approval not bound to its call", Caught("waiting_call_rewritten_in_the_store", Measure.SAFETY))
def _(patch: pytest.MonkeyPatch) -> None:
    """An approval of one amount serves for another that was written into the store."""

    def about_no_arguments(scope: Any, parent: Any, call_id: str, arguments: Any, *rest: Any) -> str:
        return call_digest(scope, parent, call_id, {}, *rest)

    patch.setattr("nodes.validate.call_digest", about_no_arguments)
    patch.setattr("nodes.execute.call_digest", about_no_arguments)


@bug("approvals never expire", Caught("approval_after_its_time", Measure.SAFETY))
def _(patch: pytest.MonkeyPatch) -> None:
    """A request for approval is good for ever."""

    def endless(bound: str, reason: str, policy: Any, now: datetime) -> ApprovalRequest:
        asked = approval_request(bound, reason, policy, now)
        return asked.model_copy(update={"expires_at": now + timedelta(days=3650)})

    patch.setattr("nodes.validate.approval_request", endless)


@bug("any answer approves", Caught("rejected_and_then_approved", Measure.SAFETY))
def _(patch: pytest.MonkeyPatch) -> None:
    """A rejection is taken for an approval."""

    def approved(*given: Any) -> Approval | str:
        answer = answer_to(*given)
        return answer if isinstance(answer, str) else answer.model_copy(update={"decision": "approve"})

    patch.setattr("nodes.validate.answer_to", approved)


# Effects


@bug(
    "claims not looked at",
    Caught("crash_between_the_credit_and_its_record", Measure.SAFETY),
    Caught("crash_between_the_credit_and_its_record", Measure.RECOVERABILITY),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """Whoever finds an effect begun begins it again."""
    claim = SqlLedger.claim

    def fresh(self: SqlLedger, wanted: Claim, at: datetime) -> Claimed:
        claim(self, wanted, at)
        return Claimed(fresh=True, state="open")

    patch.setattr(SqlLedger, "claim", fresh)


@bug("a new key for each try", Caught("credit_finished_after_a_crash", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """An effect is not known again, since it has another name at each try: its step counts as spent by another."""

    class Renamed(Step):
        @cached_property
        def key(self) -> str:
            return uuid4().hex

    patch.setattr("nodes.execute.Step", Renamed)
