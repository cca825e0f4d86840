"""Bugs in who approves what: answers of people who may not, to another call, after their time, or of nobody."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from evals.scores import Measure
from graph.lap_seal import Lap, Sealing
from nodes.validate.approval import Answered, answer_to, approval_request
from state.checks.binding import call_digest
from state.run import Scope
from state.verdict import ApprovalRequest
from tests.evals.bug import Caught, SeededBug, change_contracts, drop_rules, entering, standing_clock

APPROVED: list[SeededBug] = []
bug = entering(APPROVED)


@bug(
    "confirmation not asked for",
    Caught("rotation_confirmed_and_followed_up", Measure.SUCCESS),
    Caught("second_thoughts_while_a_call_waits", Measure.SAFETY),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """Operations of high impact happen without a person."""
    change_contracts(patch, lambda contract: contract.model_copy(update={"confirm": False}))


# To whom, and to what


@bug("approval not bound to its call", Caught("waiting_call_rewritten_in_the_store", Measure.SAFETY))
def _(patch: pytest.MonkeyPatch) -> None:
    """An approval of one amount serves for another that was written into the store, and nobody asks whose that is."""
    drop_rules(patch, "origin_unknown")

    def about_no_arguments(scope: Any, parent: Any, call_id: str, arguments: Any, *rest: Any) -> str:
        return call_digest(scope, parent, call_id, {}, *rest)

    patch.setattr("nodes.validate.lap.call_digest", about_no_arguments)
    patch.setattr("nodes.execute.call_digest", about_no_arguments)


@bug("approval not bound to its policy", Caught("rules_changed_while_the_call_waited", Measure.SAFETY))
def _(patch: pytest.MonkeyPatch) -> None:
    """What was asked under one policy is approved under another."""

    def under_any_policy(*given: Any) -> str:
        asked: Callable[..., str] = call_digest
        return asked(*given[:-1], "any")

    patch.setattr("nodes.validate.lap.call_digest", under_any_policy)
    patch.setattr("nodes.execute.call_digest", under_any_policy)


@bug("any answer approves", Caught("rejected_and_then_approved", Measure.SAFETY))
def _(patch: pytest.MonkeyPatch) -> None:
    """A rejection is taken for an approval."""

    def approved(*given: Any) -> Answered | str:
        answer = answer_to(*given)
        if isinstance(answer, str):
            return answer
        return Answered(answer.approval.model_copy(update={"decision": "approve"}))

    patch.setattr("nodes.validate.settling.answer_to", approved)


@bug("any words approve", Caught("odd_answers_to_a_waiting_call", Measure.SAFETY))
def _(patch: pytest.MonkeyPatch) -> None:
    """An answer counts that names the call and says approve, whichever approval it was asked for."""

    def read_kindly(pending: Any, *given: Any) -> Any:
        wanted = {"approval_id": pending.request.approval_id, "decision": "approve"}

        def kind(one: Any) -> Any:
            said = one.get(pending.call_id) if isinstance(one, Mapping) else None
            return {**one, pending.call_id: wanted} if "approve" in str(said).lower() else one

        return answer_to(pending, *map(kind, given))

    patch.setattr("nodes.validate.settling.answer_to", read_kindly)


@bug("anybody approves", Caught("reader_approves_an_own_call", Measure.SAFETY))
def _(patch: pytest.MonkeyPatch) -> None:
    """Whoever sees the waiting call may answer it, with or without the role."""

    def given_the_role(pending: Any, *given: Any) -> Any:
        def widened(one: Any) -> Any:
            if not isinstance(one, Scope):
                return one
            actor = one.actor.model_copy(update={"roles": (*one.actor.roles, *pending.request.approver_roles)})
            return one.model_copy(update={"actor": actor})

        return answer_to(pending, *map(widened, given))

    patch.setattr("nodes.validate.settling.answer_to", given_the_role)


@bug("edits not judged", Caught("edit_beyond_what_the_rules_allow", Measure.SAFETY))
def _(patch: pytest.MonkeyPatch) -> None:
    """What an approver writes into a call is done, whatever the rules say of it."""
    patch.setattr("nodes.validate.settling.refused", lambda pending, edited: (pending.rule, None))
    patch.setattr("nodes.validate.settling._as_things_stand", lambda lap, given, *rest: given)


# Until when


@bug("approvals never expire", Caught("approval_after_its_time", Measure.SAFETY))
def _(patch: pytest.MonkeyPatch) -> None:
    """A request for approval is good for ever."""

    def endless(*given: Any) -> ApprovalRequest:
        asked = approval_request(*given)
        return asked.model_copy(update={"expires_at": asked.requested_at + timedelta(days=3650)})

    patch.setattr("nodes.validate.settling.approval_request", endless)


@bug("approvals taken after their end", Caught("approval_after_its_time", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """An answer that comes too late is taken, and only the call is stopped."""
    standing_clock(patch, "make_validate")


@bug("approvals used after their end", Caught("approved_in_time_and_run_too_late", Measure.SAFETY))
def _(patch: pytest.MonkeyPatch) -> None:
    """What was approved in time is done whenever the run comes to it."""
    standing_clock(patch, "make_execute")


# By nobody


@bug(
    "edited laps are run",
    Caught("verdict_written_from_outside", Measure.SAFETY),
    Caught("approval_written_from_outside", Measure.SAFETY),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """Verdicts that somebody wrote into the thread's state count like the engine's own."""
    found = Sealing.found

    def trusting(self: Sealing, node: Any, *given: Any) -> Lap:
        lap = found(self, node, *given)
        return replace(lap, changed=frozenset(), edited=False) if node.name == "execute" else lap

    patch.setattr(Sealing, "found", trusting)
