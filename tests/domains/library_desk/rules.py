"""The desk's roles and its policy record: a librarian confirms, never the reader who asks."""

from datetime import UTC, datetime

from state.policy import Policy

READER = "reader"
STAFF = "librarian"

POLICIES = (
    Policy(
        version="desk-3",
        effective_from=datetime(2025, 9, 1, tzinfo=UTC),
        max_decisions=6,
        approver_roles=(STAFF,),
        values={"loan_days": 28, "fee_cents_per_day": 20},
    ),
)
