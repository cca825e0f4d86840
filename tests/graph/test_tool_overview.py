"""The contracts of a domain in plain words with the values in force, and the tools that a model could confuse."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from graph.tool_overlap import overlaps
from graph.tool_overview import UnknownTool, tool_overview
from graph.tool_shown import terms_of
from state.contract import Approvers, Effect, Failed, FailureMode, Limit, OutputField, Rate, ToolContract
from state.domain import Domain
from state.tools import Tool
from tests.desk import POLICY, Desk
from tests.fakes import NOW
from tests.graph.order_desk import desk_domain


def contract(name: str, description: str, *parameters: str, **terms: Any) -> ToolContract:
    made: dict[str, Any] = {"effect": Effect.READ, "roles": ("agent",), "output": (OutputField(name="found"),)}
    properties = {one: {"type": "string"} for one in parameters}
    schema: Any = {"type": "object", "properties": properties, "additionalProperties": False}
    return ToolContract(name=name, description=description, parameters=schema, **{**made, **terms})


FIND = contract("find_invoice", "Find an invoice by its number.", "id", resources={"id": "invoice"})
LOOK_UP = contract("look_up_invoice", "Look up an invoice by its number.", "id", resources={"id": "invoice"})


@pytest.fixture
def desk(tmp_path: Path) -> Domain:
    return desk_domain(tmp_path, Desk())


def test_two_tools_with_the_same_words_on_the_same_things_are_named_with_the_reason() -> None:
    (pair,) = overlaps([FIND, contract("lookup", "Look an order's shipments up.", "order"), LOOK_UP])
    assert pair.tools == ("find_invoice", "look_up_invoice")
    assert pair.why == (
        "find_invoice and look_up_invoice: both read invoice, 2 of 3 words shared, and the parameter id"
    )


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(LOOK_UP.model_copy(update={"effect": Effect.WRITE}), id="another effect"),
        pytest.param(LOOK_UP.model_copy(update={"resources": {"id": "order"}}), id="another kind of thing"),
        pytest.param(
            contract("pay_back", "Send the customer money for a broken delivery.", "id", resources={"id": "invoice"}),
            id="other words",
        ),
    ],
)
def test_tools_that_differ_in_effect_or_things_or_words_are_no_pair(other: ToolContract) -> None:
    assert overlaps([FIND, other]) == ()


def test_a_long_description_hides_no_twin() -> None:
    wordy = LOOK_UP.model_copy(update={"description": f"{LOOK_UP.description} {'Many other words follow here. ' * 9}"})
    assert len(overlaps([FIND, wordy])) == 1


def test_each_term_of_a_contract_is_told_with_the_value_in_force(desk: Domain) -> None:
    refund = (
        Desk()
        .contracts["refund"]
        .model_copy(
            update={
                "rates": (
                    Rate(policy_key="refunds_a_day", per="actor", window_s=86_400),
                    Rate(policy_key="refund_limit", per="turn", counts="amount", parameter="amount"),
                ),
                "requires": ("desk_open",),
                "approvers": Approvers(roles=("lead",), self_approval=False, decisions=("approve", "reject")),
                "secrets": ("bank_token",),
                "reads_back": True,
                "failed": (Failed(field="state", code="declined"),),
                "failures": (FailureMode(code="unavailable", passing=True), FailureMode(code="late", undecided=True)),
                "retries": 2,
                "cost": 1.5,
                "limits": (
                    Limit(parameter="amount", policy_key="refund_limit"),
                    Limit(parameter="n", policy_key="gone"),
                ),
            }
        )
    )
    changed = replace(
        desk,
        tools=(Tool(refund, print),),
        policies=(POLICY.model_copy(update={"values": {"refund_limit": 200, "refunds_a_day": 3}}),),
    )
    (told,) = tool_overview(changed, NOW).tools
    assert dict(terms_of(told)) == {
        "effect": ["write, reversible, can be read back, not idempotent"],
        "roles": ["agent"],
        "offered": ["act/desk"],
        "takes": ["amount, order (order)"],
        "requires": ["desk_open"],
        "limits": [
            "amount at most refund_limit, else a person is asked (refund_limit is 200)",
            "n at most gone, else a person is asked (gone is not set)",
        ],
        "rates": [
            "3 calls per actor in 86,400 s (refunds_a_day)",
            "200 of amount in all per turn (refund_limit)",
        ],
        "asks": ["where a rule asks: lead; never for an own call; may approve, reject"],
        "brings": ["system: order, amount"],
        "fails": ["unavailable (passing), late (may have happened), declined where state says so"],
        "bounds": ["30 s, 20 rows, 8,000 bytes, tried 3 times, cost 1.5"],
        "secrets": ["bank_token"],
    }


def test_values_are_those_of_the_policy_in_force(desk: Domain) -> None:
    later = POLICY.model_copy(
        update={"version": "desk-2", "effective_from": datetime(2027, 1, 1, tzinfo=UTC), "values": {"refund_limit": 9}}
    )
    domain = replace(desk, policies=(POLICY, later))
    for now, value, version in ((NOW, 200, "desk-1"), (datetime(2027, 6, 1, tzinfo=UTC), 9, "desk-2")):
        found = tool_overview(domain, now, ("refund",))
        assert (found.policy_version, found.tools[0].limits[0].value) == (version, value)


def test_egress_always_asks_and_a_tool_of_nobody_says_so(desk: Domain) -> None:
    found = tool_overview(desk, NOW)
    told = {one.contract.name: dict(terms_of(one)) for one in found.tools}
    assert told["send_note"]["asks"][0].startswith("always: lead; never for an own call")
    assert (told["wipe"]["roles"], told["wipe"]["offered"]) == (["nobody"], ["in no decision"])


def test_a_name_there_is_not_is_refused_with_those_there_are(desk: Domain) -> None:
    with pytest.raises(UnknownTool, match="got the tool 'refnd'; allowed: get_invoice, lookup, refund"):
        tool_overview(desk, NOW, ("refnd",))


def test_a_notebook_shows_it_escaped(desk: Domain) -> None:
    tools = tuple(Tool(one.model_copy(update={"roles": ("<b>agent</b>",)}), print) for one in (FIND, LOOK_UP))
    shown = tool_overview(replace(desk, tools=tools), NOW)._repr_html_()
    assert "&lt;b&gt;agent&lt;/b&gt;" in shown
    assert "Easily confused" in shown
