"""Bodies by address: content-addressed, one space per tenant (M6, X7)."""

import hmac
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from sqlalchemy import Engine, bindparam, delete, select

from graph.stores.engine import batched, insert_or_ignore, transaction
from graph.stores.schema import artifact_makers, artifact_names, artifacts
from state.ports import ArtifactGone, NameTaken, RecordDamaged, StoredBody

# Addresses and names also come from channels and from models: what cannot be one is not asked for.
_ADDRESS = re.compile(r"art-[0-9a-f]{64}")
_ECHOED = 100  # characters of a wrong address that an error repeats


_at_work: ContextVar[str | None] = ContextVar("thread_at_work", default=None)


@contextmanager
def at_work_on(thread: str) -> Iterator[None]:
    """Bodies that are put within are this thread's: forgetting it finds them, whatever became of the node."""
    before = _at_work.set(thread)
    try:
        yield
    finally:
        _at_work.reset(before)


class SqlArtifacts:
    """The port Artifacts on SQL.

    An address is `art-` and HMAC-SHA256 of the text under the tenant's own secret, itself derived from the
    master secret: nobody without it can confirm a guessed text, and no two tenants share an address.
    Changing the master secret gives new texts new addresses; old addresses stay readable, and can be checked while the
    secret of their time is among `secrets`, whose first is the current one.
    """

    def __init__(self, engine: Engine, secrets: Sequence[bytes]) -> None:
        self._engine = engine
        self._secret, self._secrets = secrets[0], tuple(secrets)
        own, named = artifacts.c, artifact_names.c
        self._put = insert_or_ignore(engine, artifacts).on_conflict_do_nothing()
        self._made = insert_or_ignore(engine, artifact_makers).on_conflict_do_nothing()
        made_by = (artifact_makers.c.tenant == bindparam("tenant"), artifact_makers.c.thread == bindparam("of_thread"))
        self._made_by = select(artifact_makers.c.ref).where(*made_by)
        self._unmade = delete(artifact_makers).where(*made_by)
        this = (own.tenant == bindparam("tenant"), own.ref == bindparam("ref"))
        self._get = select(own.body).where(*this)
        these = (own.tenant == bindparam("tenant"), own.ref.in_(bindparam("refs", expanding=True)))
        self._present = select(own.ref).where(*these)
        self._get_all = select(own.ref, own.body).where(*these)
        self._erase = delete(artifacts).where(*these)
        of_tenant = named.tenant == bindparam("tenant")
        self._named = select(named.ref).where(of_tenant, named.name == bindparam("name"))
        self._resolved = select(named.name, named.ref).where(
            of_tenant, named.name.in_(bindparam("names", expanding=True))
        )
        # One statement names a body only if it is there, and only if the name is free.
        stored = select(own.tenant, bindparam("name", type_=named.name.type), own.ref)
        self._name = (
            insert_or_ignore(engine, artifact_names)
            .from_select(["tenant", "name", "ref"], stored.where(*this))
            .on_conflict_do_nothing()
        )

    def put(self, tenant: str, text: str) -> str:
        """Store a text and return its address; the same text of the same tenant has the same one.

        Lone surrogates, which UTF-8 cannot carry, become U+FFFD.
        """
        return self.put_all(tenant, (text,))[0]

    def put_all(self, tenant: str, texts: Iterable[str]) -> tuple[str, ...]:
        """Store texts together, all or none, and return their addresses in order. What is there is not written."""
        bodies = [encoded(text) for text in texts]
        refs = tuple(address(self._secret, tenant, body) for body in bodies)
        by_ref = dict(zip(refs, bodies, strict=True))
        with self._engine.connect() as connection:
            missing = by_ref.keys() - set(connection.scalars(self._present, {"tenant": tenant, "refs": list(by_ref)}))
            if missing:
                # In one order, so that two writers of the same bodies never wait for each other.
                rows = [{"tenant": tenant, "ref": ref, "body": by_ref[ref]} for ref in sorted(missing)]
                maker = _at_work.get()
                with transaction(connection):
                    connection.execute(self._put, rows)
                    if maker is not None:
                        made = [{"tenant": tenant, "thread": maker, "ref": row["ref"]} for row in rows]
                        connection.execute(self._made, made)
        return refs

    def address(self, tenant: str, text: str) -> str:
        """The address that a text has once it is stored. Stores nothing."""
        return address(self._secret, tenant, encoded(text))

    def get_all(self, tenant: str, refs: Iterable[str]) -> dict[str, str]:
        """The texts by address, read in one statement. Raises ArtifactGone when one of them is, and as `get` does."""
        wanted = list(dict.fromkeys(refs))
        for ref in wanted:
            if not _ADDRESS.fullmatch(ref):
                raise _gone(ref)
        if not wanted:
            return {}
        with self._engine.connect() as connection:
            rows = connection.execute(self._get_all, {"tenant": tenant, "refs": wanted}).all()
        found = {row.ref: _text(row.ref, row.body) for row in rows}
        for ref in wanted:
            if ref not in found:
                raise _gone(ref)
        return found

    def get(self, tenant: str, ref: str) -> str:
        """The text at an address. Raises ArtifactGone, in the same words whether or not another tenant has it, and
        RecordDamaged for a body that is no text: what was put there was."""
        if not _ADDRESS.fullmatch(ref):
            raise _gone(ref)
        with self._engine.connect() as connection:
            body: Any = connection.scalar(self._get, {"tenant": tenant, "ref": ref})
        if body is None:
            raise _gone(ref)
        return _text(ref, body)

    def examined(self, tenant: str, refs: Iterable[str]) -> dict[str, StoredBody]:
        """The bodies by address, each checked against its address, some hundred in one statement; an erased one is left
        out. It is the bytes that are checked: two that are no text would decode to one and the same."""
        found: dict[str, StoredBody] = {}
        asked = sorted({ref for ref in refs if _ADDRESS.fullmatch(ref)})
        with self._engine.connect() as connection:
            for some in batched(asked):
                for row in connection.execute(self._get_all, {"tenant": tenant, "refs": some}):
                    found[row.ref] = StoredBody(text=_decoded(row.body), intact=self._is_at(tenant, row.body, row.ref))
        return found

    def _is_at(self, tenant: str, body: Any, ref: str) -> bool:
        if not isinstance(body, bytes):
            return False
        return any(hmac.compare_digest(address(secret, tenant, body), ref) for secret in self._secrets)

    def present(self, tenant: str, refs: Iterable[str]) -> frozenset[str]:
        """Which of these addresses hold a body."""
        found: set[str] = set()
        with self._engine.connect() as connection:
            for some in batched(sorted(refs)):
                found.update(connection.scalars(self._present, {"tenant": tenant, "refs": some}))
        return frozenset(found)

    def erase(self, tenant: str, refs: Iterable[str], threads: Iterable[str] = ()) -> int:
        """Take bodies away for good, all or none; how many there were. Their addresses stay where they are named.

        With them goes what is known of what `threads` put first: who looks again, once the snapshots are gone that
        tell a thread's own bodies from a document's, would take the documents for left behind.
        """
        with self._engine.connect() as connection, transaction(connection):
            for thread in threads:
                connection.execute(self._unmade, {"tenant": tenant, "of_thread": thread})
            return sum(
                connection.execute(self._erase, {"tenant": tenant, "refs": some}).rowcount
                for some in batched(sorted(refs))
            )

    def made_by(self, tenant: str, thread: str) -> frozenset[str]:
        """The addresses of the bodies that a thread's nodes put first, whether they are still there or not."""
        with self._engine.connect() as connection:
            return frozenset(connection.scalars(self._made_by, {"tenant": tenant, "of_thread": thread}))

    def addresses(self, tenant: str, text: str) -> tuple[str, ...]:
        """The addresses that a text may have: one of each secret, the current and those before it."""
        return tuple(address(secret, tenant, encoded(text)) for secret in self._secrets)

    def name(self, tenant: str, name: str, ref: str) -> None:
        """Give a stored body a public name, once.

        Raises NameTaken when the name stands for another body, ArtifactGone when there is no such body.
        """
        if not _ADDRESS.fullmatch(ref):
            raise _gone(ref)
        if not name.isprintable():
            raise ValueError(f"got the name {name!r}; a public name holds printable characters only")
        with self._engine.connect() as connection:
            fresh = connection.execute(self._name, {"tenant": tenant, "name": name, "ref": ref}).rowcount == 1
            if fresh:
                return
            before: str | None = connection.scalar(self._named, {"tenant": tenant, "name": name})
        if before is None:
            raise _gone(ref)
        if before != ref:
            raise NameTaken(f"{name} already names another body; a name is given once")

    def named(self, tenant: str, name: str) -> str:
        """The address behind a public name. Raises ArtifactGone."""
        ref: str | None = None
        if name.isprintable():
            with self._engine.connect() as connection:
                ref = connection.scalar(self._named, {"tenant": tenant, "name": name})
        if ref is None:
            raise ArtifactGone(f"nothing is named {name[:_ECHOED]!r}: erased, or never there")
        return ref

    def resolved(self, tenant: str, names: Iterable[str]) -> dict[str, str]:
        """The addresses behind public names, some hundred in one statement; one that stands for nothing is left out."""
        found: dict[str, str] = {}
        with self._engine.connect() as connection:
            for some in batched(sorted({name for name in names if name.isprintable()})):
                rows = connection.execute(self._resolved, {"tenant": tenant, "names": some})
                found.update((row.name, row.ref) for row in rows)
        return found


def _gone(ref: str) -> ArtifactGone:
    return ArtifactGone(f"no body at {ref[:_ECHOED]!r}: erased, or never there")


def _decoded(body: Any) -> str | None:
    """A stored body as text. Others can put into a column what we never do: a value of another type, any bytes."""
    try:
        return body.decode() if isinstance(body, bytes) else None
    except UnicodeDecodeError:
        return None


def _text(ref: str, body: Any) -> str:
    text = _decoded(body)
    if text is None:
        raise RecordDamaged(
            f"the body at {ref} was changed after it was stored: got {type(body).__name__} that is no text; run "
            "`agent verify` on the thread to see what else was changed, and restore the database from a backup"
        )
    return text


def encoded(text: str) -> bytes:
    """A text as UTF-8. Surrogate pairs become the character they stand for, lone ones U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def address(secret: bytes, tenant: str, body: bytes) -> str:
    """The address of a body in a tenant's space."""
    return f"art-{hmac.digest(_tenant_secret(secret, tenant), body, 'sha256').hex()}"


@lru_cache(maxsize=256)
def _tenant_secret(secret: bytes, tenant: str) -> bytes:
    return hmac.digest(secret, tenant.encode(), "sha256")
