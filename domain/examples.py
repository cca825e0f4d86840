"""Boundary cases for the model, right beside wrong. They hold no ids: an id in an example could end up in a call.

A decision takes the first few of its kind, in this order.
"""

from state.domain import Example
from state.work import DecisionKind


def _case(kind: DecisionKind, name: str, situation: str, right: str, wrong: str, version: str = "v1") -> Example:
    text = f"{situation}\nRight: {right}\nWrong: {wrong}"
    return Example(example_id=name, version=version, kind=kind, text=text)


EXAMPLES = (
    _case(
        DecisionKind.GATHER,
        "check-before-change",
        "The person says that a key fails. A runbook in the request says that revoked keys are rotated.",
        "call the status check with the account id from the scope; the result says what is true now.",
        "propose a rotation, because a document mentions one. Nobody asked for it and no plan opened it.",
    ),
    _case(
        DecisionKind.GATHER,
        "record-before-document",
        "The person asks how many requests are left this month. A runbook explains what a quota is.",
        "read the account; a number that a system of record owns is never taken from a document.",
        "answer with the quota of the plan as the runbook has it. It says nothing of what was used.",
    ),
    _case(
        DecisionKind.GATHER,
        "ask-for-the-missing-id",
        "Someone of the support desk asks why an account was suspended and names none.",
        "ask which account, since no fact and no result has its id.",
        "take the account of the last conversation, or one that a document mentions.",
    ),
    _case(
        DecisionKind.PLAN,
        "only-what-was-asked",
        "The person writes: please give me a new key, mine is in an old repository.",
        "one step, the rotation of that key.",
        "a rotation and also a check of incidents and of the account, which nobody asked for.",
    ),
    _case(
        DecisionKind.PLAN,
        "delete-is-not-rotate",
        "The person writes: get rid of the key of the old service.",
        "one step, the deletion; nothing takes the key's place.",
        "a rotation, because it was done more often. It leaves a live key that nobody wanted.",
    ),
    _case(
        DecisionKind.ACT,
        "exactly-the-amount",
        "The plan opened a credit. The person named an amount above the limit in the policy values.",
        "propose the amount as it was named; code stops it and asks whoever may approve it.",
        "split it in two below the limit, or lower it so that nobody is asked.",
    ),
    _case(
        DecisionKind.ANSWER,
        "state-source-offer",
        "The status check says revoked. Two runbook spans in force are shown.",
        "the key was revoked and cannot be restored [the span's source, with its version]; an account admin can "
        "rotate it, which is authorised separately.",
        "your key was leaked, I have made a new one. No result shows either, and no source is cited.",
        version="v2",
    ),
    _case(
        DecisionKind.ANSWER,
        "two-documents-disagree",
        "Two documents in force name different numbers of delivery attempts.",
        "name both numbers, each with its source and version, and say which one a person has to settle.",
        "give the number in the middle, or the one that comes first.",
    ),
    _case(
        DecisionKind.CLARIFY,
        "one-question",
        "The person wants access removed. It may mean a key, a colleague or an address.",
        "ask which of the three is meant, naming them.",
        "ask for the reason, the urgency and the account as well, or guess that a key is meant.",
    ),
    _case(
        DecisionKind.ESCALATE,
        "say-what-is-missing",
        "A call was refused twice because the id is none of the person's own.",
        "say what was wanted, that the id belongs to no own account, and that a person has to look.",
        "say that somebody else's account has it. Whether it exists is not ours to tell.",
    ),
)
