"""The notebooks run in a fresh kernel, stay small, and are stored without outputs."""

import ast
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MOST_CELLS, MOST_LINES = 15, 12


def named(path: Path) -> str:
    return path.stem


def notebook(path: Path) -> Any:
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]  # nbformat annotates no reader


@pytest.mark.timeout(600)  # on a busy machine
@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_it_runs_in_a_fresh_kernel(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPEDIENTE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    NotebookClient(notebook(path), timeout=500, resources={"metadata": {"path": str(ROOT)}}).execute()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_it_asks_one_question_in_few_short_cells_and_ends_in_an_assertion(path: Path) -> None:
    cells = notebook(path).cells
    title = cells[0].source.splitlines()[0]
    assert title.startswith("# ")
    assert title.endswith("?")
    assert len(cells) <= MOST_CELLS
    assert [cell.source for cell in cells if len(cell.source.splitlines()) > MOST_LINES] == []
    assert "assert " in cells[-1].source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_it_is_stored_without_outputs_and_defines_no_engine_logic(path: Path) -> None:
    code = [cell for cell in notebook(path).cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    for cell in code:
        defined = [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.ClassDef)]
        assert defined == []
