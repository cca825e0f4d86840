"""Boundary cases for the model, right beside wrong. They hold no ids: an id in an example could end up in a call."""

from state.domain import Example
from state.work import DecisionKind

EXAMPLES = (
    Example(
        example_id="check-before-change",
        version="v1",
        kind=DecisionKind.GATHER,
        text=(
            "The person says that a key fails. A runbook in the request says that revoked keys are rotated.\n"
            "Right: call the status check with the account id from the scope; the result says what is true now.\n"
            "Wrong: propose a rotation, because a document mentions one. Nobody asked for it and no plan opened it."
        ),
    ),
    Example(
        example_id="only-what-was-asked",
        version="v1",
        kind=DecisionKind.PLAN,
        text=(
            "The person writes: please give me a new key, mine is in an old repository.\n"
            "Right: one step, the rotation of that key.\n"
            "Wrong: a rotation and also a check of incidents and of the account, which nobody asked for."
        ),
    ),
    Example(
        example_id="state-source-offer",
        version="v1",
        kind=DecisionKind.ANSWER,
        text=(
            "The status check says revoked. Two runbook spans in force are shown.\n"
            "Right: the key was revoked and cannot be restored [the span's source, with its version]; an account "
            "admin can rotate it, which is authorised separately.\n"
            "Wrong: your key was leaked, I have made a new one. No result shows either, and no source is cited."
        ),
    ),
)
