"""The policy records: every value that changes without the instructions changing. The newest effective one holds."""

from datetime import UTC, datetime

from state.policy import Policy

CURRENT = Policy(
    version="support-2025.1",
    effective_from=datetime(2025, 1, 1, tzinfo=UTC),
    max_decisions=8,
    approver_roles=("admin",),
    # An account admin confirms the change of an own key: confirming is a second, separate act.
    self_approval=True,
    values={"credit_limit": 50, "credit_currency": "EUR", "hours_until_a_person_replies": 4},
)

FUTURE = CURRENT.model_copy(
    update={
        "version": "support-2031.1",
        "effective_from": datetime(2031, 1, 1, tzinfo=UTC),
        "values": {"credit_limit": 80, "credit_currency": "EUR", "hours_until_a_person_replies": 2},
    }
)

POLICIES = (CURRENT, FUTURE)
