"""The execute node on one desk, with verdicts as validate would have written them."""

import json
from datetime import timedelta
from typing import Any

from pydantic import JsonValue

from nodes.execute import Reads, Writes, make_execute
from state.checks.binding import call_digest
from state.run import Scope
from state.tools import Observation
from state.verdict import Allowed, Approval, ApprovalRequest, Verdict
from tests.desk import SCOPE
from tests.fakes import NOW
from tests.nodes.parts import Parts, decision

APPROVAL = Approval(approval_id="apr-1", decision="approve", by="leo@t1", at=NOW)
ASKED = ApprovalRequest(
    approval_id="apr-1",
    requested_at=NOW,
    expires_at=NOW + timedelta(hours=1),
    digest="d",
    approver_roles=("lead",),
    reason="r",
)
REFUND: dict[str, JsonValue] = {"order": "A1", "amount": 50}
PAY: dict[str, JsonValue] = {"vendor": "A", "amount": 120}
RUN = "toolrun://req-1/step-1"


def allowed(
    parts: Parts,
    tool: str,
    arguments: dict[str, JsonValue],
    call_id: str = "c1",
    approval: Approval | None = None,
    asked: ApprovalRequest | None = None,
    **request: Any,
) -> Allowed:
    """The verdict that validate would have written in the lap of this request."""
    lap = parts.request(**request)
    bound = call_digest(SCOPE, lap.parent, call_id, arguments, parts.desk.contracts[tool], "desk-1")
    return Allowed(
        call_id=call_id,
        rule="r",
        policy_version="desk-1",
        bound=bound,
        opened_by="plan",
        approval=approval,
        request=asked,
    )


def reads(parts: Parts, calls: str, *verdicts: Verdict, **request: Any) -> Reads:
    return Reads(request=parts.request(**request), decision=decision(), proposal=calls, verdicts=verdicts)


def node(parts: Parts) -> Any:
    return make_execute(
        artifacts=parts.artifacts,
        log=parts.log,
        ledger=parts.ledger,
        quotas=parts.quotas,
        clock=parts.clock,
        secrets=parts.secrets,
        memories=parts.memories,
        tools=parts.desk.tools,
        policies=[parts.policy],
        sleep=parts.slept.append,
    )


def executed(parts: Parts, calls: str, *verdicts: Verdict, scope: Scope = SCOPE, **request: Any) -> list[Observation]:
    """The observations."""
    wrote = node(parts).run(reads(parts, calls, *verdicts, **request), scope)
    assert isinstance(wrote, Writes)
    assert wrote.model_fields_set == {"observations"}
    return [*wrote.observations]


def body(parts: Parts, seen: Observation) -> Any:
    return json.loads(parts.get(seen.ref))
