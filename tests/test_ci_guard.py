"""The guard in conftest.py, seen from outside: a run of its own under CI and one without."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CASES = {
    "plain_skip": ("def test_it():\n    pytest.skip('no server')\n", False),
    "skip_mark": ("@pytest.mark.skip(reason='later')\ndef test_it():\n    pass\n", False),
    "module_skip": ("pytest.skip('no extra', allow_module_level=True)\n", False),
    "missing_import": ("pytest.importorskip('no_such_module')\n", False),
    "excuse_without_reason": ("@pytest.mark.may_skip_in_ci\ndef test_it():\n    pytest.skip('no server')\n", False),
    "excused": ("@pytest.mark.may_skip_in_ci(reason='needs a GPU')\ndef test_it():\n    pytest.skip('none')\n", True),
    "expected_failure": ("@pytest.mark.xfail\ndef test_it():\n    raise AssertionError\n", True),
}


def run(folder: Path, ci: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."]
    # The copied conftest imports from this folder's parent, as it does at home.
    environment = {**os.environ, "CI": ci, "PYTHONPATH": str(Path(__file__).parents[1])}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("name", CASES)
def test_under_ci_a_skip_fails_unless_it_is_excused(tmp_path: Path, name: str) -> None:
    body, passes = CASES[name]
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = may_skip_in_ci: its reason\n", encoding="utf-8")
    (tmp_path / "test_case.py").write_text(f"import pytest\n\n{body}", encoding="utf-8")

    under_ci = run(tmp_path, "true")

    assert (under_ci.returncode == 0) is passes, under_ci.stdout
    assert passes or "CI ran no test here" in under_ci.stdout


def test_elsewhere_a_skip_stays_a_skip(tmp_path: Path) -> None:
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_case.py").write_text("import pytest\n\n" + CASES["plain_skip"][0], encoding="utf-8")
    assert run(tmp_path, "").returncode == 0
