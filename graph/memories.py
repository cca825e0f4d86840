"""Tending memories: a principal its own, a role of the policy record those of its tenant (S6, X7)."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from graph.forgetting.forget import Forgetting, Removed
from retrieval.memory import StoreMemory
from retrieval.memory_writing import MemoryWriter
from state.checks.quote import states_whole
from state.domain import Domain
from state.memory import MemoryNote, MemoryRecord, MemorySource, MemoryTerms, NotRemembered, Remembered
from state.policy import effective
from state.ports import Artifacts, Clock, Ids
from state.run import Principal, Scope
from state.work import Quote


class MemoryUnknown(LookupError):
    """Nothing of that name is remembered of anybody whom the asker may ask about. Foreign and missing look the same."""


class MemoryRefused(ValueError):
    """A memory is not written: what was got, what is allowed, and the next step."""


class Memories:
    """Implements state.ports.MemoryKeeper, and what `agent memory` does. Raises MemoryUnknown, MemoryRefused."""

    def __init__(
        self,
        memory: StoreMemory,
        writer: MemoryWriter,
        forgetting: Forgetting,
        artifacts: Artifacts,
        domain: Domain,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._memory, self._writer, self._forgetting = memory, writer, forgetting
        self._artifacts, self._domain, self._clock, self._ids = artifacts, domain, clock, ids

    def remember(
        self, scope: Scope, about: str, text: str, quote: Quote | None, key: str
    ) -> Remembered | NotRemembered:
        """Write what a call of the model's says: stated by the user where it is a whole sentence of a turn."""
        said = quote is not None and states_whole(self._artifacts.get(scope.tenant, quote.ref), quote)
        note = MemoryNote(
            tenant=scope.tenant,
            subject=scope.principal.name,
            about=about,
            text=text,
            source=MemorySource.USER_STATED if said else MemorySource.MODEL_INFERRED,
            source_ref=f"turn://{quote.ref.removeprefix('art-')[:12]}" if said and quote else f"call://{key[:12]}",
            key=key,
        )
        return self._writer.write(note, self._terms(), self._clock.now())

    def forget(self, scope: Scope, about: str) -> int:
        """Delete all that is remembered of the principal itself on a topic."""
        held = self._held(scope.tenant, scope.principal.name)
        ids = [record.memory_id for record in held if record.about == about]
        return self._forgetting.memories(scope.tenant, scope.principal.name, ids).memories if ids else 0

    def listed(self, actor: Principal, subject: str | None = None) -> tuple[MemoryRecord, ...]:
        """What is remembered of a subject, or of all of the actor's own; what was replaced too. By topic, then time."""
        subjects = actor.subjects if subject is None else (self._may(actor, subject),)
        found = (record for each in dict.fromkeys(subjects) for record in self._held(actor.tenant, each))
        return tuple(sorted(found, key=lambda one: (one.subject, one.about, one.created_at, one.memory_id)))

    def add(
        self, actor: Principal, about: str, text: str, subject: str | None = None, source_ref: str | None = None
    ) -> Remembered:
        """Remember what the actor says of itself, or what the record that `source_ref` names says of another."""
        whose = actor.name if subject is None else self._may(actor, subject)
        return self._written(self._writer.write(self._note(actor, whose, about, text, source_ref), *self._now()), about)

    def confirm(self, actor: Principal, memory_id: str, source_ref: str | None = None) -> Remembered:
        """Make a fact of a hypothesis, or renew what is due for review."""
        record = self._standing(actor, memory_id)
        note = self._note(actor, record.subject, record.about, record.text, source_ref)
        return self._written(self._writer.confirm(record, note, *self._now()), record.about)

    def correct(self, actor: Principal, memory_id: str, text: str, source_ref: str | None = None) -> Remembered:
        """Replace what a record says; the record stays, and names the new one."""
        record = self._standing(actor, memory_id)
        note = self._note(actor, record.subject, record.about, text, source_ref)
        return self._written(self._writer.correct(record, note, *self._now()), record.about)

    def consolidate(self, actor: Principal, memory_ids: Sequence[str], text: str) -> Remembered:
        """One record in place of several of one topic, with the lowest trust and all sources."""
        records = [self._standing(actor, memory_id) for memory_id in memory_ids]
        if len({(one.subject, one.about) for one in records}) != 1 or len(records) < 2:
            raise MemoryRefused("got records of several topics, or fewer than two; allowed: several of one topic")
        return self._written(self._writer.consolidate(records, text, self._ids.new("key")), records[0].about)

    def delete(self, actor: Principal, memory_id: str) -> Removed:
        """Delete a record and all that it replaced, in the store and wherever it was shown."""
        record = self._found(actor, memory_id)
        held = {one.memory_id: one for one in self._held(actor.tenant, record.subject)}
        return self._forgetting.memories(actor.tenant, record.subject, tuple(_with_replaced(record.memory_id, held)))

    def _held(self, tenant: str, subject: str) -> list[MemoryRecord]:
        return [record for _, record in self._memory.of(tenant, subject) if record]

    def _may(self, actor: Principal, subject: str) -> str:
        """The subject, where the actor may ask about it."""
        if subject in actor.subjects or (self._keeps(actor) and subject in self._of_tenant(actor.tenant)):
            return subject
        raise MemoryUnknown(
            f"got subject {subject!r:.80}, of whom {actor.name} may ask nothing; allowed: {', '.join(actor.subjects)}, "
            "and with a role of the policy's `memory.keeper_roles` those of the same organisation"
        )

    def _found(self, actor: Principal, memory_id: str) -> MemoryRecord:
        subjects = (*actor.subjects, *(self._of_tenant(actor.tenant) if self._keeps(actor) else ()))
        for subject in dict.fromkeys(subjects):
            for record in self._held(actor.tenant, subject):
                if record.memory_id == memory_id:
                    return record
        raise MemoryUnknown(
            f"got the memory {memory_id!r:.80}, which there is not; `agent memory list` has those there are"
        )

    def _standing(self, actor: Principal, memory_id: str) -> MemoryRecord:
        """A record that nothing replaced: another one in its place would stand beside what did."""
        record = self._found(actor, memory_id)
        if record.superseded_by is not None:
            raise MemoryRefused(
                f"got the memory {memory_id!r:.80}, which {record.superseded_by} replaced; allowed: one that stands; "
                f"name {record.superseded_by}, or the newest in `agent memory list`"
            )
        return record

    def _keeps(self, actor: Principal) -> bool:
        return not set(self._terms().keeper_roles).isdisjoint(actor.roles)

    def _of_tenant(self, tenant: str) -> tuple[str, ...]:
        """Everyone of a tenant of whom something is, or may be, remembered."""
        people = (self._domain.principal(name) for name in self._domain.principals())
        named = [subject for one in people if one and one.tenant == tenant for subject in (one.name, *one.subjects)]
        return tuple(dict.fromkeys((*named, *(who for of, who in self._memory.subjects() if of == tenant))))

    def _note(self, actor: Principal, subject: str, about: str, text: str, source_ref: str | None) -> MemoryNote:
        """What somebody says of itself, it states; of another a record has to say it."""
        own = subject in actor.subjects
        if not own and (source_ref is None or "://" not in source_ref):
            raise MemoryRefused(
                f"got source {source_ref!r:.80} for a memory of another; allowed: the address of the record that says "
                "so, such as ticket://T-1"
            )
        return MemoryNote(
            tenant=actor.tenant,
            subject=subject,
            about=about,
            text=text,
            source=MemorySource.USER_STATED if own else MemorySource.SYSTEM_RECORD,
            source_ref=f"principal://{actor.name}" if own or source_ref is None else source_ref,
            key=self._ids.new("key"),
        )

    def _now(self) -> tuple[MemoryTerms, datetime]:
        return self._terms(), self._clock.now()

    def _terms(self) -> MemoryTerms:
        return effective(self._domain.policies, self._clock.now()).memory

    def _written(self, done: Remembered | NotRemembered, about: str) -> Remembered:
        match done:
            case Remembered():
                return done
            case NotRemembered(reason=reason):
                topics = ", ".join(sorted(self._terms().topics)) or "none"
                raise MemoryRefused(
                    f"got a memory about {about!r:.40}: {reason}; {_ALLOWED[reason].format(topics=topics)}"
                )


_ALLOWED = {
    "unknown_topic": "allowed: the policy's topics, which are {topics}",
    "unknown_source": "allowed: what the user or a system of record says; name the record",
    "nothing_to_remember": "allowed: a short text",
    "too_long": "allowed: at most 400 characters; say it shorter",
    "weaker_source": "what stands was said by a source whose word counts more; correct it there",
    "nothing_to_confirm": "allowed: a source whose word counts as much as the record's own",
}


def _with_replaced(memory_id: str, held: dict[str, MemoryRecord]) -> Iterator[str]:
    """A record and, back to the first, what it replaced."""
    open_, seen = [memory_id], set[str]()
    while open_:
        name = open_.pop()
        if name in held and name not in seen:
            seen.add(name)
            yield name
            open_ += held[name].supersedes
