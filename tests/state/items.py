"""Context items for tests of rendering: a text, who made it, where it comes from."""

from collections.abc import Sequence

from state.context import ContextItem, Kind, Provenance, RequestSettings, Trust
from state.render import render
from state.request import Request
from tests.fakes import NOW

SETTINGS = RequestSettings(max_output_tokens=500)


def item(
    item_id: str = "doc",
    kind: Kind = Kind.EVIDENCE,
    source: str = "runbook/refunds@v2#late",
    trust: Trust = Trust.UNTRUSTED,
    version: str | None = "v2",
    turn: int | None = None,
) -> ContextItem:
    return ContextItem(
        item_id=item_id,
        kind=kind,
        source=source,
        trust=trust,
        retrieved_at=NOW,
        version=version,
        token_count=1,
        ref=f"ref-{item_id}",
        provenance=Provenance(tenant="t1", scope="tenant:t1", content_hash="h", origin_turn=turn),
    )


def rendered(pairs: Sequence[tuple[ContextItem, str]]) -> Request:
    """The request of items with their texts."""
    numbered = [(one.model_copy(update={"ref": f"ref-{n}"}), text) for n, (one, text) in enumerate(pairs)]
    bodies = {one.ref: text for one, text in numbered}
    return render([one for one, _ in numbered], bodies.__getitem__, SETTINGS)


def data(pairs: Sequence[tuple[ContextItem, str]]) -> str:
    """The input message of items with their texts."""
    _, message = rendered(pairs).messages
    return message.content
