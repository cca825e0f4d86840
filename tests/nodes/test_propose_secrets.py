"""No secret reaches the stores by any part of a proposal; what was masked is told, and refused whole (X7)."""

from typing import Any

import pytest

from state.request import Reply
from state.verdict import Denied
from state.work import PROPOSAL, Form
from tests.fakes import FakeSecrets
from tests.nodes.parts import Parts
from tests.nodes.proposing import proposed, reply, stored
from tests.nodes.validating import Validating

SECRET = "demo-cred-4471-QWER"
SPLIT = "demo-\u200bcred-4471-\u0301QW\u2060ER"
FORMS: dict[str, Any] = {"forms": tuple(Form)}


def call(name: str, arguments: Any) -> Reply:
    return reply(("c1", name, arguments))


PARTS: dict[str, tuple[Reply, list[tuple[str, str]]]] = {
    "a tool's name": (call(SECRET, {}), [("call-3-0", "secret_in_arguments")]),
    "a long tool's name": (call(SECRET + "x" * 64, {}), []),
    "an argument's name": (call("lookup", {SECRET: 1}), [("call-3-0", "secret_in_arguments")]),
    "an argument": (call("lookup", {"order": f"A1 {SECRET}"}), [("call-3-0", "secret_in_arguments")]),
    "an argument within": (call("lookup", {"order": [{"in": SECRET}]}), [("call-3-0", "secret_in_arguments")]),
    "a split argument": (call("lookup", {"order": SPLIT}), [("call-3-0", "secret_in_arguments")]),
    "an answer": (call("answer", {"text": SECRET}), [("answer", "answer_holds_secret")]),
    "a split answer": (call("answer", {"text": f"Use {SPLIT}."}), [("answer", "answer_holds_secret")]),
    "a citation": (
        call("answer", {"text": "x", "citations": [{"source": SECRET}]}),
        [("answer", "answer_holds_secret")],
    ),
    "a next step": (call("answer", {"text": "x", "next_steps": [SECRET]}), [("answer", "answer_holds_secret")]),
    "an option": (call("clarify", {"question": "x", "options": [SECRET]}), [("answer", "answer_holds_secret")]),
    "a reason": (call("escalate", {"reason": SECRET}), [("answer", "answer_holds_secret")]),
    "a plan's goal": (call("plan", {"goal": SECRET, "steps": []}), [("plan", "plan_holds_secret")]),
    "a plan's step": (call("plan", {"goal": "x", "steps": [SECRET]}), [("plan", "plan_holds_secret")]),
    "a query": (call("search", {"queries": [f"who has {SECRET}"]}), []),
}


@pytest.mark.parametrize(("given", "told"), PARTS.values(), ids=PARTS.keys())
def test_no_part_of_a_proposal_is_stored_with_a_secret(parts: Parts, given: Reply, told: list[tuple[str, str]]) -> None:
    parts.secrets = FakeSecrets(billing_api=SECRET)
    wrote, _ = proposed(parts, given, **FORMS)
    held = [text for text in parts.artifacts.bodies.values() if "4471" in text]
    assert (held, wrote.proposal is None) == ([], False)
    if told:
        verdicts = Validating(parts).run(wrote.proposal or "", attempts=wrote.attempts)
        assert all(isinstance(one, Denied) for one in verdicts)
        assert [(one.call_id, one.rule) for one in verdicts] == told
    assert SECRET not in wrote.model_dump_json()


def test_what_holds_none_is_stored_as_it_was_said(parts: Parts) -> None:
    parts.secrets = FakeSecrets(billing_api=SECRET)
    wrote, _ = proposed(parts, call("answer", {"text": "José’s ﬁle, 50\u202f%"}), **FORMS)
    assert stored(parts, wrote) == PROPOSAL.validate_python({"type": "answer", "text": "José’s ﬁle, 50\u202f%"})
    assert "masked" not in wrote.model_dump_json()
