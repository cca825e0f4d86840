"""The generated blocks of the README, and the check-up of what a run needs."""

import socket
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine, update

from graph.build import ORDER
from graph.drawing import unplugged_nodes, with_blocks
from graph.stores.migrations import STEPS
from graph.stores.schema import SCHEMA_VERSION, marks, schema_version
from retrieval.embed import _load
from tests.graph.cli.conftest import QUESTION, SameProgram, one_line_error
from tests.graph.models.stub_server import refusal, serving
from tests.graph.stores import version_1
from tests.postgres import sql

README = "# A title\n\n<!-- drawing -->\n<!-- /drawing -->\n\nwords\n\n<!-- slices -->\nold\n<!-- /slices -->\nend\n"
KEY = "sk-a-secret-that-nobody-may-see"
SERVED = {"EXPEDIENTE_MODEL": "openai", "EXPEDIENTE_OPENAI_MODEL": "served"}


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


def missing(same: SameProgram, **variables: str) -> dict[str, tuple[str, str]]:
    """What the doctor finds missing: by check, what was found and how to fix it."""
    done = same("doctor", "--json", **variables)
    found = {check["name"]: (check["found"], check["fix"]) for check in done.json()["checks"] if not check["ok"]}
    assert done.code == bool(found)
    return found


def test_the_doctor_tells_a_home_of_another_domain_and_leaves_it_alone(same: SameProgram) -> None:
    (same.home / "of-domain").write_text("garden\n")
    before = {path: path.stat().st_mtime_ns for path in (same.home / "domain").rglob("*")}
    ((found, fix),) = missing(same).values()
    assert found.endswith("holds the data of domain 'garden', and EXPEDIENTE_DOMAIN is 'domain'")
    assert fix == "set EXPEDIENTE_HOME to another folder, or EXPEDIENTE_DOMAIN to garden"
    assert {path: path.stat().st_mtime_ns for path in (same.home / "domain").rglob("*")} == before


def test_the_doctor_tells_a_model_server_that_does_not_answer(same: SameProgram) -> None:
    with closing(socket.socket()) as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        found = missing(same, EXPEDIENTE_OPENAI_BASE_URL=url, **SERVED)
    assert found == {
        "model": (
            "openai:served at 127.0.0.1, without a key: no server answers (Connection refused)",
            "start it, or correct EXPEDIENTE_OPENAI_BASE_URL",
        )
    }


def test_the_doctor_asks_a_model_server_nothing_but_whether_it_is_there(same: SameProgram) -> None:
    with serving(refusal(401, message="no", code="invalid_api_key")) as server:
        url = server.url.replace("//", f"//me:{KEY}@")
        assert missing(same, EXPEDIENTE_OPENAI_BASE_URL=url, EXPEDIENTE_OPENAI_API_KEY=KEY, **SERVED) == {}
    assert server.asked == []


@pytest.mark.parametrize(
    ("variables", "name", "fix"),
    [
        ({"EXPEDIENTE_MODEL": "gpt"}, "model", "set it to one of them"),
        ({"EXPEDIENTE_MODEL": "openai"}, "model", "set EXPEDIENTE_OPENAI_MODEL in the environment or in .env"),
        (
            {"EXPEDIENTE_MODEL": "openai", "EXPEDIENTE_OPENAI_MODEL": "served"},
            "model",
            "set EXPEDIENTE_OPENAI_API_KEY or EXPEDIENTE_OPENAI_BASE_URL in the environment or in .env",
        ),
        ({"EXPEDIENTE_TOKENIZER": "gpt2"}, "tokenizer", "set EXPEDIENTE_TOKENIZER to one of them"),
        ({"EXPEDIENTE_DATABASE_URL": "mysql://a/b"}, "database", "correct EXPEDIENTE_DATABASE_URL, or remove it"),
        ({"EXPEDIENTE_WINDOW_TOKENS": "3"}, "settings", "correct it in the environment or in .env"),
    ],
    ids=["no such model", "no name", "no key", "tokenizer", "database", "settings"],
)
def test_what_a_setting_spoils_comes_with_what_to_set(
    same: SameProgram, variables: dict[str, str], name: str, fix: str
) -> None:
    found = missing(same, **variables)
    assert name in found
    assert found[name][1].startswith(fix)


def test_a_tokenizer_file_that_is_gone_comes_with_what_to_put_back(
    same: SameProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrieval.embed.TOKENIZER", tmp_path / "tokenizer.json")
    _load.cache_clear()
    try:
        found, fix = missing(same)["embedder"]
    finally:
        _load.cache_clear()
    assert "tokenizer.json" in found
    assert fix.startswith("put the file back")


DATABASE = "the database of EXPEDIENTE_DATABASE_URL: "


def stores(same: SameProgram, **variables: str) -> list[str]:
    """What the doctor finds of the database, of checkpoints and of memory."""
    named = {check["name"]: check["found"] for check in same("doctor", "--json", **variables).json()["checks"]}
    return [named[name].removeprefix(DATABASE) for name in ("database", "checkpoints", "memory")]


def test_on_a_server_the_doctor_opens_what_a_run_opens_and_makes_nothing(same: SameProgram, postgres_url: str) -> None:
    for name in ("expediente.db", "checkpoints.db", "memory.db"):  # no part of a deployment on a server
        (same.home / name).write_bytes(b"this is no database" * 100)
    variables = {"EXPEDIENTE_DATABASE_URL": postgres_url}
    assert stores(same, **variables) == ["not there yet, made on first use"] * 3
    assert sql(postgres_url, "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()") == []
    assert same("ask", QUESTION, "--as", "ana@acme", **variables).code == 0
    assert stores(same, **variables) == [f"writable, schema version {SCHEMA_VERSION}", "writable", "writable"]
    sql(postgres_url, "INSERT INTO checkpoint_migrations VALUES (1000)")
    found = missing(same, **variables)
    assert found.keys() == {"checkpoints", "memory"}
    assert "checkpoints version 1000, of a later release" in found["checkpoints"][0]


@pytest.mark.parametrize("whose", ["domain", "garden"])
def test_the_doctor_leaves_an_older_database_as_it_is_whosever_it_is(same: SameProgram, whose: str) -> None:
    path = same.home / "expediente.db"
    path.unlink()
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        version_1.make(connection)
        STEPS[0](connection, None)
        connection.execute(marks.insert().values(name="domain", value=whose))
        connection.execute(update(schema_version).values(version=2))
    engine.dispose()
    before = path.read_bytes()
    if whose == "domain":
        assert stores(same)[0] == f"{path}: schema version 2, brought to {SCHEMA_VERSION} by the next run"
    else:
        assert "holds the data of domain 'garden'" in missing(same)["database"][0]
    assert path.read_bytes() == before
