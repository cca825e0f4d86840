"""The schema: every table of the stores, once for all engines. Bodies are UTF-8 bytes, times are UTC."""

from datetime import UTC, datetime

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    TypeDecorator,
)
from sqlalchemy.engine import Dialect

SCHEMA_VERSION = 8  # of the tables below; graph.stores.migrations brings an older one there


class Utc(TypeDecorator[datetime]):
    """An aware datetime as fixed-width ISO text: reads well, sorts by time, equal on every engine.

    Raises ValueError for a naive datetime.
    """

    impl = String(32)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"got the naive datetime {value.isoformat()}; stores take aware ones only")
        return value.astimezone(UTC).isoformat(timespec="microseconds")

    def process_result_value(self, value: str | None, dialect: Dialect) -> datetime | None:
        return None if value is None else datetime.fromisoformat(value)


# The prefix keeps the tables apart from LangGraph's and a server engine's in a shared database.
metadata = MetaData()

schema_version = Table("expediente_schema", metadata, Column("version", Integer, primary_key=True, autoincrement=False))

# Bytes, not text: a body may hold a NUL character, which PostgreSQL refuses in text.
artifacts = Table(
    "expediente_artifacts",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("ref", String, primary_key=True),
    Column("body", LargeBinary, nullable=False),
)

# No foreign key to the body: a name outlives a body that was erased on purpose.
artifact_names = Table(
    "expediente_artifact_names",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("name", String, primary_key=True),
    Column("ref", String, nullable=False),
)

# Which thread's node put a body first: what a node that was killed left is named by nothing else, and has to be found
# when the thread is forgotten.
artifact_makers = Table(
    "expediente_artifact_makers",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("thread", String, primary_key=True),
    Column("ref", String, primary_key=True),
)

# The parent must be a stored record of the same tenant and thread: a chain cannot dangle or cross over.
records = Table(
    "expediente_records",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("thread", String, primary_key=True),
    Column("hash", String, primary_key=True),
    Column("parent", String),
    Column("body", LargeBinary, nullable=False),
    ForeignKeyConstraint(
        ["tenant", "thread", "parent"],
        ["expediente_records.tenant", "expediente_records.thread", "expediente_records.hash"],
    ),
)

# `seq` keeps the order of effects where two claims carry the same time. `seal` is over all else in the row; only a
# process of an earlier release writes none.
claims = Table(
    "expediente_claims",
    metadata,
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("key", String, nullable=False, unique=True),
    Column("tenant", String, nullable=False),
    Column("thread", String, nullable=False),
    Column("parent", String),
    Column("ordinal", Integer, nullable=False),
    Column("call_id", String, nullable=False),
    Column("tool", String, nullable=False),
    Column("arguments_digest", String, nullable=False),
    Column("proposal_ref", String, nullable=False),
    Column("opened_by", String),
    Column("effect", String, nullable=False),
    Column("state", String, nullable=False),
    Column("at", Utc, nullable=False),
    Column("result_ref", String),
    Column("slot", Integer),
    Column("seal", String),
    Index("expediente_claims_by_thread", "tenant", "thread"),
    # A step of a plan is spent once; where the slot is null nothing is compared, on either engine.
    Index("expediente_claims_by_step", "opened_by", "tool", "slot", unique=True),
)

threads = Table(
    "expediente_threads",
    metadata,
    Column("thread", String, primary_key=True),
    Column("tenant", String, nullable=False),
    Column("principal", String, nullable=False),
    Column("created_at", Utc, nullable=False),
)

# What was forgotten: threads that take no new turn, subjects and memories that are not seeded again. It holds names
# and ids, as the records do.
forgotten = Table(
    "expediente_forgotten",
    metadata,
    Column("kind", String, primary_key=True),
    Column("tenant", String, primary_key=True),
    Column("name", String, primary_key=True),
    Column("at", Utc, nullable=False),
)

# What the database belongs to, so that a process of another deployment does not write into it (graph.home).
marks = Table(
    "expediente_marks",
    metadata,
    Column("name", String, primary_key=True),
    Column("value", String, nullable=False),
)

# What calls took of a bound on how often or at what cost: one row for each call and bound (graph.stores.quotas).
uses = Table(
    "expediente_uses",
    metadata,
    Column("bound", String, primary_key=True),
    Column("call", String, primary_key=True),
    Column("at", Utc, nullable=False),
    Column("amount", Float, nullable=False),
)

# What happened beside the conversations, in the order it was told (graph.stores.events).
events = Table(
    "expediente_events",
    metadata,
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("tenant", String, nullable=False),
    Column("principal", String),
    Column("thread", String),
    Column("kind", String, nullable=False),
    Column("about", String, nullable=False),
    Column("at", Utc, nullable=False),
    Column("key", String),
    # Of no key nothing is compared, on either engine.
    Index("expediente_events_by_key", "tenant", "key", unique=True),
)

# What each thread made of an event. No foreign key: what was settled outlives an event that is erased, as records do.
settled_events = Table(
    "expediente_settled_events",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("thread", String, primary_key=True),
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("decision", Integer, nullable=False),
    Column("dropped", String),
    Column("at", Utc, nullable=False),
)

run_leases = Table(
    "expediente_run_leases",
    metadata,
    Column("thread", String, primary_key=True),
    Column("token", String, nullable=False),
    Column("expires_at", Utc, nullable=False),
)
