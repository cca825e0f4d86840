"""Fakes of the ports, in memory: for tests of nodes and tables. Each passes the contract of its port."""

import hashlib
import hmac
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from pydantic import JsonValue, SecretStr

from state.canonical import canonical_json, digest
from state.ports import (
    ArtifactGone,
    Bound,
    Claim,
    Claimed,
    ClaimRefused,
    LedgerRow,
    NameTaken,
    RecordDamaged,
    RecordMissing,
    SecretMissing,
    StoredBody,
)
from state.record import DecisionRecord
from state.request import ModelError, Reply, Request

NOW = datetime(2026, 7, 15, 9, 30, tzinfo=UTC)


class FakeClock:
    """A clock that stands still until a test moves it."""

    def __init__(self, now: datetime = NOW) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the time on."""
        self._now += timedelta(seconds=seconds)


class SequentialIds:
    """`new("req")` gives `req-1`, `req-2`, …: each prefix counts for itself."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def new(self, prefix: str) -> str:
        self._counts[prefix] += 1
        return f"{prefix}-{self._counts[prefix]}"


class CharCounter:
    """Counts one token for each character: budgets in tests can be read off the texts."""

    name = "characters"

    def count(self, text: str) -> int:
        return len(text)

    def count_all(self, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]


class FakeArtifacts:
    """Bodies in a dict. `bodies` and `names` are open to tests, by (tenant, address) and (tenant, name)."""

    def __init__(self) -> None:
        self.bodies: dict[tuple[str, str], str] = {}
        self.names: dict[tuple[str, str], str] = {}

    def put(self, tenant: str, text: str) -> str:
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        ref = "art-" + hashlib.sha256(canonical_json([tenant, whole])).hexdigest()
        self.bodies[tenant, ref] = whole
        return ref

    def put_all(self, tenant: str, texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(self.put(tenant, text) for text in texts)

    def address(self, tenant: str, text: str) -> str:
        return FakeArtifacts().put(tenant, text)

    def get_all(self, tenant: str, refs: Iterable[str]) -> dict[str, str]:
        return {ref: self.get(tenant, ref) for ref in refs}

    def get(self, tenant: str, ref: str) -> str:
        if (tenant, ref) not in self.bodies:
            raise ArtifactGone(f"no body at {ref[:100]!r}: erased, or never there")
        return self.bodies[tenant, ref]

    def examined(self, tenant: str, refs: Iterable[str]) -> dict[str, StoredBody]:
        found = {ref: self.bodies[tenant, ref] for ref in refs if (tenant, ref) in self.bodies}
        return {
            ref: StoredBody(text=text, intact=FakeArtifacts().put(tenant, text) == ref) for ref, text in found.items()
        }

    def name(self, tenant: str, name: str, ref: str) -> None:
        if not name.isprintable():
            raise ValueError(f"got the name {name!r}; a public name holds printable characters only")
        before = self.names.get((tenant, name))
        if before is None:
            self.get(tenant, ref)
            self.names[tenant, name] = ref
        elif before != ref:
            raise NameTaken(f"{name} already names another body; a name is given once")

    def named(self, tenant: str, name: str) -> str:
        if (tenant, name) not in self.names:
            raise ArtifactGone(f"nothing is named {name[:100]!r}: erased, or never there")
        return self.names[tenant, name]

    def resolved(self, tenant: str, names: Iterable[str]) -> dict[str, str]:
        return {name: self.names[tenant, name] for name in names if (tenant, name) in self.names}


class FakeDecisionLog:
    """Records in a dict, as the bytes that were filed. `rows` is open to tests, by (tenant, thread, hash)."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str, str], bytes] = {}

    def append(self, record: DecisionRecord) -> str:
        if record.parent is not None and (record.tenant, record.thread, record.parent) not in self.rows:
            raise RecordMissing(f"thread {record.thread} has no record {record.parent[:100]!r}")
        body = canonical_json(record)
        self.rows[record.tenant, record.thread, digest(body)] = body
        return digest(body)

    def get(self, tenant: str, thread: str, record: str) -> DecisionRecord:
        body = self.rows.get((tenant, thread, record))
        if body is None:
            raise RecordMissing(f"thread {thread} has no record {record[:100]!r}")
        if digest(body) != record:
            raise RecordDamaged(f"record {record} of thread {thread} was changed after it was filed")
        return DecisionRecord.model_validate_json(body)

    def get_all(self, tenant: str, thread: str, records: Sequence[str]) -> tuple[DecisionRecord, ...]:
        return tuple(self.get(tenant, thread, record) for record in records)

    def bodies(self, tenant: str, thread: str, records: Sequence[str]) -> dict[str, bytes]:
        return {name: body for name in records if (body := self.rows.get((tenant, thread, name))) is not None}

    def chain(self, tenant: str, thread: str, head: str | None, limit: int | None = None) -> tuple[DecisionRecord, ...]:
        found: list[DecisionRecord] = []
        while head is not None and len(found) != limit:
            found.append(self.get(tenant, thread, head))
            head = found[-1].parent
        return tuple(found)

    def names(self, tenant: str, thread: str) -> tuple[str, ...]:
        return tuple(sorted(name for owner, of, name in self.rows if (owner, of) == (tenant, thread)))


class FakeLedger:
    """Claims in a dict, in order. `held` is open to tests, by key."""

    def __init__(self) -> None:
        self.held: dict[str, LedgerRow] = {}

    def claim(self, claim: Claim, at: datetime) -> Claimed:
        if not all(value.isprintable() for value in claim.model_dump().values() if isinstance(value, str)):
            raise ClaimRefused("the claim holds characters that do not print; nothing was run")
        row = self.held.get(claim.key)
        if row is None:
            step = (claim.opened_by, claim.tool, claim.slot)
            held = [row.claim for row in self.held.values()]
            if None not in step and step in {(one.opened_by, one.tool, one.slot) for one in held}:
                return Claimed(fresh=False, state="spent")
            self.held[claim.key] = LedgerRow(claim=claim, state="open", at=at, result_ref=None)
            return Claimed(fresh=True, state="open")
        if row.claim.model_copy(update={"call_id": claim.call_id, "slot": claim.slot}) != claim:
            raise ClaimRefused(f"the key {claim.key} was claimed for another effect; nothing was run")
        return Claimed(fresh=False, state=row.state, result_ref=row.result_ref)

    def close(self, key: str, state: str, result_ref: str | None) -> None:
        if state not in ("done", "unknown"):
            raise ClaimRefused(f"got state {state!r}; an effect is closed as 'done' or 'unknown'")
        row = self.held.get(key)
        if row is None:
            raise ClaimRefused(f"the key {key} was never claimed")
        if row.state == "done" and (row.state, row.result_ref) != (state, result_ref):
            raise ClaimRefused(f"the effect of {key} is already {row.state}; that never changes")
        self.held[key] = row.model_copy(update={"state": state, "result_ref": result_ref})

    def begun(self, key: str) -> bool:
        return key in self.held

    def examined(self, tenant: str, thread: str) -> tuple[LedgerRow | None, ...]:
        return self.rows(tenant, thread)

    def rows(self, tenant: str, thread: str) -> tuple[LedgerRow, ...]:
        return tuple(row for row in self.held.values() if (row.claim.tenant, row.claim.thread) == (tenant, thread))


class FakeQuotas:
    """What calls took, in a dict by bound and call."""

    def __init__(self) -> None:
        self.taken: dict[tuple[str, str], tuple[datetime, float]] = {}

    def used(self, bound: Bound) -> float:
        return self._used(bound, "")

    def take(self, call: str, bounds: Sequence[Bound], at: datetime) -> Bound | None:
        for bound in sorted(bounds, key=lambda one: one.name):
            if self._used(bound, call) + bound.amount > bound.most:
                return bound
        for bound in bounds:
            self.taken.setdefault((bound.name, call), (at, bound.amount))
        return None

    def enter(self, call: str, bounds: Sequence[Bound], at: datetime) -> None:
        for bound in bounds:
            self.taken.setdefault((bound.name, call), (at, bound.amount))

    def _used(self, bound: Bound, call: str) -> float:
        return sum(
            amount
            for (name, other), (at, amount) in self.taken.items()
            if name == bound.name and other != call and (bound.since is None or at > bound.since)
        )


class FakeSeal:
    """A seal with a key that every test knows."""

    def __init__(self, key: bytes = b"a key for tests") -> None:
        self._key = key

    def sign(self, payload: Mapping[str, JsonValue]) -> str:
        return "test." + hmac.digest(self._key, canonical_json(dict(payload)), "sha256").hex()

    def verify(self, payload: Mapping[str, JsonValue], seal: str) -> bool:
        try:
            return hmac.compare_digest(self.sign(payload).encode(), seal.encode(errors="replace"))
        except ValueError:
            return False


class FakeSecrets:
    """Credentials in a dict, by name."""

    def __init__(self, **values: str) -> None:
        self._values = values

    def secret(self, name: str) -> SecretStr:
        if name not in self._values:
            raise SecretMissing(f"got no secret {name}; set EXPEDIENTE_TOOL_SECRET_{name.upper()}")
        return SecretStr(self._values[name])

    def masked(self, text: str) -> str:
        for name, value in self._values.items():
            text = text.replace(value, f"[secret {name}]")
        return text


class ModelScriptExhausted(AssertionError):
    """The model was asked more often than its script has replies."""


class FakeWaiting:
    """Notes how long it was to wait, and does not."""

    def __init__(self) -> None:
        self.waits_s: list[float] = []

    def wait(self, duration_s: float) -> None:
        self.waits_s.append(duration_s)

    async def await_(self, duration_s: float) -> None:
        self.waits_s.append(duration_s)


class FakeModel:
    """Plays replies or failures in order. `requests` holds what it was asked."""

    name = "fake"

    def __init__(self, *script: Reply | ModelError) -> None:
        self._script = list(script)
        self.requests: list[Request] = []

    def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        if not self._script:
            raise ModelScriptExhausted(f"asked {len(self.requests)} times")
        answer = self._script.pop(0)
        if isinstance(answer, ModelError):
            raise answer
        return answer

    async def areply(self, request: Request) -> Reply:
        return self.reply(request)
