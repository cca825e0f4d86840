"""What a verdict says of where each argument came from, and how it binds the call (X4)."""

from state.labels import Label, Traced
from state.verdict import Allowed
from tests.fakes import NOW
from tests.nodes.parts import Parts
from tests.nodes.test_validate import ORDER_SAID, REFUND, bound
from tests.nodes.validating import Validating


def test_an_allowed_call_is_sealed_for_exactly_this_call(parts: Parts) -> None:
    (verdict,) = Validating(parts).run(parts.act(("c1", "lookup", {"order": "A1"})))
    this = bound(parts, "lookup", {"order": "A1"})
    assert verdict == Allowed(
        call_id="c1", rule="read_in_scope", policy_version="desk-1", bound=this, at=NOW, trace=(ORDER_SAID,)
    )


def test_an_allowed_effect_names_the_plan_lap_that_opened_it(parts: Parts) -> None:
    (verdict,) = Validating(parts).run(parts.act(("c1", "refund", REFUND)), opened=["refund"])
    head = parts.planned("refund")
    assert verdict == Allowed(
        call_id="c1",
        rule="write_opened",
        policy_version="desk-1",
        bound=bound(parts, "refund", REFUND, head),
        at=NOW,
        trace=(ORDER_SAID, Traced(argument="amount", label=Label.USER, item_ids=("objective",), chosen="named")),
        opened_by=head,
        slot=0,
    )
