"""What every request of a decision must hold behind its prefix: counted, never scored (B2). In the order of B4."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime

from nodes.pack.drafts import Draft, Drafts
from retrieval.examples import Examples
from state.context import Kind, Trust
from state.contract import ToolContract
from state.policy import Policy
from state.run import RequestContext, Scope
from state.work import Decision, DecisionKind


def who_and_what(
    drafts: Drafts, turn: str, scope: Scope, request: RequestContext, policy: Policy, decision: Decision
) -> list[Draft]:
    """The objective verbatim, the authenticated scope, what records say of the principal, the policy's values."""
    principal = scope.principal
    about = {
        "principal": principal.name,
        "tenant": principal.tenant,
        "roles": list(principal.roles),
        "locale": request.locale,
    }
    made = [
        drafts.text(
            "objective",
            Kind.TASK_STATE,
            f"turn://{request.turn_index}",
            Trust.USER,
            turn,
            turn=request.turn_index,
        ),
        drafts.text("scope", Kind.TASK_STATE, "state://scope", Trust.SYSTEM, json.dumps(about, ensure_ascii=False)),
    ]
    made += [
        drafts.text(fact.name, Kind.TASK_STATE, fact.source, fact.trust, f"{fact.name}: {fact.value}")
        for fact in principal.facts
    ]
    if policy.values:
        text = json.dumps(policy.values, sort_keys=True)
        made.append(
            drafts.text("limits", Kind.INSTRUCTION, "value://policy", Trust.POLICY, text, version=policy.version)
        )
    return made


def shown_examples(
    drafts: Drafts, decision: Decision, examples: Examples, question: str, policy: Policy
) -> list[Draft]:
    """Boundary cases for this decision kind, right beside wrong (S4)."""
    return [
        drafts.text(
            example.example_id,
            Kind.INSTRUCTION,
            f"example://{example.example_id}",
            Trust.POLICY,
            example.text,
            version=example.version,
        )
        for example in examples.choose(decision.kind, question, policy, decision.examples_limit)
    ]


def capabilities(
    drafts: Drafts, decision: Decision, contracts: Mapping[str, ToolContract], scope: Scope
) -> list[Draft]:
    """In a plan lap: which effects the principal's roles may ask for, and on what. They are not callable here."""
    if decision.kind is not DecisionKind.PLAN:
        return []
    made = []
    for name in sorted(contracts):
        contract = contracts[name]
        if not set(contract.roles) & set(scope.principal.roles):
            continue
        shown = {
            "name": name,
            "description": contract.description,
            "effect": contract.effect.value,
            "parameters": contract.parameters,
            "output": [field.name for field in contract.output],
        }
        text = json.dumps(shown, ensure_ascii=False, sort_keys=True)
        made.append(drafts.text(name, Kind.TOOL, f"capability://{name}", Trust.POLICY, text))
    return made


def decision_block(drafts: Drafts, decision: Decision, steps: Sequence[str], now: datetime) -> Draft:
    """The current decision, last in the request, beside its evidence; with the steps that a plan left open.

    The time stands here: further in front it would end what consecutive requests share (P1).
    """
    allowed = ", ".join([*sorted(decision.tools), *sorted(form.value for form in decision.forms)])
    text = (
        f"kind: {decision.kind.value}\n"
        f"{'steps: ' + ', '.join(steps) + chr(10) if steps else ''}"
        f"forms: {', '.join(sorted(form.value for form in decision.forms))}\n"
        f"now: {now.isoformat()}\n"
        f"Decide now. Reply with calls of the offered tools, or with exactly one form. Allowed: {allowed}."
    )
    source = f"decision://{decision.name}"
    return drafts.text("decision", Kind.TASK_STATE, source, Trust.POLICY, text)
