"""The policy records: every value that changes without the instructions changing. The newest effective one holds.

Confirming and approving differ. An account admin confirms the change of an own key: a second, separate act of the
same person, so `self_approval` is on. A credit over the limit needs somebody else: the record names the role, and the
tool itself refuses a credit that its own issuer approved.
"""

from datetime import UTC, datetime

from domain.ownership import ADMIN, SUPERVISOR
from state.memory import MemoryTerms, MemoryTopic
from state.policy import Policy, Retention

CONVERSATION_DAYS, MEMORY_DAYS = 90, 365
MEMORY_PURPOSE = "support"

# What people may have remembered of themselves (S6): nothing else is kept, whoever asks for it.
TOPICS = {
    "contact": MemoryTopic(
        purpose=MEMORY_PURPOSE, serves="answer/explain", basis="asked for", fact_days=180, hypothesis_days=30
    ),
    "exports": MemoryTopic(
        purpose=MEMORY_PURPOSE,
        serves="gather/diagnose",
        basis="contract",
        fact_days=180,
        hypothesis_days=30,
        review_days=90,
        several=True,
    ),
    "answers": MemoryTopic(
        purpose=MEMORY_PURPOSE, serves="answer/explain", basis="asked for", fact_days=365, hypothesis_days=30
    ),
}

CURRENT = Policy(
    version="support-2025.1",
    effective_from=datetime(2025, 1, 1, tzinfo=UTC),
    max_decisions=8,
    approver_roles=(ADMIN, SUPERVISOR),
    self_approval=True,
    link_hosts=("api.example.com", "servicio.example"),
    retention=Retention(conversation_days=CONVERSATION_DAYS, memory_days=MEMORY_DAYS),
    memory=MemoryTerms(topics=TOPICS, keeper_roles=(SUPERVISOR,)),
    values={
        "credit_limit": 50,
        "credit_currency": "EUR",
        "credit_approver_role": SUPERVISOR,
        "credits_per_day": 20,
        "rotations_per_hour": 10,
        "key_change_confirmed_by": ADMIN,
        "hours_until_a_person_replies": 4,
        "days_tickets_are_kept": 730,
        "days_conversations_are_kept": CONVERSATION_DAYS,
    },
)

# No longer in force: kept, because a record names the version that it was judged by.
BEFORE = CURRENT.model_copy(
    update={
        "version": "support-2023.2",
        "effective_from": datetime(2023, 7, 1, tzinfo=UTC),
        "max_decisions": 6,
        "values": CURRENT.values
        | {"credit_limit": 30, "hours_until_a_person_replies": 8, "days_tickets_are_kept": 365},
    }
)

FUTURE = CURRENT.model_copy(
    update={
        "version": "support-2031.1",
        "effective_from": datetime(2031, 1, 1, tzinfo=UTC),
        "retention": Retention(conversation_days=60, memory_days=MEMORY_DAYS),
        "values": CURRENT.values
        | {"credit_limit": 80, "hours_until_a_person_replies": 2, "days_conversations_are_kept": 60},
    }
)

POLICIES = (BEFORE, CURRENT, FUTURE)
