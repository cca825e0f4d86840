"""Writing memories (S6): masked first, allowed by topic, duplicates merged, contradictions superseded and linked (H15).

Two texts of one topic contradict each other unless they say the same words; where the topic holds several, only those
that share most of their words. That is all that is compared.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from retrieval.memory import StoreMemory
from retrieval.words import index_words, query_words
from state.canonical import digest
from state.checks.hidden import visible
from state.checks.personal_masked import personal_masked
from state.memory import KNOWN, MemoryNote, MemoryRecord, MemoryTerms, MemoryTopic, NotRemembered, Remembered

LONGEST = 400
_SHARED = 1 / 2


class MemoryWriter:
    """Writes notes as records. `masked` gives a text without its secrets."""

    def __init__(self, memory: StoreMemory, masked: Callable[[str], str]) -> None:
        self._memory, self._masked = memory, masked

    def write(self, note: MemoryNote, terms: MemoryTerms, now: datetime) -> Remembered | NotRemembered:
        """Write a note by the policy's terms, or say why not.

        What says the same as the record that stands is merged into it, and lends it no authority; said by somebody
        whose word counts more, it becomes a record of its own that names the other. What says something else replaces
        what stands, if its author's word counts as much. The old record stays, and names the new one. A note that was
        written before, by its key, is not written again. Raises ValueError for a naive `now`.
        """
        if now.utcoffset() is None:
            raise ValueError(f"got the naive time {now.isoformat()}; a memory's times are aware: give it a time zone")
        topic = terms.topics.get(note.about)
        text = self._cleaned(note.text)
        if topic is None:
            return NotRemembered(reason="unknown_topic")
        if refused := _refused(note, text):
            return refused
        fresh = _record(note, topic, text, now)
        held = [record for _, record in self._memory.of(note.tenant, note.subject) if record]
        if before := next((one for one in held if one.memory_id == fresh.memory_id), None):
            return Remembered(did="merged", record=before)
        current = [
            one
            for one in held
            if one.about == note.about and one.stands(now) and (not topic.several or speaks_of_same(one.text, text))
        ]
        if any(one.authority > fresh.authority and not _same(one.text, text) for one in current):
            return NotRemembered(reason="weaker_source")
        if said := next((one for one in current if _same(one.text, text) and one.authority >= fresh.authority), None):
            return Remembered(did="merged", record=self._merged(said, fresh))
        confirms = any(_same(one.text, text) for one in current)
        return self._put(fresh, current, "confirmed" if confirms else "superseded" if current else "new")

    def confirm(
        self, hypothesis: MemoryRecord, note: MemoryNote, terms: MemoryTerms, now: datetime
    ) -> Remembered | NotRemembered:
        """Make a fact of a hypothesis by a source of authority, or renew a record that is due for review: what it says
        stays as it was."""
        if note.source not in KNOWN or KNOWN.index(note.source) < max(1, hypothesis.authority):
            return NotRemembered(reason="nothing_to_confirm")
        topic = terms.topics.get(hypothesis.about)
        if topic is None:
            return NotRemembered(reason="unknown_topic")
        if refused := _refused(note, hypothesis.text):
            return refused
        return self._put(_record(note, topic, hypothesis.text, now), [hypothesis], "confirmed")

    def correct(
        self, record: MemoryRecord, note: MemoryNote, terms: MemoryTerms, now: datetime
    ) -> Remembered | NotRemembered:
        """Replace what one record says by what a source of as much authority says now."""
        topic, text = terms.topics.get(record.about), self._cleaned(note.text)
        if topic is None:
            return NotRemembered(reason="unknown_topic")
        if refused := _refused(note, text):
            return refused
        fresh = _record(note, topic, text, now)
        if fresh.authority < record.authority:
            return NotRemembered(reason="weaker_source")
        return self._put(fresh, [record], "superseded")

    def consolidate(self, records: Sequence[MemoryRecord], text: str, key: str) -> Remembered | NotRemembered:
        """One record in place of several of one topic: of the lowest trust among them, with all their sources, and no
        longer than the first of them to end. Raises ValueError where they are not of one subject and topic."""
        if len({(one.tenant, one.subject, one.purpose, one.about) for one in records}) != 1:
            raise ValueError(f"got {len(records)} records of several subjects or topics; consolidate those of one")
        least = min(records, key=lambda one: (one.authority, one.created_at))
        text = self._cleaned(text)
        if not text or len(text) > LONGEST:
            return NotRemembered(reason="too_long" if text else "nothing_to_remember")
        made = least.model_copy(
            update={
                "memory_id": _named(least.tenant, least.subject, key),
                "text": text,
                "also_from": tuple(dict.fromkeys(ref for one in records for ref in one.sources)),
                "expires_at": min(one.expires_at for one in records),
                "review_at": min((one.review_at for one in records if one.review_at), default=None),
                "supersedes": (),
            }
        )
        return self._put(made, records, "merged")

    def _cleaned(self, text: str) -> str:
        """A text as it may be kept (X7). What nobody sees goes first: it would hide a number from the masks, and a zero
        byte cannot be written to a server."""
        return " ".join(personal_masked(self._masked(visible(text))).split())

    def _put(self, fresh: MemoryRecord, before: Sequence[MemoryRecord], did: str) -> Remembered:
        """Write a record and, in the same step, that it replaces others."""
        refs = (ref for one in before if _same(one.text, fresh.text) for ref in one.sources)
        record = fresh.model_copy(
            update={
                "supersedes": tuple(one.memory_id for one in before),
                "also_from": tuple(dict.fromkeys((*fresh.also_from, *refs))),
            }
        )
        self._memory.add(record, *(one.model_copy(update={"superseded_by": record.memory_id}) for one in before))
        return Remembered.model_validate({"did": did, "record": record})

    def _merged(self, said: MemoryRecord, fresh: MemoryRecord) -> MemoryRecord:
        """What stands, with one source more. Said again by the same kind of source, it also holds as long as said now;
        a weaker source prolongs nothing."""
        new = (ref for ref in fresh.sources if ref not in said.sources)
        update: dict[str, object] = {"also_from": (*said.also_from, *new)}
        if said.authority == fresh.authority:
            update |= {"expires_at": max(said.expires_at, fresh.expires_at), "review_at": fresh.review_at}
        record = said.model_copy(update=update)
        if record != said:
            self._memory.add(record)
        return record


def _refused(note: MemoryNote, text: str) -> NotRemembered | None:
    if note.source not in KNOWN or not note.source_ref.strip():
        return NotRemembered(reason="unknown_source")
    if not text:
        return NotRemembered(reason="nothing_to_remember")
    return NotRemembered(reason="too_long") if len(text) > LONGEST else None


def _record(note: MemoryNote, topic: MemoryTopic, text: str, now: datetime) -> MemoryRecord:
    days = topic.hypothesis_days if KNOWN.index(note.source) == 0 else topic.fact_days
    return MemoryRecord(
        memory_id=_named(note.tenant, note.subject, note.key),
        subject=note.subject,
        tenant=note.tenant,
        purpose=topic.purpose,
        text=text,
        source=note.source,
        source_ref=note.source_ref,
        basis=topic.basis,
        created_at=now,
        expires_at=now + timedelta(days=days),
        about=note.about,
        beside=topic.several,
        serves=topic.serves,
        review_at=None if topic.review_days is None else now + timedelta(days=topic.review_days),
    )


def _named(tenant: str, subject: str, key: str) -> str:
    """The same writing has the same name: done again after a crash, it writes no second record."""
    return f"mem-{digest([tenant, subject, key])[:20]}"


def speaks_of_same(one: str, other: str) -> bool:
    """Whether two texts share most words of the shorter: one that says two things is no news of each."""
    words, others = frozenset(query_words(one)), frozenset(query_words(other))
    return _same(one, other) or len(words & others) > _SHARED * min(len(words), len(others))


def _same(one: str, other: str) -> bool:
    return index_words(one) == index_words(other)
