"""The port Secrets: one contract for the fake and for the resolver on settings; where the values come from."""

from pathlib import Path

import pytest

from graph.settings import Settings, SettingsError
from graph.tool_secrets import SettingsSecrets
from state.ports import SecretMissing, Secrets
from tests.fakes import FakeSecrets

VALUE = "demo-cred-4471-QWER"
VARIABLE = "EXPEDIENTE_TOOL_SECRET_BILLING_API"


@pytest.fixture(params=["memory", "settings"])
def secrets(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Secrets:
    if request.param == "memory":
        return FakeSecrets(billing_api=VALUE)
    monkeypatch.setenv(VARIABLE, VALUE)
    return SettingsSecrets(Settings.load().tool_secrets)


def test_a_secret_is_resolved_by_name_and_does_not_print(secrets: Secrets) -> None:
    found = secrets.secret("billing_api")
    assert found.get_secret_value() == VALUE
    assert VALUE not in f"{found} {found!r} {secrets!r}"


def test_a_missing_one_names_the_variable_to_set(secrets: Secrets) -> None:
    with pytest.raises(SecretMissing, match="EXPEDIENTE_TOOL_SECRET_MAIL_RELAY"):
        secrets.secret("mail_relay")


def test_a_value_is_masked_by_its_name_wherever_it_stands(secrets: Secrets) -> None:
    assert secrets.masked(f"key={VALUE}, again {VALUE}.") == "key=[secret billing_api], again [secret billing_api]."
    assert secrets.masked("nothing of the kind") == "nothing of the kind"


def test_the_environment_goes_before_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text(
        f"{VARIABLE}=from-the-file\nEXPEDIENTE_TOOL_SECRET_MAIL=from-the-file-too\n", encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, VALUE)
    found = Settings.load().tool_secrets
    assert {name: secret.get_secret_value() for name, secret in found.items()} == {
        "billing_api": VALUE,
        "mail": "from-the-file-too",
    }
    assert VALUE not in repr(Settings.load())


def test_a_value_too_short_to_be_masked_is_refused_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "qzx17")
    with pytest.raises(
        SettingsError, match=f"{VARIABLE}: got a value that is not shown; allowed: at least 8"
    ) as refused:
        Settings.load()
    assert "qzx17" not in str(refused.value)
