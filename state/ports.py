"""The ports: every live object a node may be given, as Protocols. Fakes and adapters pass one contract test."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from pydantic import AwareDatetime, JsonValue, SecretStr

from state.events import Event, Queued, Settled
from state.record import DecisionRecord
from state.request import Reply, Request
from state.run import Scope
from state.value import Value


class Clock(Protocol):
    """The time, aware, in UTC."""

    def now(self) -> datetime: ...


class Ids(Protocol):
    """Fresh identifiers: `new("req")` gives `req-...`."""

    def new(self, prefix: str) -> str: ...


class TokenCounter(Protocol):
    """The deployed model's token count, or a named upper bound (B5)."""

    @property
    def name(self) -> str: ...

    def count(self, text: str) -> int: ...

    def count_all(self, texts: Sequence[str]) -> list[int]:
        """The count of each text, in order: many at once cost little more than one."""
        ...


class Model(Protocol):
    """One model call. Raises ModelError with a typed outcome; nothing else."""

    @property
    def name(self) -> str: ...

    def reply(self, request: Request) -> Reply: ...

    async def areply(self, request: Request) -> Reply: ...


class StoredBody(Value):
    """A body as it lies there. `text` is None where its bytes are none; `intact` says that it is the one put there."""

    text: str | None
    intact: bool


class Artifacts(Protocol):
    """Content-addressed bodies, one space per tenant. An address is a keyed hash: nothing can be guessed from it.

    `get` raises ArtifactGone for an address that this tenant's space does not hold, RecordDamaged for a body that is no
    text any more.
    """

    def put(self, tenant: str, text: str) -> str: ...

    def put_all(self, tenant: str, texts: Iterable[str]) -> tuple[str, ...]:
        """Store texts together, all or none; their addresses, in order."""
        ...

    def address(self, tenant: str, text: str) -> str:
        """The address that a text has once it is stored. Stores nothing."""
        ...

    def get(self, tenant: str, ref: str) -> str: ...

    def get_all(self, tenant: str, refs: Iterable[str]) -> dict[str, str]:
        """The texts by address, read together. Raises ArtifactGone when one of them is, RecordDamaged as `get`."""
        ...

    def examined(self, tenant: str, refs: Iterable[str]) -> dict[str, StoredBody]:
        """The bodies by address, read together, each checked against its address; an erased one is left out."""
        ...

    def name(self, tenant: str, name: str, ref: str) -> None:
        """Give a body a public name such as `toolrun://req-42/step-3`, once. Raises NameTaken, ArtifactGone."""
        ...

    def named(self, tenant: str, name: str) -> str:
        """The address behind a public name. Raises ArtifactGone."""
        ...

    def resolved(self, tenant: str, names: Iterable[str]) -> dict[str, str]:
        """The addresses behind public names, read together; a name that stands for nothing is left out."""
        ...


class DecisionLog(Protocol):
    """The record chain. `append` is idempotent by hash; reads verify each hash.

    Raises RecordMissing for a hash (or a parent) the thread does not have, RecordDamaged for a changed record.
    """

    def append(self, record: DecisionRecord) -> str: ...

    def get(self, tenant: str, thread: str, record: str) -> DecisionRecord: ...

    def get_all(self, tenant: str, thread: str, records: Sequence[str]) -> tuple[DecisionRecord, ...]:
        """The records of these hashes, in their order, read together."""
        ...

    def bodies(self, tenant: str, thread: str, records: Sequence[str]) -> dict[str, bytes]:
        """The bytes under these hashes as they lie there, read together; what is not there is left out."""
        ...

    def chain(self, tenant: str, thread: str, head: str | None, limit: int | None = None) -> tuple[DecisionRecord, ...]:
        """The records from the newest at `head` back to the first, newest first."""
        ...

    def names(self, tenant: str, thread: str) -> tuple[str, ...]:
        """The hashes of every record of a thread, on all its branches, sorted. Nothing is read of the records."""
        ...


class Claim(Value):
    """The claim row of one effect. Its key is passed to the tool; a second claim of the same key is refused, and so is
    one for a step of a plan that is spent: `opened_by` names the plan's record, `slot` its step for this tool."""

    key: str
    tenant: str
    thread: str
    parent: str | None
    ordinal: int
    call_id: str
    tool: str
    arguments_digest: str
    effect: str
    proposal_ref: str
    opened_by: str | None = None
    slot: int | None = None


