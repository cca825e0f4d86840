"""Forgetting a subject, or what is past its time: bodies, checkpoints and memories go, records and ownership stay.

Each step may be cut off and is mended by doing it again: marks first, then bodies, while checkpoints still name them;
then checkpoints and memories; then the bytes of what was deleted.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from graph.forgetting.naming import decided_at, named
from graph.forgetting.reach import Reach
from graph.forgetting.shred import ON_SERVER, shredded
from graph.stores.artifacts import SqlArtifacts
from graph.stores.events import SqlEventQueue
from graph.stores.forgotten import ERASED, MEMORY, SUBJECT, THREAD, SqlForgotten
from graph.stores.ownership import SqlOwnership
from graph.stores.records import SqlDecisionLog
from graph.stores.run_lock import SqlRunLock
from retrieval.memory import StoreMemory
from state.checks.kept import let_go
from state.policy import Policy
from state.ports import Ledger
from state.value import Value


class TenantNeeded(ValueError):
    """A subject of that name is known in several tenants: got, allowed."""


class Removed(Value):
    """What was removed, or would be: counts by kind. `shared` bodies stay, because what stays names them too.

    `known` is False for a subject of which nothing is kept and nothing was forgotten before. `waiting` counts the calls
    that wait for a person and never get an answer now, by thread. `left` says where bytes of it may still lie.
    """

    dry_run: bool
    known: bool = True
    threads: tuple[str, ...] = ()
    checkpoints: int = 0
    memories: int = 0
    events: int = 0
    bodies: dict[str, int] = {}
    shared: int = 0
    waiting: dict[str, int] = {}
    left: tuple[str, ...] = ()

    @property
    def nothing(self) -> bool:
        """Whether there was nothing to remove."""
        return not (self.threads or self.checkpoints or self.memories or self.events or self.bodies)


class Forgetting:
    """Erases on all stores of an app. Raises ThreadBusy where a run is on one of the threads, StoreUnavailable."""

    def __init__(
        self,
        *,
        artifacts: SqlArtifacts,
        log: SqlDecisionLog,
        ledger: Ledger,
        events: SqlEventQueue,
        ownership: SqlOwnership,
        forgotten: SqlForgotten,
        run_lock: SqlRunLock,
        saver: BaseCheckpointSaver[Any],
        memory: StoreMemory,
        files: Sequence[Path],
        recording: Path | None,
    ) -> None:
        self._artifacts, self._log, self._ownership, self._forgotten = artifacts, log, ownership, forgotten
        self._events = events
        self._run_lock, self._saver, self._memory, self._files = run_lock, saver, memory, files
        self._recording = recording
        self._reach = Reach(artifacts, log, ledger, saver)

    def subject(self, subject: str, tenant: str | None = None, *, dry_run: bool = False) -> Removed:
        """Forget a principal (its threads and its memories) or another subject (its memories, wherever shown).

        Doing it again removes what came since, or nothing. Raises TenantNeeded.
        """
        owned = self._ownership.of(subject)
        known = {owner.tenant for owner in owned}
        known |= {of for of, name in self._memory.subjects() if name == subject}
        known |= {of for of, name in self._forgotten.names(SUBJECT) if name == subject}
        if tenant is None and len(known) > 1:
            raise TenantNeeded(
                f"got {subject!r}, who is known in several tenants; allowed: one of {', '.join(sorted(known))}; name it"
            )
        places = sorted(known if tenant is None else known & {tenant})
        if not places:
            return Removed(dry_run=dry_run, known=False)
        found = Removed(dry_run=dry_run)
        for place in places:
            threads = tuple(owner.thread for owner in owned if owner.tenant == place)
            kept = [memory_id for memory_id, _ in self._memory.of(place, subject)]
            found = self._removed(place, threads, {subject: kept}, dry_run, subject)
        return found if dry_run else found.model_copy(update={"left": self._bytes_left()})

    def memories(self, tenant: str, subject: str, memory_ids: Sequence[str]) -> Removed:
        """Forget some of a subject's memories, wherever they were shown; conversations stay."""
        shown = self._as_shown(tenant, subject, memory_ids)
        reached = self._reach.of(
            tenant, (), self._kept(tenant, ()), subject=subject, only=frozenset(memory_ids), shown=shown
        )
        self._forgotten.mark(MEMORY, tenant, memory_ids)  # a seeded one is not seeded again
        self._artifacts.erase(tenant, reached.bodies)
        self._memory.remove(tenant, subject, memory_ids)
        self._artifacts.erase(tenant, reached.memories)  # a run may have shown one meanwhile
        return Removed(
            dry_run=False,
            memories=len(memory_ids),
            bodies=dict(sorted(Counter(reached.bodies.values()).items())),
            shared=reached.shared,
            left=self._bytes_left(),
        )

    def expired(self, policy: Policy, now: datetime, *, dry_run: bool = False) -> Removed:
        """Forget the conversations and memories that the policy's retention no longer keeps, of all tenants."""
        threads = self._old_threads(policy, now)
        memories = self._old_memories(policy, now)
        found = _together(
            [
                self._removed(tenant, threads.get(tenant, ()), memories.get(tenant, {}), dry_run)
                for tenant in sorted(threads.keys() | memories.keys())
            ],
            dry_run,
        )
        return found if dry_run else found.model_copy(update={"left": self._bytes_left()})

    def forgotten(self, tenant: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """The forgotten threads, subjects and memories of a tenant: what tells an erased body from a removed one."""
        found = (self._forgotten.names(kind) for kind in (THREAD, SUBJECT, MEMORY))
        threads, subjects, memories = (frozenset(name for of, name in names if of == tenant) for names in found)
        return threads, subjects, memories

    def late(self, tenant: str, thread: str, brought: Any) -> None:
        """Erase what a node put while its thread was being forgotten: nothing names it but what it brought."""
        others = self._kept(tenant, (thread,))
        reached = self._reach.of(tenant, (thread,), others, beside=tuple(named(brought)))
        self._artifacts.erase(tenant, reached.bodies)
        self._bytes_left()

    def _kept(self, tenant: str, threads: Sequence[str]) -> list[str]:
        """The threads that stay. What only forgotten ones still name, nobody needs."""
        gone = {name for of, name in self._forgotten.names(THREAD) if of == tenant}.union(threads)
        return [one.thread for one in self._ownership.all() if one.tenant == tenant and one.thread not in gone]

    def _removed(
        self,
        tenant: str,
        threads: Sequence[str],
        memories: dict[str, list[str]],
        dry_run: bool,
        subject: str | None = None,
    ) -> Removed:
        done = self._forgotten.names(ERASED)
        fresh = tuple(thread for thread in threads if (tenant, thread) not in done)
        others = self._kept(tenant, threads)
        if not dry_run:
            self._forgotten.mark(THREAD, tenant, threads)
            self._forgotten.mark(SUBJECT, tenant, [subject] if subject else [])
            for thread in threads:
                with self._run_lock.holding(thread):
                    pass  # no run that took the lock is on it, and the mark lets none begin
        # What only grew old stays in the conversations it was shown in, as long as those are kept.
        shown = self._as_shown(tenant, subject) if subject else ()
        reached = self._reach.of(tenant, threads, others, subject=subject, shown=shown)
        waiting = {thread: calls for thread in threads if (calls := self._reach.waiting(thread))}
        checkpoints = sum(map(self._reach.checkpoints, threads))
        events = len(self._events.of(tenant, threads, subject))
        if not dry_run:
            self._events.erase(tenant, threads, subject)
            self._artifacts.erase(tenant, reached.bodies, threads)
            for thread in threads:
                self._saver.delete_thread(thread)
            for name, ids in memories.items():
                self._forgotten.mark(MEMORY, tenant, ids)  # a seeded one is not seeded again
                self._memory.remove(tenant, name, ids)
            # A run on another thread may have shown a memory meanwhile.
            self._artifacts.erase(tenant, reached.memories)
            self._forgotten.mark(ERASED, tenant, threads)
        return Removed(
            dry_run=dry_run,
            threads=fresh,
            checkpoints=checkpoints,
            memories=sum(map(len, memories.values())),
            events=events,
            bodies=dict(sorted(Counter(reached.bodies.values()).items())),
            shared=reached.shared,
            waiting=waiting,
        )

    def _as_shown(self, tenant: str, subject: str, only: Sequence[str] | None = None) -> tuple[str, ...]:
        """The addresses under which any thread may hold the subject's memories, or some of them, shown or left out."""
        held = ((name, memory) for name, memory in self._memory.of(tenant, subject) if only is None or name in only)
        kept = [memory for _, memory in held if memory]
        return tuple(ref for memory in kept for ref in self._artifacts.addresses(tenant, memory.shown()))

    def _bytes_left(self) -> tuple[str, ...]:
        let_go()  # what this process worked out of texts, and so the texts; another process lets go as newer ones come
        left = tuple(shredded(self._files)) if self._files else (ON_SERVER,)
        if self._recording is None or not self._recording.exists():
            return left
        told = (
            f"{self._recording}: a recording of model replies, which names nobody and is not searched; delete it by "
            "hand where what was forgotten may stand in it"
        )
        return (*left, told)

    def _old_threads(self, policy: Policy, now: datetime) -> dict[str, list[str]]:
        if policy.retention.conversation_days is None:
            return {}
        limit = now - timedelta(days=policy.retention.conversation_days)
        old: dict[str, list[str]] = {}
        done = self._forgotten.names(ERASED)
        owners = self._ownership.all()
        used = {tenant: self._last_used(tenant) for tenant in {owner.tenant for owner in owners}}
        for owner in owners:
            last = max(owner.created_at, used[owner.tenant].get(owner.thread, owner.created_at))
            if (owner.tenant, owner.thread) not in done and last < limit:
                old.setdefault(owner.tenant, []).append(owner.thread)
        return old

    def _last_used(self, tenant: str) -> dict[str, datetime]:
        """When each thread of a tenant made its last decision."""
        last: dict[str, datetime] = {}
        for thread, body in self._log.filed(tenant):
            at = decided_at(body)
            if at is not None:
                last[thread] = max(last.get(thread, at), at)
        return last

    def _old_memories(self, policy: Policy, now: datetime) -> dict[str, dict[str, list[str]]]:
        days = policy.retention.memory_days
        limit = None if days is None else now - timedelta(days=days)
        old: dict[str, dict[str, list[str]]] = {}
        for tenant, subject in self._memory.subjects():
            for memory_id, memory in self._memory.of(tenant, subject):
                if memory and (memory.expires_at <= now or (limit is not None and memory.created_at < limit)):
                    old.setdefault(tenant, {}).setdefault(subject, []).append(memory_id)
        return old


def _together(parts: Sequence[Removed], dry_run: bool) -> Removed:
    def summed(count: Callable[[Removed], int]) -> int:
        return sum(map(count, parts))

    bodies: Counter[str] = Counter()
    for part in parts:
        bodies.update(part.bodies)
    return Removed(
        dry_run=dry_run,
        threads=tuple(thread for part in parts for thread in part.threads),
        checkpoints=summed(lambda part: part.checkpoints),
        memories=summed(lambda part: part.memories),
        events=summed(lambda part: part.events),
        bodies=dict(sorted(bodies.items())),
        shared=summed(lambda part: part.shared),
        waiting={thread: calls for part in parts for thread, calls in part.waiting.items()},
        left=tuple(dict.fromkeys(note for part in parts for note in part.left)),
    )
