"""A home that cannot be written, folder and files: what is filed in it can be looked at, and the rest is one line."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.graph.cli.conftest import AGENT, QUESTION, Program, SameProgram, environment, one_line_error

AS = ("--as", "ana@acme")
LOOKING = (
    ("show", "first", *AS),
    ("show", "first", "--tree", *AS),
    ("verify", "first", *AS),
    ("replay", "first", "0", *AS),
    ("explain", "first", "0", *AS),
    ("diff", "first", "0", "1", *AS),
    ("prefix", "first", *AS),
    ("events", "first", *AS),
    ("tools",),
)
WRITING = (
    ("ask", QUESTION, *AS, "--thread", "first"),
    ("resume", "first", *AS, "--approve", "call-0-0"),
    ("chat", *AS),
    ("notify", "service_status", "login", "--tenant", "acme"),
    ("forget", "--subject", "ana@acme"),
    ("ingest", "FOLDER", "--tenant", "acme"),
)


@pytest.fixture
def kept(same: SameProgram) -> Iterator[SameProgram]:
    """The program on a home in which nobody but root may write anything."""
    entries = [same.home, *same.home.rglob("*")]
    modes = {entry: entry.stat().st_mode for entry in entries}
    for entry in entries:
        entry.chmod(modes[entry] & 0o555)
    yield same
    for entry, mode in modes.items():
        entry.chmod(mode)


def lies_there(home: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below the home: when it was written last, and its bytes. Root is kept from nothing, so it shows."""
    found = (entry for entry in home.rglob("*") if entry.is_file())
    return {str(one.relative_to(home)): (one.stat().st_mtime_ns, one.read_bytes()) for one in found}


def test_what_is_filed_is_looked_at_and_nothing_is_written(kept: SameProgram) -> None:
    before = lies_there(kept.home)
    for command in LOOKING:
        done = kept(*command)
        assert (done.code, done.err) == (0, ""), command
    assert "nothing was changed" in kept("verify", "first", *AS).out
    assert lies_there(kept.home) == before


def test_what_would_write_is_one_line_that_says_what_can_be_done(kept: SameProgram, tmp_path: Path) -> None:
    before = lies_there(kept.home)
    for command in WRITING:
        error = one_line_error(kept(*(str(tmp_path) if word == "FOLDER" else word for word in command)), 1)
        assert f"EXPEDIENTE_HOME: got {kept.home}, which cannot be written; allowed: " in error, command
        assert "set EXPEDIENTE_HOME to another" in error
    assert lies_there(kept.home) == before


def test_looking_writes_nothing_where_it_could_either(same: SameProgram) -> None:
    before = lies_there(same.home)
    for command in (("show", "first", *AS), ("verify", "first", *AS)):
        assert same(*command).code == 0
    assert lies_there(same.home) == before


MOUNTED = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && ! touch "$1/written" 2>/dev/null'


def test_a_mount_that_only_reads_is_looked_at(agent: Program) -> None:
    alone = [shutil.which("unshare") or "unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    home = str(agent.home)
    try:
        subprocess.run([*alone, MOUNTED, "sh", home], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this user may mount nothing here")
    done = subprocess.run(
        [*alone, f'{MOUNTED} && exec "$2" verify first --as ana@acme', "sh", home, str(AGENT)],
        cwd=agent.folder,
        env=environment(agent.home),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("nothing was changed\n")
