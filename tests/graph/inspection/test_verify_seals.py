"""Verify: a chain made anew with hashes that hold is known by its seals, and what has none is counted and said."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine

from graph.inspection.chain import filed, unsound
from graph.inspection.verify import verify
from graph.seal import HmacSeal
from graph.stores.engine import Database, open_database
from graph.stores.records import SqlDecisionLog
from graph.stores.url import database_url as stores_url
from state.canonical import canonical_json, digest
from state.run import Principal, Scope
from tests.graph.conftest import on_both_engines
from tests.graph.inspection.tampering import LOOKS, REFUNDED, Tampering
from tests.graph.order_desk import ENDS
from tests.graph.stores import version_1

FORGED = "the record was not filed by this system"


def without_seal(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != "seal"}


@on_both_engines
def test_every_record_has_a_seal_and_stays_small(tampering: Tampering) -> None:
    tampering.asked(*REFUNDED)
    for name, record in tampering.chain().items():
        assert record.seal is not None
        assert record.hash() == name
        plain = record.model_dump(mode="json")
        assert len(canonical_json(plain)) - len(canonical_json(without_seal(plain))) < 120
    found = tampering.checked()
    assert (found.unsealed, found.told) == (0, "nothing was changed")


@on_both_engines
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("index", 9),
        ("outcome", "answered"),
        ("principal", "leo@t1"),
        ("task_hash", "0" * 64),
        ("edited", True),
        ("verdicts", []),
        ("seal", "0" * 8 + "." + "0" * 64),
        ("seal", "zz"),
    ],
)
def test_a_chain_made_anew_was_not_filed_by_this_system(tampering: Tampering, name: str, value: Any) -> None:
    tampering.asked(*REFUNDED)
    tampering.rewrite(lambda record: {**record, name: value})
    tampering.forget_checkpoints()
    found = tampering.checked()
    named = [fault.record for fault in found.faults if fault.told.partition(": ")[2].startswith(FORGED)]
    assert set(named) == set(tampering.chain())
    assert not found.sound


@on_both_engines
def test_only_its_own_place_suits_a_record(tampering: Tampering) -> None:
    """Whole, undamaged records, hung up in another order: the seal is over the parent too."""
    tampering.asked(*REFUNDED)
    _, second, *_ = tampering.chain().values()
    root = canonical_json({**second.model_dump(mode="json"), "parent": None})
    tampering.insert(root, None)
    (fault,) = tampering.checked().faults
    assert fault.record == digest(root)


@on_both_engines
def test_a_record_without_a_seal_behind_one_that_has_it_was_not_filed_by_this_system(tampering: Tampering) -> None:
    tampering.asked(LOOKS, ENDS, question="What of INV-9?")
    name, last = list(tampering.chain().items())[-1]
    tampering.remove(name)
    forged = canonical_json({**without_seal(last.model_dump(mode="json")), "outcome": "asked"})
    tampering.insert(forged, last.parent)
    tampering.forget_checkpoints()
    assert tampering.faults() == [
        f"decision 1, record {digest(forged)[:12]}: {FORGED}: it has no seal, and its parent has one"
    ]


@on_both_engines
def test_a_chain_that_lost_every_seal_is_not_called_unchanged(tampering: Tampering) -> None:
    """It may be of an earlier release, or of whoever can write the database: nothing tells the two apart."""
    tampering.asked(LOOKS, ENDS, question="What of INV-9?")
    tampering.rewrite(without_seal)
    tampering.forget_checkpoints()
    found = tampering.checked()
    assert (found.sound, found.unsealed) == (True, 2)
    assert found.told == "nothing was found changed, and nothing has a seal that proves it"
    assert "2 without a seal" in found._repr_html_()


@on_both_engines
def test_what_has_a_seal_beside_what_has_none_is_told_apart(tampering: Tampering) -> None:
    """A thread that an earlier release began, and this one goes on with."""
    tampering.asked(LOOKS, ENDS, question="What of INV-9?")
    tampering.rewrite(without_seal)
    head = list(tampering.chain())[-1]
    tampering.forget_checkpoints()
    app = tampering.app(ENDS)
    app.graph.update_state({"configurable": {"thread_id": "T"}}, {"head": head}, as_node="log")
    app.ask("And now?", as_="mia@t1", thread="T")
    found = tampering.checked()
    assert (found.sound, found.records, found.unsealed) == (True, 3, 2)
    assert found.told == "nothing was found changed in what has a seal"


@on_both_engines
def test_the_same_content_in_other_bytes_is_not_what_was_filed(tampering: Tampering) -> None:
    tampering.asked(LOOKS, ENDS, question="What of INV-9?")
    name, last = list(tampering.chain().items())[-1]
    tampering.remove(name)
    tampering.insert(canonical_json(last) + b" ", last.parent)
    tampering.forget_checkpoints()
    (fault,) = tampering.checked().faults
    assert fault.how == "is not in the form in which it was filed"


@on_both_engines
def test_a_thread_that_was_given_to_somebody_else_tells_whose_it_was(tampering: Tampering) -> None:
    tampering.asked(LOOKS, ENDS, question="What of INV-9?")
    tampering.sql("UPDATE expediente_threads SET principal = 'leo@t1'")
    app = tampering.app()
    faults = [fault.how for fault in verify(app, "T", as_="leo@t1").faults]
    assert faults == ["was filed for mia@t1, who does not own the thread"] * 2


def test_seals_hold_after_the_master_secret_was_changed(tampering: Tampering, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPEDIENTE_SECRET", "the secret of the first year, of 32 and more")
    tampering.asked(LOOKS, ENDS, question="What of INV-9?")
    monkeypatch.setenv("EXPEDIENTE_SECRET", "the secret of the second year, of 32 and more")
    monkeypatch.setenv("EXPEDIENTE_PREVIOUS_SECRETS", '["the secret of the first year, of 32 and more"]')
    tampering.asked(ENDS, question="And now?")
    found = tampering.checked()
    assert (found.sound, found.unsealed, found.records) == (True, 0, 3)
    assert len({record.seal.partition(".")[0] for record in tampering.chain().values() if record.seal}) == 2


@pytest.mark.parametrize("database_url", ["sqlite", "postgresql"], indirect=True)
def test_records_of_the_first_release_keep_their_names_and_have_no_seal(
    tmp_path: Path, database_url: str | None
) -> None:
    target = database_url or str(tmp_path / "stores.db")
    database = old_database(target)
    log = SqlDecisionLog(database.everyday)
    ana = Principal(name="ana@acme", tenant="acme", roles=())
    scope = Scope(principal=ana, actor=ana, thread="T")
    found = filed(log, scope)
    assert list(found.records) == [version_1.FIRST, version_1.SECOND]
    assert {record.seal for record in found.records.values()} == {None}
    assert (found.faults, list(unsound(found, HmacSeal([b"any"]), scope))) == ((), [])
    database.close()


def old_database(target: str) -> Database:
    """A database as the first release left it, brought up to date."""
    engine = create_engine(stores_url(target if "://" in target else Path(target)))
    with engine.begin() as connection:
        version_1.make(connection)
    engine.dispose()
    return open_database(target if "://" in target else Path(target), seal=HmacSeal([b"any"]))
