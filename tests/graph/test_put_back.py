"""A database that somebody put back to the form of an earlier release is not sealed anew as it lies there."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from graph.stores.schema import SCHEMA_VERSION
from graph.stores.unavailable import StoreUnavailable
from tests.graph.conftest import on_both_engines
from tests.graph.inspection.tampering import REFUNDED, Tampering
from tests.graph.order_desk import ENDS


@on_both_engines
def test_a_ledger_whose_seals_were_taken_off_with_its_version_is_not_sealed_again(
    tmp_path: Path, database_url: str | None
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with ExitStack() as stack:
        tampering = Tampering(home, database_url, stack)
        tampering.asked(*REFUNDED)
        tampering.opened.close()
        tampering.sql("UPDATE expediente_claims SET slot = 1")  # the plan's one step looks free
        tampering.sql("ALTER TABLE expediente_claims DROP COLUMN seal")
        tampering.sql("UPDATE expediente_schema SET version = 7")
        with pytest.raises(StoreUnavailable, match="delete the file") as refused:
            tampering.app(ENDS)
        assert refused.value.got == f"schema version 7, and this home has opened it at version {SCHEMA_VERSION}"
        assert tampering.value("SELECT version FROM expediente_schema") == 7
        for mark in home.glob("opened-*"):  # whoever restored an older backup says so
            mark.unlink()
        tampering.app(ENDS)
        assert tampering.value("SELECT version FROM expediente_schema") == SCHEMA_VERSION
