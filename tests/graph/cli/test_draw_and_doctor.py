"""The generated blocks of the README, and the check-up of what a run needs."""

from pathlib import Path

from graph.build import ORDER
from graph.drawing import unplugged_nodes, with_blocks
from tests.graph.cli.conftest import SameProgram, one_line_error

README = "# A title\n\n<!-- drawing -->\n<!-- /drawing -->\n\nwords\n\n<!-- slices -->\nold\n<!-- /slices -->\nend\n"
KEY = "sk-a-secret-that-nobody-may-see"


def test_draw_prints_the_graph_and_the_slices_and_opens_no_store(same: SameProgram, tmp_path: Path) -> None:
    done = same.elsewhere(tmp_path / "none")("draw")
    assert (done.code, done.err) == (0, "")
    assert not (tmp_path / "none").exists()
    assert "graph TD;" in done.out
    for name in ORDER:
        assert f"| {name} | " in done.out
    assert "a lap is still open" in done.out


def test_draw_writes_both_blocks_and_check_sees_a_difference(same: SameProgram) -> None:
    readme = same.folder / "README.md"
    readme.write_text(README, encoding="utf-8")
    assert "agent draw --write" in one_line_error(same("draw", "--check"), 1)
    assert same("draw", "--write").code == 0
    written = readme.read_text(encoding="utf-8")
    assert "```mermaid" in written
    assert "old" not in written
    assert written.startswith("# A title")
    assert written.endswith("<!-- /slices -->\nend\n")
    assert same("draw", "--check").code == 0


def test_writing_twice_changes_nothing_and_a_hand_made_change_is_undone() -> None:
    nodes = unplugged_nodes()
    written = with_blocks(README, nodes)
    assert with_blocks(written, nodes) == written
    assert with_blocks(written.replace("| plan |", "| plans |"), nodes) == written


def test_a_readme_without_markers_or_none_at_all_is_one_line(same: SameProgram) -> None:
    assert "README.md" in one_line_error(same("draw", "--check"), 1)
    (same.folder / "README.md").write_text("no markers", encoding="utf-8")
    assert "<!-- drawing -->" in one_line_error(same("draw", "--write"), 1)


def test_the_doctor_finds_all_in_order_after_a_run(same: SameProgram) -> None:
    done = same("doctor", "--json")
    assert (done.code, done.err) == (0, "")
    checks = {check["name"]: check for check in done.json()["checks"]}
    assert all(check["ok"] for check in checks.values())
    assert "ana@acme (customer)" in checks["principals"]["found"]
    assert "384 dimensions" in checks["embedder"]["found"]
    assert "schema version" in checks["database"]["found"]
    assert "documents in" in checks["index"]["found"]


def test_the_doctor_makes_nothing(same: SameProgram, tmp_path: Path) -> None:
    done = same.elsewhere(tmp_path / "none")("doctor")
    assert done.code == 0
    assert "made on first use" in done.out
    assert not (tmp_path / "none").exists()


def test_the_doctor_says_what_is_missing_and_how_to_fix_it(same: SameProgram) -> None:
    (same.home / "memory.db").write_bytes(b"this is no database" * 100)
    variables = {"EXPEDIENTE_MODEL": "openai", "EXPEDIENTE_OPENAI_API_KEY": KEY, "EXPEDIENTE_DEV_PRINCIPAL": "zoe@acme"}
    done = same("doctor", "--json", **variables)
    assert (done.code, done.err) == (1, "")
    missing = {check["name"]: check for check in done.json()["checks"] if not check["ok"]}
    assert set(missing) == {"memory", "model", "principals"}
    assert "EXPEDIENTE_OPENAI_MODEL" in missing["model"]["found"] + missing["model"]["fix"]
    assert all(check["found"] for check in missing.values())
    url = f"https://me:{KEY}@models.example/v1"
    told = same("doctor", EXPEDIENTE_OPENAI_BASE_URL=url, EXPEDIENTE_OPENAI_MODEL="served", **variables)
    assert "models.example, with a key" in told.out
    assert "fix: " in told.out
    assert KEY not in done.out + told.out
