"""The schema as the first release made it, and rows it wrote: text of that day, of which nothing is made anew."""

from typing import Any

from sqlalchemy import Connection, text

ARTIFACT = "art-4951eb8d3f5851e5d7250fcb1ebaeaaa5a51e119f27f0da5f5f4fbf6c3f01992"
BODY = "¿Por qué? 🗝 \x00"
FIRST = "e9edef4b4770fbd3e5b85c47735ba3490d1ebc1e828f2ee90e8b767682d8c03d"
SECOND = "cddf36c4ca07c676ef7b58f67b0e22b1a4f846033a465ce42ec1bfe7afa678e8"
AT = "2026-07-15T09:30:00.000000+00:00"

_TABLES = """
CREATE TABLE expediente_schema (version INTEGER NOT NULL, PRIMARY KEY (version));
CREATE TABLE expediente_artifact_names (
    tenant VARCHAR NOT NULL, name VARCHAR NOT NULL, ref VARCHAR NOT NULL, PRIMARY KEY (tenant, name));
CREATE TABLE expediente_artifacts (
    tenant VARCHAR NOT NULL, ref VARCHAR NOT NULL, body {bytes} NOT NULL, PRIMARY KEY (tenant, ref));
CREATE TABLE expediente_claims (
    seq {serial} NOT NULL, key VARCHAR NOT NULL, tenant VARCHAR NOT NULL, thread VARCHAR NOT NULL, parent VARCHAR,
    ordinal INTEGER NOT NULL, call_id VARCHAR NOT NULL, tool VARCHAR NOT NULL, arguments_digest VARCHAR NOT NULL,
    proposal_ref VARCHAR NOT NULL, opened_by VARCHAR, effect VARCHAR NOT NULL, state VARCHAR NOT NULL,
    at VARCHAR(32) NOT NULL, result_ref VARCHAR, PRIMARY KEY (seq), UNIQUE (key));
CREATE INDEX expediente_claims_by_thread ON expediente_claims (tenant, thread);
CREATE TABLE expediente_records (
    tenant VARCHAR NOT NULL, thread VARCHAR NOT NULL, hash VARCHAR NOT NULL, parent VARCHAR, body {bytes} NOT NULL,
    PRIMARY KEY (tenant, thread, hash),
    FOREIGN KEY (tenant, thread, parent) REFERENCES expediente_records (tenant, thread, hash));
CREATE TABLE expediente_run_leases (
    thread VARCHAR NOT NULL, token VARCHAR NOT NULL, expires_at VARCHAR(32) NOT NULL, PRIMARY KEY (thread));
CREATE TABLE expediente_threads (
    thread VARCHAR NOT NULL, tenant VARCHAR NOT NULL, principal VARCHAR NOT NULL, created_at VARCHAR(32) NOT NULL,
    PRIMARY KEY (thread))
"""
_TYPES = {
    "sqlite": {"bytes": "BLOB", "serial": "INTEGER"},
    "postgresql": {"bytes": "BYTEA", "serial": "BIGSERIAL"},
}


def _record(index: int, parent: str | None) -> bytes:
    named = f'"{parent}"' if parent else "null"
    return (
        '{"at":"2026-07-15T09:30:00Z","attempts":[],"decision":null,"edited":false,"index":'
        f'{index},"manifest_ref":null,"observations":[],"outcome":"observed","parent":{named},"principal":"ana@acme",'
        f'"proposal_ref":null,"request_id":"req-{index}","status":null,"task_hash":"{"0" * 64}","tenant":"acme",'
        '"thread":"T","turn_index":0,"turn_ref":"art-1","verdicts":[{"approval":null,"call_id":"c\\u0000",'
        '"policy_version":"1","reason":"¿no? 🔑","request":null,"rule":"r","verdict":"denied"}]}'
    ).encode()


def _claim(key: str, opened_by: str | None, state: str, result_ref: str | None) -> dict[str, Any]:
    return {
        "key": key,
        "tenant": "acme",
        "thread": "T",
        "parent": None,
        "ordinal": 0,
        "call_id": "call-1",
        "tool": "rotate_api_key",
        "arguments_digest": "d1",
        "proposal_ref": "art-p",
        "opened_by": opened_by,
        "effect": "write",
        "state": state,
        "at": AT,
        "result_ref": result_ref,
    }


_ROWS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("schema", {"version": 1}),
    ("artifacts", {"tenant": "acme", "ref": ARTIFACT, "body": BODY.encode()}),
    ("artifact_names", {"tenant": "acme", "name": "toolrun://req-1/step-1", "ref": ARTIFACT}),
    ("records", {"tenant": "acme", "thread": "T", "hash": FIRST, "parent": None, "body": _record(0, None)}),
    ("records", {"tenant": "acme", "thread": "T", "hash": SECOND, "parent": FIRST, "body": _record(1, FIRST)}),
    ("claims", _claim("k1", "plan", "done", ARTIFACT)),
    ("claims", _claim("k2", None, "open", None)),
    ("threads", {"thread": "T", "tenant": "acme", "principal": "ana@acme", "created_at": AT}),
)


def make(connection: Connection) -> None:
    """Write that schema and those rows into an empty database."""
    for statement in _TABLES.format(**_TYPES[connection.dialect.name]).split(";"):
        connection.exec_driver_sql(statement)
    for table, row in _ROWS:
        columns = ", ".join(row)
        values = ", ".join(f":{name}" for name in row)
        connection.execute(text(f"INSERT INTO expediente_{table} ({columns}) VALUES ({values})"), row)
