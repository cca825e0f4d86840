"""What holds a secret is neither said nor given to a tool (X7, X8)."""

import pytest
from pydantic import JsonValue

from state.checks.secret import holds_secret
from state.verdict import Denied, NeedsApproval
from state.work import Answer, Clarify, Escalate
from tests.fakes import FakeSecrets
from tests.nodes.parts import Parts
from tests.nodes.test_validate_approval import Waiting
from tests.nodes.validating import Validating

SECRET = "demo-cred-4471-QWER"
SAID: dict[str, Answer | Clarify | Escalate] = {
    "an answer": Answer(text=f"Use {SECRET}."),
    "a next step": Answer(text="Done.", next_steps=("Call us.", f"Sign in with {SECRET}")),
    "a question": Clarify(question=f"Is it {SECRET}?"),
    "an option": Clarify(question="Which one?", options=("the old one", SECRET)),
    "a reason": Escalate(reason=f"{SECRET} was refused"),
    "what is missing": Escalate(reason="no access", missing=(SECRET,)),
}


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_nothing_that_holds_a_secret_is_said(parts: Parts, said: Answer | Clarify | Escalate) -> None:
    parts.secrets = FakeSecrets(billing_api=SECRET)
    (verdict,) = Validating(parts).run(parts.proposal(said))
    reason = "what is to be said holds a secret, or what looks like one"
    assert verdict == Denied(call_id="answer", rule="answer_holds_secret", reason=reason, policy_version="desk-1")


def test_what_holds_none_is_said(parts: Parts) -> None:
    parts.secrets = FakeSecrets(billing_api=SECRET)
    validating = Validating(parts)
    assert validating.run(parts.proposal(Clarify(question="Which key?"))) == ()
    (verdict,) = validating.run(parts.proposal(Answer(text="Rotate the key.")))
    assert verdict.rule == "citations_resolve"


@pytest.mark.parametrize(
    ("order", "rule"),
    [
        pytest.param("A1", "read_in_scope", id="none"),
        pytest.param(SECRET, "secret_in_arguments", id="a text that is one"),
        pytest.param(f"A1 with {SECRET}.", "secret_in_arguments", id="a text that holds one"),
        pytest.param("[secret billing_api]", "resource_not_owned", id="one that was masked"),
    ],
)
def test_no_secret_is_given_to_a_tool(parts: Parts, order: str, rule: str) -> None:
    parts.secrets = FakeSecrets(billing_api=SECRET)
    (verdict,) = Validating(parts).run(parts.act(("c1", "lookup", {"order": order})))
    assert verdict.rule == rule
    assert SECRET not in verdict.model_dump_json()


@pytest.mark.parametrize(
    ("value", "found"),
    [
        pytest.param({"a": [{"b": SECRET}]}, True, id="deep inside"),
        pytest.param({"a": {SECRET: 1}}, True, id="as the name of a field"),
        pytest.param({"a": [1, 2.5, True, None, "x"]}, False, id="nowhere"),
    ],
)
def test_a_secret_is_found_wherever_it_stands(value: JsonValue, found: bool) -> None:
    assert holds_secret(value, FakeSecrets(billing_api=SECRET).masked) is found


def test_an_edit_that_brings_a_secret_is_not_taken(parts: Parts) -> None:
    parts.secrets = FakeSecrets(billing_api=SECRET)
    waiting = Waiting(parts)
    still = waiting.answered(waiting.say("edit", arguments={"vendor": SECRET, "amount": 5}, tool="pay"))
    assert isinstance(still, NeedsApproval)
    told = "rule secret_in_arguments denies the call as edited: an argument holds a secret, or what looks like one"
    assert told in still.note
