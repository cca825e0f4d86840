"""The guard in conftest.py, seen from outside: a run of its own under CI and one without."""

import os
import re
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


def run(folder: Path, ci: str, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *more, "."]
    # The copied conftest imports from this folder's parent, as it does at home.
    environment = {**os.environ, "CI": ci, "PYTHONPATH": str(Path(__file__).parents[1])}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def under_ci(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What one run of all cases prints, each in a file of its own."""
    folder = tmp_path_factory.mktemp("cases")
    shutil.copy(Path(__file__).with_name("conftest.py"), folder)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = may_skip_in_ci: its reason\n", encoding="utf-8")
    for name, (body, _) in CASES.items():
        (folder / f"test_{name}.py").write_text(f"import pytest\n\n{body}", encoding="utf-8")
    return run(folder, "true", "--continue-on-collection-errors", "-rA").stdout


@pytest.mark.parametrize("name", CASES)
def test_under_ci_a_skip_fails_unless_it_is_excused(under_ci: str, name: str) -> None:
    _, passes = CASES[name]
    (line,) = re.findall(rf"^(?:PASSED|FAILED|ERROR|XFAIL|XPASS|SKIPPED).*test_{name}\.py.*$", under_ci, re.MULTILINE)
    assert line.startswith(("FAILED", "ERROR")) is not passes, under_ci
    assert passes or "CI ran no test here" in under_ci.partition(f"test_{name}.py")[2]


def test_elsewhere_a_skip_stays_a_skip(tmp_path: Path) -> None:
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_case.py").write_text("import pytest\n\n" + CASES["plain_skip"][0], encoding="utf-8")
    assert run(tmp_path, "").returncode == 0
