"""The memories a new store starts with: short facts, each with subject, purpose, source and end (S6)."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from state.memory import MemoryRecord, MemorySource

BASIS = "contract"


def memories(seeded: datetime) -> Sequence[MemoryRecord]:
    """Every seeded memory, its times counted from the moment the database was seeded."""
    created = seeded - timedelta(days=3)

    def remember(
        name: str,
        subject: str,
        purpose: str,
        text: str,
        source: MemorySource,
        source_ref: str,
        days_old: int = 3,
        days_left: int = 30,
    ) -> MemoryRecord:
        return MemoryRecord(
            memory_id=f"mem-{name}",
            subject=subject,
            tenant=TENANTS[subject],
            purpose=purpose,
            text=text,
            source=source,
            source_ref=source_ref,
            basis=BASIS,
            created_at=seeded - timedelta(days=days_old),
            expires_at=seeded + timedelta(days=days_left),
        )

    return (
        # The memory of the worked example.
        remember("key-created", "A-123", "support", f"API key K-1007 was created on {created:%Y-%m-%d}.",
                 MemorySource.SYSTEM_RECORD, "api_key://K-1007"),
        # One that each of the four checks keeps out: still current, purpose, source known.
        remember("proxy", "A-123", "support", "Requests with the API key go through an outgoing proxy.",
                 MemorySource.USER_STATED, "ticket://T-400", days_old=200, days_left=-20),
        remember("invoices", "ana@acme", "billing", "Wants invoices as PDF by e-mail.",
                 MemorySource.USER_STATED, "ticket://T-502", days_old=60),
        remember("upgrade", "A-123", "billing", "May move to the enterprise plan next quarter.",
                 MemorySource.MODEL_INFERRED, "turn://2f6c", days_old=20),
        remember("unclear", "A-123", "support", "The API key is allowed to be shared between services.",
                 MemorySource.UNKNOWN, "", days_old=10),
        # Other subjects and the other tenants.
        remember("export-window", "A-124", "support", "Runs a nightly export between one and four o'clock UTC.",
                 MemorySource.USER_STATED, "ticket://T-510", days_old=29),
        remember("idioma", "ines@globex", "support", "Prefiere respuestas en español.",
                 MemorySource.USER_STATED, "ticket://T-601", days_old=1),
        remember("key-lapsed", "A-202", "support", "API key K-2010 was renewed by hand once before.",
                 MemorySource.SYSTEM_RECORD, "api_key://K-2010", days_old=15),
        remember("apertura", "A-301", "support", "La próxima apertura de ventas multiplica las peticiones por diez.",
                 MemorySource.USER_STATED, "ticket://T-701", days_old=1),
        remember("handover", "leo@acme", "support", "Prefers the history of a ticket before its account.",
                 MemorySource.MODEL_INFERRED, "turn://9b01", days_old=12),
    )  # fmt: skip


TENANTS = {
    "A-123": "acme",
    "A-124": "acme",
    "ana@acme": "acme",
    "A-202": "globex",
    "ines@globex": "globex",
    "A-301": "maravel",
    "leo@acme": "acme",
}
