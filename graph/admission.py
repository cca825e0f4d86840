"""What a run may begin with: one human message of bounded length (L1), or answers to what is pending.

Checked before the first node sees it; on a server with authentication, before anything of it is stored.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.types import Command

from graph.masking import masked
from nodes.resolve import human_message
from state.checks.depth import MOST_DEPTH, not_carried
from state.checks.secret import holds_secret
from state.policy import Policy
from state.run import RunContext

MOST_BESIDE_TEXT = 1_000
MOST_ANSWERS = 100
MOST_OF_AN_EDIT = 20_000
MOST_OF_ANSWERS = 200_000
LONGEST_ID = 200
_AROUND_ARGUMENTS = 2  # the answers, and the answer that holds them
ANSWER_FORM = (
    "{call id: {'approval_id': ..., 'decision': 'approve' or 'reject'}}, or with 'decision': 'edit' and 'arguments': "
    "{all of the call's}"
)
_PLACES = ("thread_id", "checkpoint_id", "checkpoint_ns", "checkpoint_map")
# A resume value that is keyed by anything else than ids of interrupts would answer whatever is asked next.
_INTERRUPT_ID = re.compile(r"[0-9a-f]{32}")


class BadInput(ValueError):
    """The question cannot be taken: got, allowed, next step."""


class CheckpointsElsewhere(RuntimeError):
    """A thread has records, and where it is to be run none of its checkpoints: it would begin anew beside them."""

    def __init__(self, thread: str) -> None:
        super().__init__(
            f"got thread {thread}, which has records and no checkpoint here to go on from: the one that was named is "
            "not there, or the thread was run where others are kept (on a server, in another home), or they were "
            "removed; allowed: going on where they are; name one of its history, ask there, or on a new thread"
        )


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


def check_run(run: Mapping[str, Any], policy: Policy) -> None:
    """What a client asks a server for: an input, answers, or, with neither, to go on from a checkpoint.

    Raises NotOneHumanMessage, BadInput.
    """
    given, command = run.get("input"), run.get("command")
    if given is not None and command is not None:
        raise BadInput("got an input and a command; allowed: one of them")
    if run.get("webhook"):
        raise BadInput("got a webhook; allowed: none, since answers leave by the asker's own connection only")
    _check_context(run.get("context") or {})
    if given is not None:
        _check_input(given, policy)
    if command is not None:
        _check_command(command)


def _check_input(given: Any, policy: Policy) -> None:
    messages = given.get("messages") if isinstance(given, Mapping) else None
    if not isinstance(messages, list) or len(messages) != 1 or len(given) != 1:
        raise BadInput("got an input of another form; allowed: {'messages': [one message of the user]}")
    check_messages(messages, policy)
    # Pictures and other extras are never read, but would be stored.
    if not isinstance(messages[0], Mapping):
        raise BadInput("got a message of another form; allowed: an object with role and content")
    beside = len(json.dumps(messages[0])) - len(json.dumps(human_message(messages)[1]))
    if beside > MOST_BESIDE_TEXT:
        raise BadInput(f"got {beside} characters beside the message's text; allowed: at most {MOST_BESIDE_TEXT}")


def _check_context(context: Mapping[str, Any]) -> None:
    """A run's context and its `configurable`, of which a server makes one: it stores them and shows them to tracers."""
    allowed = RunContext.__annotations__
    unknown = sorted(name for name in context if name not in allowed and name not in _PLACES and name[:2] != "__")
    if unknown:
        raise BadInput(
            f"got {unknown[0][:LONGEST_ID]!r} in the run's context; allowed: {', '.join(allowed)}; a credential of a "
            "tool is set where the server runs, and nowhere in a run"
        )


def _check_command(command: Any) -> None:
    said = {name: value for name, value in command.items() if value is not None} if isinstance(command, Mapping) else {}
    resume = said.get("resume")
    if said.keys() != {"resume"} or not isinstance(resume, Mapping) or not 0 < len(resume) <= MOST_ANSWERS:
        raise BadInput("got a command of another form; allowed: {'resume': {interrupt id: {call id: answer}}}")
    if not all(isinstance(key, str) and _INTERRUPT_ID.fullmatch(key) for key in resume):
        raise BadInput("got a resume value that names no interrupt; allowed: {interrupt id: {call id: answer}}")
    for answers in resume.values():
        check_answers(answers)


def check_carried(answers: Any) -> None:
    """Whatever is given as an answer is stored before a node sees it. Raises BadInput where no store carries it, and
    where it holds a secret."""
    if why := not_carried(answers, MOST_DEPTH + _AROUND_ARGUMENTS):
        raise BadInput(f"invalid decision: the answers {why}; allowed: {ANSWER_FORM}; the call is still pending")
    if (length := len(json.dumps(answers))) > MOST_OF_ANSWERS:
        raise BadInput(
            f"invalid decision: got answers of {length} characters; allowed: at most {MOST_OF_ANSWERS}; "
            "the call is still pending"
        )
    if holds_secret(answers, masked):
        raise BadInput(
            "invalid decision: got answers that hold a secret, or what looks like one; allowed: none, since a tool has "
            "its credentials by its contract; nothing of them was stored, and the call is still pending"
        )


def check_resumed(given: Any) -> None:
    """A command to the graph itself answers what is pending, in whatever form, and does nothing else: what no store
    carries would end the run with an error of LangGraph's own, and what it would write beside is an edit of the state.

    Raises BadInput.
    """
    if not isinstance(given, Command):
        return
    if given.resume is None or given.update or given.goto or given.graph:
        raise BadInput(
            f"invalid decision: got a command of another form; allowed: resume={ANSWER_FORM}, and nothing beside it; "
            "write into a state by update_state"
        )
    check_carried(given.resume)


def check_answers(answers: Any) -> None:
    """Answers to pending calls, by call id. Raises BadInput."""
    check_carried(answers)
    if not isinstance(answers, Mapping) or len(answers) > MOST_ANSWERS or not all(map(_answers, answers.items())):
        raise BadInput(
            f"invalid decision: got an answer of another form; allowed: {ANSWER_FORM}; the call is still pending"
        )


def _answers(item: tuple[Any, Any]) -> bool:
    call_id, answer = item
    if not isinstance(answer, Mapping) or not answer.keys() >= {"approval_id", "decision"}:
        return False
    ids = (call_id, answer["approval_id"], answer.get("tool", ""))
    if not all(isinstance(one, str) and len(one) <= LONGEST_ID for one in ids):
        return False
    if answer["decision"] != "edit":
        return answer.keys() == {"approval_id", "decision"} and answer["decision"] in ("approve", "reject")
    arguments = answer.get("arguments")
    if not isinstance(arguments, Mapping):
        return False
    within = len(json.dumps(arguments)) <= MOST_OF_AN_EDIT
    return within and answer.keys() <= {"approval_id", "decision", "arguments", "tool"}
