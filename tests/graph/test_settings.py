"""The settings: their sources, and one clear error for a wrong value that shows no secret."""

from pathlib import Path

import pytest

from graph.settings import Settings, SettingsError

PASSWORD = "demo-cred-4471-QWER"


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"EXPEDIENTE_{name.upper()}", raising=False)
    monkeypatch.chdir(tmp_path)


def test_nothing_needs_to_be_set() -> None:
    settings = Settings.load()
    assert settings.home == Path(".expediente")
    assert (settings.domain, settings.model, settings.temperature) == ("domain", "offline", 0.0)
    assert settings.database == Path(".expediente/expediente.db")
    assert settings.checkpoints_file.parent == settings.memory_file.parent == settings.home
    assert len({settings.database, settings.checkpoints_file, settings.memory_file}) == 3


def test_given_over_environment_over_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "EXPEDIENTE_MODEL=from-file\nEXPEDIENTE_TEMPERATURE=0.5\nEXPEDIENTE_TOKENIZER=from-file\nOTHER_TOOL=1\n"
    )
    monkeypatch.setenv("EXPEDIENTE_MODEL", "from-environment")
    monkeypatch.setenv("EXPEDIENTE_TEMPERATURE", "0.25")
    settings = Settings.load(model="given")
    assert (settings.model, settings.temperature, settings.tokenizer) == ("given", 0.25, "from-file")


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPEDIENTE_OPENAI_API_KEY", "")
    monkeypatch.setenv("EXPEDIENTE_HOME", "")
    assert Settings.load().openai_api_key is None
    assert Settings.load().home == Path(".expediente")


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("WINDOW_TOKENS", "many", "EXPEDIENTE_WINDOW_TOKENS: got 'many'; allowed: input should be a valid integer"),
        (
            "WINDOW_TOKENS",
            "10",
            "got '10'; allowed: input should be greater than or equal to 1024",
        ),
        ("RESERVED_OUTPUT_TOKENS", "99999", "got 99999; allowed: less than EXPEDIENTE_WINDOW_TOKENS (16384)"),
        ("TEMPERATURE", "3", "EXPEDIENTE_TEMPERATURE: got '3'; allowed: input should be less than or equal to 2"),
        ("TEMPERATURE", "nan", "EXPEDIENTE_TEMPERATURE: got 'nan'"),
        ("DEV_PRINCIPAL", "ana", "EXPEDIENTE_DEV_PRINCIPAL: got 'ana'"),
        ("DOMAIN", "my/domain", "EXPEDIENTE_DOMAIN: got 'my/domain'"),
        ("OPENAI_BASE_URL", "localhost:8080", "EXPEDIENTE_OPENAI_BASE_URL: got 'localhost:8080'"),
        ("OPENAI_BASE_URL", "http://[::1", "got 'http://[::1'; allowed: an address that begins with http:// or"),
        ("OPENAI_BASE_URL", "http://host:99999/v1", "ASCII characters alone (invalid port number)"),
        ("OPENAI_BASE_URL", "http:///v1", "got 'http:///v1'"),
        ("OPENAI_BASE_URL", "http://host/\x1b[31m", "EXPEDIENTE_OPENAI_BASE_URL: got"),
        ("OPENAI_BASE_URL", "http://ho\u200bst/v1", "EXPEDIENTE_OPENAI_BASE_URL: got"),
        ("OTLP_ENDPOINT", "http://[::1", "EXPEDIENTE_OTLP_ENDPOINT: got 'http://[::1'"),
        ("CHROMA_URL", "http://[::1", "EXPEDIENTE_CHROMA_URL: got 'http://[::1'"),
        ("CHROMA_URL", "http://host/path", "EXPEDIENTE_CHROMA_URL: got 'http://host/path'"),
        ("OPENAI_API_KEY", "demo-cred\n", "EXPEDIENTE_OPENAI_API_KEY: got a value that is not shown; allowed: what a"),
        ("OPENAI_API_KEY", "demo\r\nX-Other: demo-cred", "got a value that is not shown; allowed: what a header can"),
        ("OPENAI_API_KEY", "demo-cred-ñ", "printable ASCII, with no line break and no space at its ends"),
        (
            "OTLP_HEADERS",
            '{"x-api-key": "demo-cred\\n"}',
            "EXPEDIENTE_OTLP_HEADERS (x-api-key): got a value that is not",
        ),
        ("OTLP_HEADERS", '{"x api": "demo-cred"}', "allowed: a header's name: ASCII letters, digits and hyphens"),
        (
            "SECRET",
            "demo-cred",
            "SECRET: got a value that is not shown; allowed: should have at least 32 characters",
        ),
        ("PREVIOUS_SECRETS", '["demo-cred"]', "EXPEDIENTE_PREVIOUS_SECRETS: got a value that is not shown"),
        ("PREVIOUS_SECRETS", "demo-cred", "got text that is no JSON; allowed: JSON, as .env.example shows it"),
    ],
)
def test_a_wrong_value_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str) -> None:
    monkeypatch.setenv(f"EXPEDIENTE_{name}", value)
    with pytest.raises(SettingsError) as wrong:
        Settings.load()
    message = str(wrong.value)
    assert told in message
    assert "demo-cred" not in message
    assert "\n" not in message
    assert wrong.value.__suppress_context__


