"""The master secret: made once, agreed on by all processes, never shown."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from graph.master_secret import master_secret
from graph.settings import Settings, SettingsError

GIVEN, BEFORE = "g" * 40, "b" * 40


def key_of(home: Path) -> bytes:
    return master_secret(Settings.load(home=home)).key("seal")


def test_it_is_made_once_for_this_user_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    first = key_of(home)
    assert key_of(home) == first
    assert [path.name for path in home.iterdir()] == ["secret"]
    assert (home / "secret").stat().st_mode & 0o777 == 0o600
    assert len((home / "secret").read_text().strip()) >= 43
    assert key_of(tmp_path / "other") != first


def test_threads_and_processes_agree(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with ProcessPoolExecutor(3, mp_context=multiprocessing.get_context("spawn")) as processes:
        keys = set(processes.map(key_of, [home] * 6))
    with ThreadPoolExecutor(8) as threads:
        keys |= set(threads.map(key_of, [home] * 8))
        assert len(keys) == 1
        assert len(set(threads.map(key_of, [tmp_path / "another"] * 8))) == 1
    assert [path.name for path in home.iterdir()] == ["secret"]


def test_the_settings_go_first(tmp_path: Path) -> None:
    secret = master_secret(Settings.load(home=tmp_path / "home", secret=GIVEN, previous_secrets=[BEFORE]))
    assert secret.keys("seal")[0] == secret.key("seal")
    assert secret.keys("seal")[1] == master_secret(Settings.load(home=tmp_path, secret=BEFORE)).key("seal")
    assert not (tmp_path / "home").exists()


def test_each_purpose_has_its_own_key(tmp_path: Path) -> None:
    secret = master_secret(Settings.load(home=tmp_path, secret=GIVEN))
    assert secret.key("seal") != secret.key("artifacts")
    assert len(secret.key("seal")) == 32


def test_it_never_prints(tmp_path: Path) -> None:
    secret = master_secret(Settings.load(home=tmp_path, secret=GIVEN, previous_secrets=[BEFORE]))
    assert GIVEN not in repr(secret)
    assert BEFORE not in repr(secret)


@pytest.mark.parametrize(("content", "told"), [(b"", "got 0 characters"), (b"short\n", "got 5"), (b"\xff", "not text")])
def test_a_damaged_file_is_told_and_left_alone(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "secret").write_bytes(content)
    with pytest.raises(SettingsError, match=told) as damaged:
        key_of(tmp_path)
    assert "EXPEDIENTE_SECRET" in str(damaged.value)
    assert (tmp_path / "secret").read_bytes() == content


def test_a_folder_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    with pytest.raises(SettingsError, match="cannot be used"):
        key_of(tmp_path)