class Claimed(Value):
    """The answer to a claim: ours to run, or what became of it before."""

    fresh: bool
    state: str  # open | done | unknown; spent: another call took this step of the plan
    result_ref: str | None = None


class LedgerRow(Value):
    """One effect as the ledger holds it. `intact` says that the row is as the ledger wrote it."""

    claim: Claim
    state: str
    at: AwareDatetime
    result_ref: str | None
    intact: bool = True


class Ledger(Protocol):
    """Claims around effects: written durably before the call, closed after its result is stored.

    `claim` is fresh for exactly one caller of a key. States: open → done | unknown, unknown → done; done never
    changes; `begun` says that a key was ever claimed. Raises ClaimRefused for a key claimed for another effect, never
    claimed, or done otherwise.

    `rows` and `claim` trust no thread of which a row is not as the ledger wrote it: they raise RecordDamaged.
    """

    def claim(self, claim: Claim, at: datetime) -> Claimed: ...

    def close(self, key: str, state: str, result_ref: str | None) -> None: ...

    def begun(self, key: str) -> bool: ...

    def rows(self, tenant: str, thread: str) -> tuple[LedgerRow, ...]: ...

    def examined(self, tenant: str, thread: str) -> tuple[LedgerRow | None, ...]:
        """The rows of a thread as they lie there, trusted or not; None for one that is none any more."""
        ...


class EventQueue(Protocol):
    """The one queue of events (S3). Each thread settles an event for itself, once.

    `put` gives the event's number; the same key of a tenant gives the same one. `pending` are the events that a thread
    may be told and has not settled, oldest first. `settle` is idempotent: what was settled first stays.
    """

    def put(self, event: Event) -> int: ...

    def pending(self, scope: Scope, most: int) -> tuple[Queued, ...]: ...

    def settle(self, scope: Scope, settled: Sequence[Settled], decision: int, at: datetime) -> None: ...


class Bound(Value):
    """A bound on calls: its name says of what and over what, `most` how much there is, `amount` what this call takes.

    Counted is what was taken after `since`; all of it where that is None. A name has one window; what is past it goes.
    """

    name: str
    policy_key: str
    most: float
    amount: float
    since: AwareDatetime | None = None


class Connectors(Protocol):
    """Tools that run in servers of others (S8)."""

    def withheld(self, scope: Scope, tools: Sequence[str]) -> tuple[str, ...]:
        """The tools among these that are not what was reviewed, and so not offered. May wait for a server."""
        ...


class Quotas(Protocol):
    """What calls took of their bounds, kept in the store (X8). `take` takes of all bounds or of none, and names the one
    that would be exceeded; the same call takes once. `enter` writes down what was used after all, or was
    not, whatever is left."""

    def used(self, bound: Bound) -> float: ...

    def take(self, call: str, bounds: Sequence[Bound], at: datetime) -> Bound | None: ...

    def enter(self, call: str, bounds: Sequence[Bound], at: datetime) -> None: ...


class Seal(Protocol):
    """Signs and checks with a key that no channel can reach."""

    def sign(self, payload: Mapping[str, JsonValue]) -> str: ...

    def verify(self, payload: Mapping[str, JsonValue], seal: str) -> bool: ...


class Secrets(Protocol):
    """Credentials for tools, by name: the one place they exist (X7).

    `secret` raises SecretMissing, naming what to set. `masked` gives a text with `[secret NAME]` where a value stood.
    """

    def secret(self, name: str) -> SecretStr: ...

    def masked(self, text: str) -> str: ...


class ArtifactGone(RuntimeError):
    """The address names nothing in this tenant's space: erased, or never there."""


class NameTaken(ValueError):
    """The public name already stands for another body."""


class RecordMissing(RuntimeError):
    """The thread's chain has no such record."""


class RecordDamaged(ValueError):
    """A stored record or a body is not what was filed: changed, moved, or of a shape this version does not know."""


class ClaimRefused(ValueError):
    """The ledger does not do this: another effect's key, an unknown key, or an effect already done."""


class SecretMissing(RuntimeError):
    """No credential of that name is set. The text names the variable to set, and no value."""
