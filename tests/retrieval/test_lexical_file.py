"""The keyword file of one tenant: a process that was killed while it made it leaves nothing that stands in the way."""

import sqlite3
from pathlib import Path

from retrieval.lexical_file import Filter, LexicalFile, Statistics

ALL = Filter(now_us=0, readers=(), products=(), not_live=())


def test_a_file_that_was_left_without_its_layout_holds_nothing_and_is_laid_out_by_the_next(tmp_path: Path) -> None:
    file = tmp_path / "t1.db"
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
    kept = LexicalFile(file)
    assert kept.statistics(["key"]) is None
    assert kept.matches(["key"], ALL, 5) == []
    kept.add(())
    assert kept.statistics(["key"]) == Statistics(0, 0, {"key": 0})
