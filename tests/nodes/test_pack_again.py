"""pack once more, after a server found the request too long: less is sent, or nothing."""

from state.context import Packed
from state.request import Attempt
from tests.nodes.packing import Packing, reasons
from tests.nodes.parts import Parts, attempts


def too_long(packed: Packed) -> tuple[Attempt, ...]:
    """The attempt that sent a packed request, which the server refused as too long."""
    assert packed.ref is not None
    return tuple(one.model_copy(update={"manifest_ref": packed.ref}) for one in attempts("context_too_long"))


def test_after_context_too_long_the_request_is_half_of_what_was_sent(parts: Parts) -> None:
    packing = Packing(parts)
    many = [packing.candidate(f"d{n}", f"word{n} " * 400, relevance=0.9 - n / 10) for n in range(3)]
    sent = packing.run(many)
    before = packing.manifest(many)
    again = packing.manifest(many, attempts=too_long(sent))
    half = sum(item.token_count for item in before.items) // 2
    assert again.budget_tokens == half
    assert sum(item.token_count for item in again.items) <= half
    assert packing.manifest(many, attempts=attempts("malformed")).budget_tokens == before.budget_tokens


def test_after_context_too_long_what_is_required_stays_whole(parts: Parts) -> None:
    """Half would not hold it; without its candidates the request is still less than what was refused."""
    packing = Packing(parts)
    one = [packing.candidate("d", "word")]
    sent, before = packing.run(one), packing.manifest(one)
    again = packing.manifest(one, attempts=too_long(sent))
    assert reasons(again) == {"d": "over_budget"}
    assert again.total_input_tokens < before.total_input_tokens


def test_a_request_that_cannot_become_less_is_not_sent_again(parts: Parts) -> None:
    packing = Packing(parts)
    assert packing.run(attempts=too_long(packing.run())).failure == "does_not_fit"