def test_all_wrong_values_are_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPEDIENTE_WINDOW_TOKENS", "many")
    monkeypatch.setenv("EXPEDIENTE_TEMPERATURE", "hot")
    with pytest.raises(SettingsError, match=r"WINDOW_TOKENS.*TEMPERATURE.*\.env"):
        Settings.load()


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"EXPEDIENTE_MODEL=\xff\xfe\n")
    with pytest.raises(SettingsError, match="cannot be read"):
        Settings.load()


def test_secrets_never_print() -> None:
    url = f"postgresql://ana:{PASSWORD}@host/db"
    settings = Settings.load(
        secret=PASSWORD * 2, openai_api_key=PASSWORD, database_url=url, previous_secrets=[PASSWORD * 3]
    )
    assert PASSWORD not in repr(settings) + str(settings) + settings.model_dump_json()
    assert settings.database == url


def test_home_is_made_for_this_user_alone(tmp_path: Path) -> None:
    home = Settings.load(home=tmp_path / "deep" / "home").make_home()
    assert home.stat().st_mode & 0o777 == 0o700
    home.chmod(0o750)
    assert Settings.load(home=home).make_home().stat().st_mode & 0o777 == 0o750


def test_a_home_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for home in (tmp_path / "file", tmp_path / "file" / "home"):
        with pytest.raises(SettingsError, match=r"EXPEDIENTE_HOME: got .*file"):
            Settings.load(home=home).make_home()


@pytest.mark.parametrize(
    ("name", "meant"),
    [("OPENAI_MODLE", "OPENAI_MODEL"), ("AUTHKEY", "AUTH_KEY"), ("DEV_PRINCIPLE", "DEV_PRINCIPAL")],
)
@pytest.mark.parametrize("in_file", [True, False])
def test_a_misspelt_name_is_refused_since_its_setting_would_not_be_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, meant: str, in_file: bool
) -> None:
    if in_file:
        (tmp_path / ".env").write_text(f"EXPEDIENTE_{name}=x\n")
    else:
        monkeypatch.setenv(f"EXPEDIENTE_{name}", "x")
    with pytest.raises(SettingsError) as refused:
        Settings.load()
    assert str(refused.value) == (
        f"got EXPEDIENTE_{name}, which nothing reads; did you mean EXPEDIENTE_{meant}? "
        "Correct the name in the environment or in .env, or remove it"
    )


def test_what_a_header_and_a_client_can_carry_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = {
        "OPENAI_BASE_URL": "http://u:p@[::1]:8080/v1?x=1",
        "OPENAI_API_KEY": "user key/+=~1",
        "OTLP_HEADERS": '{"x-api-key": "", "Authorization": "Basic dXNlcg=="}',
        "CHROMA_URL": "https://xn--exmple-cua.test:8000",
    }
    for name, value in taken.items():
        monkeypatch.setenv(f"EXPEDIENTE_{name}", value)
    settings = Settings.load()
    assert settings.openai_base_url == taken["OPENAI_BASE_URL"]
    assert settings.openai_api_key is not None
    assert settings.openai_api_key.get_secret_value() == taken["OPENAI_API_KEY"]
    assert settings.otlp_headers["Authorization"].get_secret_value() == "Basic dXNlcg=="


def test_names_that_others_read_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATA", "TEST_DATABASE_URL", "WHEELS", "MODEL_SERVER", "EVERY_MOMENT", "TOOL_SECRET_SECRETS"):
        monkeypatch.setenv(f"EXPEDIENTE_{name}", "something long")
    Settings.load()


def test_prices_that_are_no_json_and_prices_that_lack_one_are_told_by_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPEDIENTE_MODEL_PRICES", "{tiny}")
    with pytest.raises(SettingsError, match="EXPEDIENTE_MODEL_PRICES: got text that is no JSON; allowed: JSON, as"):
        Settings.load()
    monkeypatch.setenv("EXPEDIENTE_MODEL_PRICES", '{"tiny": {"input": 2.5, "outputs": 10}}')
    with pytest.raises(SettingsError) as refused:
        Settings.load()
    assert "EXPEDIENTE_MODEL_PRICES (tiny.output): got" in str(refused.value)
    assert "EXPEDIENTE_MODEL_PRICES (tiny.outputs): got 10; allowed: extra inputs are not permitted" in str(
        refused.value
    )
