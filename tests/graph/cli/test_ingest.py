"""`agent ingest` and `agent corpus`: a folder goes in, what was skipped is said, and nobody is shown another's."""

import os
import shutil
import signal
from pathlib import Path

import pytest

import graph.home_library
from retrieval import ingest as ingesting
from retrieval.publish import Publisher
from tests.fakes_retrieval import WordEmbedder
from tests.graph.cli.conftest import Program, SameProgram, one_line_error

DATA = os.environ.get("EXPEDIENTE_DATA")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three runbooks, one of them broken."""
    made = tmp_path / "runbooks"
    (made / "etcd").mkdir(parents=True)
    (made / "etcd" / "etcdNoLeader.md").write_text("# etcdNoLeader\n\n## Meaning\n\nThe cluster has no leader.\n")
    (made / "disk.txt").write_text("The disk is full.\n")
    (made / "broken.md").write_bytes(b"\xff\xfe")
    return made


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> SameProgram:
    """The program on an empty home, with an embedder that costs nothing."""
    monkeypatch.setattr(graph.home_library, "EMBEDDER", WordEmbedder)
    (tmp_path / "cwd").mkdir()
    return SameProgram(Program(tmp_path / "home", tmp_path / "cwd"), monkeypatch, capfd)


def test_what_goes_in_and_what_is_skipped_is_told(words: SameProgram, folder: Path) -> None:
    done = words("ingest", str(folder), "--tenant", "acme")
    assert (done.code, done.err) == (4, "")
    assert "skipped  broken.md: not UTF-8 at byte 0; save the file as UTF-8" in done.out
    assert "runbooks for acme: 2 added; 2 chunks in" in done.out
    assert "1 file skipped" in done.out
    (folder / "broken.md").write_text("# Mended\n")
    again = words("ingest", str(folder), "--tenant", "acme")
    assert (again.code, again.err) == (0, "")
    assert "runbooks for acme: 1 added, 2 unchanged; 1 chunk in" in again.out


def test_a_second_run_changes_nothing_and_a_vanished_file_is_withdrawn(words: SameProgram, folder: Path) -> None:
    (folder / "broken.md").unlink()
    first = words("ingest", str(folder), "--tenant", "acme", "--json").json()
    again = words("ingest", str(folder), "--tenant", "acme", "--json").json()
    (folder / "disk.txt").unlink()
    third = words("ingest", str(folder), "--tenant", "acme", "--json").json()
    counts = ("added", "unchanged", "removed", "chunks")
    assert [[found[name] for name in counts] for found in (first, again, third)] == [
        [2, 0, 0, 2],
        [0, 2, 0, 0],
        [0, 1, 1, 0],
    ]


def test_the_corpus_shows_a_principal_what_that_principal_may_read(words: SameProgram, folder: Path) -> None:
    words("ingest", str(folder), "--tenant", "acme", "--acl", "admins")
    words("ingest", str(folder / "disk.txt"), "--tenant", "globex")

    def listed(*who: str) -> set[tuple[str, str]]:
        found = words("corpus", *who, "--json").json()["documents"]
        return {(one["id"], one["tenant"]) for one in found if one["origin"] == str(folder)}

    acme = {("runbooks/etcd/etcdNoLeader", "acme"), ("runbooks/disk", "acme")}
    assert listed("--as", "ana@acme") == set()
    assert listed("--as", "bea@acme") == acme
    assert listed("--as", "omar@globex") == {("runbooks/disk", "globex")}
    assert listed("--all") == {*acme, ("runbooks/disk", "globex")}
    shown = words("corpus", "--as", "omar@globex").out
    assert "acme" not in shown
    assert "runbooks/disk@" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_the_corpus_tells_versions_validity_and_origin(words: SameProgram, folder: Path) -> None:
    (folder / "later.md").write_text("---\nversion: v9\neffective_from: 2099-01-01\nacl: [customers]\n---\n# Later\n")
    words("ingest", str(folder), "--tenant", "acme")
    found = words("corpus", "--as", "ana@acme", "--json").json()["documents"]
    (later,) = (one for one in found if one["id"] == "runbooks/later")
    assert (later["version"], later["status"], later["acl"]) == ("v9", "not_yet_effective", ["customers"])
    assert (later["effective_from"], later["chunks"]) == ("2099-01-01T00:00:00+00:00", 1)
    assert (later["origin"], later["file"]) == (str(folder), "later.md")
    assert "runbooks/later@v9 · not yet effective from 2099-01-01; only" in words("corpus", "--as", "ana@acme").out


def test_what_a_folder_brought_can_be_withdrawn(words: SameProgram, folder: Path) -> None:
    words("ingest", str(folder), "--public")
    assert words("ingest", str(folder), "--public", "--withdraw", "--json").json()["removed"] == 2
    found = words("corpus", "--all", "--json").json()["documents"]
    assert not [one for one in found if one["id"].startswith("runbooks/")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ingest", "."], "got no tenant; allowed: --tenant NAME, or --public"),
        (["ingest", "nowhere", "--tenant", "acme"], "no corpus folder at nowhere"),
        (["ingest", ".", "--tenant", "public"], "say --public"),
        (["ingest", ".", "--tenant", "a b"], "allowed: a name without blanks"),
        (["ingest", ".", "--tenant", "acme", "--acl", " , "], "got an empty --acl"),
        (["corpus"], "allowed: --as NAME@TENANT, or --all"),
        (["corpus", "--all", "--as", "ana@acme"], "allowed: --as NAME@TENANT, or --all"),
        (["corpus", "--as", "zoe@acme"], "got principal 'zoe@acme'"),
    ],
)
def test_a_wrong_call_is_one_line(words: SameProgram, arguments: list[str], said: str) -> None:
    assert said in one_line_error(words(*arguments), 2)


def test_a_tenant_that_nobody_belongs_to_is_refused_unless_it_is_said_to_be_new(
    words: SameProgram, folder: Path
) -> None:
    for options in (["--tenant", "acmee"], ["--public", "--tenant", "acmee"]):
        error = one_line_error(words("ingest", str(folder), *options), 2)
        assert "got --tenant 'acmee', to which no principal of the domain belongs; allowed: acme, globex" in error
        assert "--new-tenant" in error
    assert not (words.home / "library").exists()
    assert words("ingest", str(folder), "--tenant", "acmee", "--new-tenant", "--json").json()["added"] == 2
    assert words("ingest", str(folder), "--tenant", "acmee", "--withdraw", "--json").json()["removed"] == 2


def test_ctrl_c_keeps_what_is_in_and_names_the_command_that_goes_on(
    words: SameProgram, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingesting, "BATCH_CHUNKS", 1)
    published = Publisher.publish

    def publish_and_stop(*arguments: object) -> None:
        published(*arguments)  # type: ignore[arg-type]  # passed on as they came
        signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patched:
        patched.setattr(Publisher, "publish", publish_and_stop)
        error = one_line_error(words("ingest", str(folder), "--tenant", "acme"), 130)
    assert f"agent ingest {folder} --tenant acme" in error
    found = words("ingest", str(folder), "--tenant", "acme", "--json").json()
    assert (found["unchanged"], found["added"]) == (1, 1)


@pytest.mark.slow
@pytest.mark.skipif(DATA is None, reason="EXPEDIENTE_DATA names no folder of measuring data")
@pytest.mark.timeout(900)
@pytest.mark.may_skip_in_ci(reason="the measuring data lies outside the project; EXPEDIENTE_DATA names it")
def test_a_question_on_an_alert_of_many_runbooks_cites_the_right_one(same: SameProgram, tmp_path: Path) -> None:
    """On the default embedder: every sixth of the folder, a second run, and three alerts asked for by name."""
    runbooks = tmp_path / "runbooks"
    asked = {
        "What does etcdNoLeader mean and how do I fix it?": "cluster-etcd-operator/etcdNoLeader",
        "What does KubePersistentVolumeFillingUp mean?": "cluster-monitoring-operator/KubePersistentVolumeFillingUp",
        "What causes ClusterOperatorDown?": "cluster-monitoring-operator/ClusterOperatorDown",
    }
    whole = Path(str(DATA)) / "runbooks"
    pages = sorted(page.relative_to(whole) for page in whole.rglob("*.md"))
    named = {Path("alerts", f"{runbook}.md") for runbook in asked.values()}
    for page in {*pages[::6], *named}:
        (runbooks / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(whole / page, runbooks / page)
    count = len({*pages[::6], *named})
    first = same("ingest", str(runbooks), "--tenant", "acme", "--json").json()
    assert (first["added"], first["skipped"]) == (count, 0)
    assert first["chunks"] > 4 * count > 180
    again = same("ingest", str(runbooks), "--tenant", "acme", "--json").json()
    assert (again["unchanged"], again["chunks"]) == (count, 0)
    for question, runbook in asked.items():
        answer = same("ask", question, "--as", "ana@acme", "--json").json()["answer"]
        assert answer["sources"]
        assert all(source.startswith(f"runbooks/alerts/{runbook}@") for source in answer["sources"]), question
    foreign = same("ask", "What does etcdNoLeader mean?", "--as", "omar@globex", "--json").out
    assert "etcdNoLeader@" not in foreign
