"""From what was found to what it names, and to what that names: the iterative route (S5)."""

from collections.abc import Mapping

from retrieval.fuse import Fused, order, strength_of
from retrieval.links import Links
from state.knowledge import Chunk
from state.run import Access
from state.search import Index

LEADS = 5  # chunks of each hop whose links are followed
PASSED_ON = 0.6  # of a lead's relevance, for what it names: it was chosen by a person, not by the question


def follow(
    best: dict[str, Fused],
    asked: Mapping[str, float],
    links: Links,
    index: Index,
    access: Access,
    k: int,
    hops: int,
) -> None:
    """Add to `best`, by chunk id, one chunk of each document that the best ones name: the nearest to what was asked.

    A document that was found by itself, for less than its name is worth, is lifted to that: among few documents every
    one is found somehow. Ends where nothing new is named, where the k best are all worth more than a link could be, or
    after so many hops. Nothing is followed twice. `scores` has the cosine as `dense`, the number of the hop as `hop`.
    """
    leads = [one for one in sorted(best.values(), key=order)[:LEADS] if one.relevance > 0]
    known = {_document(lead.chunk) for lead in leads}
    for hop in range(1, hops + 1):
        worth = PASSED_ON * max((lead.relevance for lead in leads), default=0.0)
        ranked = sorted(best.values(), key=order)
        if not leads or (len(ranked) >= k and ranked[k - 1].relevance >= worth):
            return
        known |= {_document(one.chunk) for one in ranked if one.relevance >= worth}
        new = [c for c in links.linked([lead.chunk for lead in leads], access) if _document(c) not in known]
        if not new:
            return
        rows = index.nearness(list(asked), new)
        nearest: dict[tuple[str, str], tuple[float, Chunk]] = {}
        for place, chunk in enumerate(new):
            cosine = max(row[place] for row in rows)
            document = _document(chunk)
            if document not in nearest or cosine > nearest[document][0]:
                nearest[document] = (cosine, chunk)
        known |= nearest.keys()
        leads = []
        for cosine, chunk in nearest.values():
            relevance = max(worth, strength_of(cosine, 0.0, index.cosine_range) * max(asked.values()) / 2)
            held = best[chunk.chunk_id].scores if chunk.chunk_id in best else {"fused": 0.0}
            scores = {**held, "dense": cosine, "hop": float(hop)}
            best[chunk.chunk_id] = Fused(chunk=chunk, relevance=min(1.0, relevance), scores=scores)
            leads.append(best[chunk.chunk_id])


def _document(chunk: Chunk) -> tuple[str, str]:
    return (chunk.tenant, chunk.document_id)
