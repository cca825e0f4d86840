"""What a run may begin with: one human message of bounded length (L1). Checked before the first node sees it."""

from collections.abc import Sequence
from typing import Any

from nodes.resolve import human_message
from state.policy import Policy


class BadInput(ValueError):
    """The question cannot be taken: got, allowed, next step."""


def check_question(question: str, policy: Policy) -> None:
    """Raises BadInput for an empty question and for one over the policy's bound."""
    if not question.strip():
        raise BadInput(f"got an empty question; allowed: 1 to {policy.max_input_chars} characters; ask something")
    if len(question) > policy.max_input_chars:
        raise BadInput(
            f"got a question of {len(question)} characters; allowed: at most {policy.max_input_chars}; shorten it, "
            "or add the text to the corpus"
        )


def check_messages(messages: Sequence[Any], policy: Policy) -> None:
    """The same for a server's input. Raises NotOneHumanMessage, BadInput."""
    check_question(human_message(messages)[1], policy)
