"""Making items: a text becomes an addressed body, its rendered block is counted."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from state.context import Classification, ContextItem, Kind, Provenance, Trust
from state.knowledge import Candidate
from state.ports import Artifacts, TokenCounter
from state.render import block


class Draft(NamedTuple):
    """An item with its text and its rendered block at hand, so that packing reads and renders nothing twice."""

    item: ContextItem
    text: str
    block: str

    @property
    def chars(self) -> int:
        """The characters that keeping the draft takes."""
        return len(self.text) + len(self.block)


class Drafts:
    """Makes the drafts of one request. What it makes is addressed, not stored: pack stores what the request holds."""

    def __init__(self, artifacts: Artifacts, tokens: TokenCounter, tenant: str, now: datetime) -> None:
        self._artifacts, self._tokens = artifacts, tokens
        self.tenant, self.now = tenant, now

    def text(
        self,
        item_id: str,
        kind: Kind,
        source: str,
        trust: Trust,
        text: str,
        *,
        version: str | None = None,
        at: datetime | None = None,
        turn: int | None = None,
        derived_from: tuple[str, ...] = (),
        personal: bool = False,
    ) -> Draft:
        """A draft of a text that the tenant or the operator supplied, not yet counted. `personal`: it repeats what was
        said or read for a subject, and goes with that when it is forgotten."""
        ref = self._artifacts.address(self.tenant, text)
        provenance = Provenance(
            tenant=self.tenant,
            scope=f"tenant:{self.tenant}",
            classification=Classification.PERSONAL if personal or trust is Trust.USER else Classification.INTERNAL,
            content_hash=ref,
            origin_turn=turn,
            derived_from=derived_from,
        )
        return self._draft(item_id, kind, source, trust, text, ref, provenance, version, at or self.now)

    def candidates(self, candidates: Sequence[Candidate]) -> list[Draft]:
        """A draft for each thing that retrieve found and stored."""
        texts = self._artifacts.get_all(self.tenant, [candidate.ref for candidate in candidates])
        return self.counted([self._candidate(candidate, texts[candidate.ref]) for candidate in candidates])

    def tokens(self, texts: Sequence[str]) -> list[int]:
        """The tokens of texts that are not blocks yet."""
        return self._tokens.count_all(texts)

    def counted(self, drafts: Sequence[Draft]) -> list[Draft]:
        """The drafts with the tokens of their rendered blocks."""
        counts = self._tokens.count_all([draft.block for draft in drafts])
        return [
            draft._replace(item=draft.item.model_copy(update={"token_count": count}))
            for draft, count in zip(drafts, counts, strict=True)
        ]

    def now_shown(self, draft: Draft) -> Draft:
        """A draft that an earlier request made, as this one has it: what says no time of its own is of now."""
        return draft._replace(item=draft.item.model_copy(update={"retrieved_at": self.now}))

    def _candidate(self, candidate: Candidate, text: str) -> Draft:
        provenance = Provenance(
            tenant=candidate.tenant,
            scope=candidate.scope,
            classification=candidate.classification,
            span=candidate.span,
            content_hash=candidate.ref,
            scores=candidate.scores,
            effective_from=candidate.effective_from,
            effective_to=candidate.effective_to,
        )
        return self._draft(
            candidate.item_id,
            candidate.kind,
            candidate.source,
            candidate.trust,
            text,
            candidate.ref,
            provenance,
            candidate.version,
            candidate.retrieved_at,
        )

    def _draft(
        self,
        item_id: str,
        kind: Kind,
        source: str,
        trust: Trust,
        text: str,
        ref: str,
        provenance: Provenance,
        version: str | None,
        at: datetime,
    ) -> Draft:
        item = ContextItem(
            item_id=item_id,
            kind=kind,
            source=source,
            trust=trust,
            retrieved_at=at,
            version=version,
            token_count=0,
            ref=ref,
            provenance=provenance,
        )
        return Draft(item, text, block(item, text))
