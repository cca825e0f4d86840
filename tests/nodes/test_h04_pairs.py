"""H04: wherever the trail is cut, each call that is shown has one result, and none stands without its call."""

import json
from typing import Any

from state.context import ContextManifest
from state.work import LapOutcome
from tests.desk import POLICY
from tests.nodes.packing import Packing
from tests.nodes.parts import Parts, observation
from tests.nodes.test_pack_limits import window


def history(parts: Parts) -> dict[str, Any]:
    """A call A with its result; calls B and C, whose results came the other way round; and a result Z, whose proposal
    is gone. Each is long."""
    head = None
    laps = ((("A",), ("A",)), (("B", "C"), ("C", "B")), ((), ("Z",)))
    for index, (calls, results) in enumerate(laps):
        seen = tuple(
            observation(
                name,
                "lookup",
                parts.put(
                    json.dumps({"tool": "lookup", "order": f"{name} {'long ' * 40}", "artifact_ref": f"r/{name}"})
                ),
                trusted_fields=("order",),
                artifact_ref=f"toolrun://{name}",
            )
            for name in results
        )
        proposal = parts.act(*((name, "lookup", {"order": name}) for name in calls)) if calls else None
        head = parts.filed(
            parent=head, index=index, observations=seen, proposal_ref=proposal, outcome=LapOutcome.OBSERVED
        )
    return {"request": parts.request(parent=head), "task": parts.task(laps_in_turn=3)}


def cut(manifest: ContextManifest) -> tuple[list[str], list[str]]:
    """The results that are shown, and those left out, by their call."""
    shown = [item.source[-1] for item in manifest.items if item.source.startswith("toolrun://")]
    left = [dropped.source[-1] for dropped in manifest.dropped if dropped.source.startswith("toolrun://")]
    return shown, left


def test_h04_at_every_cut_each_result_stands_once_or_is_left_out_with_its_call(parts: Parts) -> None:
    seen = set()
    reads = history(parts)
    for share in range(1, 101):
        packing = Packing(parts, window(4_000), policy=POLICY.model_copy(update={"observation_share": share / 100}))
        manifest = packing.manifest(**reads)
        shown, left = cut(manifest)
        assert sorted([*shown, *left]) == ["A", "B", "C", "Z"]  # each once, in one of the two
        assert shown == [name for name in ("A", "C", "B", "Z") if name in shown]  # in the order in which they came
        request = packing.replayed(manifest)
        # Results are data in the one input message: no provider pairs them by id, and none begins with one.
        assert [message.channel for message in request.messages] == ["instruction", "input"]
        seen.add((tuple(shown), tuple(item.item_id for item in manifest.masked)))
    assert len(seen) >= 4  # the shares did cut at different places
