"""Laws of packing: the budget holds, order of arrival means nothing, the same inputs give the same bytes anywhere."""

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.pack.budget import Window
from nodes.pack.drafts import Drafts
from nodes.pack.scanning import Scans
from nodes.pack.strategy import STRATEGIES
from nodes.pack.utility import choose
from state.context import ContextManifest, DropReason, Kind
from state.knowledge import Candidate, NotChosen
from state.policy import UtilityWeights
from state.spending import count_request
from state.work import DecisionKind
from tests.desk import POLICY, SCOPE
from tests.fakes import NOW, CharCounter
from tests.nodes.packing import Packing
from tests.nodes.parts import Parts
from tests.nodes.test_pack_compact import Turn, look, refund

SHARES = st.integers(0, 10).map(lambda tenths: tenths / 10)
OFFERS = st.fixed_dictionaries(
    {
        "name": st.sampled_from("abcdefgh"),
        "text": st.text(st.sampled_from("a bc\u200b<&\n"), max_size=80),
        "kind": st.sampled_from([Kind.EVIDENCE, Kind.MEMORY]),
        "relevance": SHARES,
        "authority": SHARES,
        "freshness": SHARES,
    }
)
# Two subjects may have memories of one id; what says the same under the same id is the same thing.
MANY = st.lists(OFFERS, max_size=10, unique_by=lambda offer: (offer["name"], offer["text"]))


def offered(packing: Packing, offers: list[dict[str, Any]]) -> list[Candidate]:
    return [packing.candidate(**offer) for offer in offers]


@settings(max_examples=150, deadline=None)
@given(offers=MANY, room=st.integers(-50, 600), limits=st.tuples(st.integers(0, 4), st.integers(0, 4)))
def test_no_request_is_over_its_budget(offers: list[dict[str, Any]], room: int, limits: tuple[int, int]) -> None:
    parts = Parts()
    needed = sum(item.token_count for item in Packing(parts).manifest().items)
    window = Window(window_tokens=needed + room + 100 + 2 * 4 + 8 + 3, reserved_output_tokens=100)
    packing = Packing(parts, window)
    candidates = offered(packing, offers)
    decided = {"evidence_limit": limits[0], "memory_limit": limits[1]}
    packed = packing.run(candidates, decided=decided)
    if packed.failure == "does_not_fit":
        assert room < 6  # three seams between the required blocks, which no item counts
        return
    assert packed.ref is not None
    manifest = ContextManifest.model_validate_json(parts.get(packed.ref))
    chosen = [item for item in manifest.items if item.kind in (Kind.EVIDENCE, Kind.MEMORY)]
    assert sum(item.token_count for item in manifest.items) <= manifest.budget_tokens
    assert manifest.total_input_tokens <= window.window_tokens - window.reserved_output_tokens
    assert manifest.total_input_tokens == count_request(packing.replayed(manifest), packing.tokens)
    assert manifest.total_input_tokens == sum(item.token_count for item in manifest.items) + manifest.overhead_tokens
    for kind, limit in zip((Kind.EVIDENCE, Kind.MEMORY), limits, strict=True):
        assert sum(item.kind is kind for item in chosen) <= limit
    # Nothing is lost without a word, and nothing worthless enters.
    names = [item.item_id for item in chosen] + [dropped.item_id for dropped in manifest.dropped]
    assert sorted(names) == sorted(candidate.item_id for candidate in candidates)
    assert all(item.provenance.scores["utility"] > 0 for item in chosen)


@settings(max_examples=200, deadline=None)
@given(offers=MANY, seed=st.integers(0, 99), room=st.integers(0, 900), limit=st.integers(0, 4))
def test_the_order_of_arrival_does_not_matter(offers: list[dict[str, Any]], seed: int, room: int, limit: int) -> None:
    packing = Packing(Parts())
    drafts = Drafts(packing.parts.artifacts, CharCounter(), SCOPE.tenant, NOW)
    candidates = offered(packing, offers)
    pairs = list(zip(candidates, drafts.candidates(candidates), strict=True))
    turned = random.Random(seed).sample(pairs, len(pairs))
    limits = {Kind.EVIDENCE: limit, Kind.MEMORY: limit}
    assert choose(turned, UtilityWeights(), room, limits, Scans()) == choose(
        pairs, UtilityWeights(), room, limits, Scans()
    )


def test_of_two_under_one_id_the_same_one_stands_first(parts: Parts) -> None:
    packing = Packing(parts)
    twins = [packing.candidate("m", text, kind=Kind.MEMORY) for text in ("likes tea", "hates tea")]
    one, other = (packing.manifest(pair).items for pair in (twins, twins[::-1]))
    assert one == other
    assert [item.item_id for item in one].count("m") == 2


def request_bytes() -> bytes:
    """The canonical bytes of one packed request and its manifest, on fresh stores."""
    parts = Parts()
    packing = Packing(parts)
    found = [packing.candidate(name, kind=kind) for name in "cab" for kind in (Kind.EVIDENCE, Kind.MEMORY)]
    excluded = [NotChosen(item_id="x", kind=Kind.EVIDENCE, source="x", reason=DropReason.SUPERSEDED)]
    decided = {"tools": ("refund", "lookup", "get_invoice"), "examples_limit": 2}
    manifest = packing.manifest(found, excluded, decided=decided)
    plan = packing.manifest(decided={"kind": DecisionKind.PLAN, "tools": ()})
    turn = refund(Turn(), "B9")
    for number in range(8):
        look(turn, f"B{number % 6}", more="x" * 200)
    narrow = Window(window_tokens=5_000, reserved_output_tokens=100)
    trails = [turn.manifest(POLICY.model_copy(update={"strategy": name}), narrow) for name in STRATEGIES]
    texts = [one.model_dump_json().encode() for one in (manifest, plan, *trails)]
    return b"\n".join([packing.replayed(manifest).canonical_bytes(), packing.replayed(plan).canonical_bytes(), *texts])


def test_the_same_inputs_give_the_same_bytes_in_every_process() -> None:
    here = request_bytes()
    assert request_bytes() == here
    root = Path(__file__).resolve().parents[2]
    program = (
        "import sys\nfrom tests.nodes.test_pack_laws import request_bytes\nsys.stdout.buffer.write(request_bytes())"
    )
    for seed in ("0", "4711"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=root,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True,
            check=True,
        )
        assert done.stdout == here
