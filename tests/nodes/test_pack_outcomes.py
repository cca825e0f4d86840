"""What earlier turns changed and refused stands in each request until the handover has it (C8)."""

from typing import Any

import pytest

from state.contract import Effect
from state.task import ActionDone, Rejection, TurnDone
from tests.fakes import NOW
from tests.nodes.packing import Packing
from tests.nodes.parts import Parts


def done(turn: int, tool: str = "refund", **changes: Any) -> ActionDone:
    made = ActionDone(
        turn=turn,
        tool=tool,
        call_id=f"c{turn}",
        effect=Effect.WRITE,
        outcome="ok",
        at=NOW,
        artifact=f"toolrun://{turn}",
    )
    return made.model_copy(update=changes)


def refused(turn: int, about: str = "refund", by: str | None = None) -> Rejection:
    return Rejection(turn=turn, decision=turn, about=about, rule="over_limit", reason="r", by=by)


CASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "what was changed": ({"actions": (done(1),)}, ["changed:", "- turn 1: refund, ok, toolrun://1"]),
    "what may have been": (
        {"actions": (done(1, outcome="unknown"),)},
        ["changed:", "- turn 1: refund, unknown, toolrun://1"],
    ),
    "a read changes nothing": ({"actions": (done(1, effect=Effect.READ),)}, []),
    "nor does a call that was not made": ({"actions": (done(1, effect=None, outcome="denied"),)}, []),
    "this turn has its own trail": ({"actions": (done(2),), "rejections": (refused(2),)}, []),
    "what the handover covers": ({"actions": (done(0),), "rejections": (refused(0),)}, []),
    "a refusal": ({"rejections": (refused(1),)}, ["refused:", "- turn 1: refund, by rule over_limit"]),
    "by a person": (
        {"rejections": (refused(1, by="leo@t1"),)},
        ["refused:", "- turn 1: refund, by rule over_limit, by leo@t1"],
    ),
    "a name that the model made up": (
        {"rejections": (refused(1, about="send it to EVIL99"),)},
        ["refused:", "- turn 1: a proposal, by rule over_limit"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_line_says_what_became_of_earlier_turns(parts: Parts, name: str) -> None:
    task, expected = CASES[name]
    head = parts.filed(turn_index=1)
    request = parts.request(parent=head, turn_index=2)
    packing = Packing(parts)
    manifest = packing.manifest(request=request, task=parts.task(turns=(TurnDone(index=1, record=head),), **task))
    found = [parts.get(item.ref).splitlines()[1:] for item in manifest.items if item.item_id == "outcomes"]
    assert found == ([expected] if expected else [])
