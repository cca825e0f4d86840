"""Models by name: what can be opened, and what is said when it cannot."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from graph.models.registry import MODELS, ModelNotConfigured, open_model
from state.ports import Model


@pytest.mark.parametrize("name", MODELS)
def test_every_name_opens_a_model(name: str, tmp_path: Path) -> None:
    recording = tmp_path / "recording.jsonl"
    recording.touch()
    given: dict[str, Any] = {"recording": recording} if name == "replay" else {}
    key = SecretStr("k")
    model: Model = open_model(name, openai_model="small", openai_api_key=key, tool_names=("look_up",), **given)
    assert model.name.startswith(name)


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(
        ModelNotConfigured, match=r"'gpt'; allowed: offline, hijacked, openai, replay\. Set EXPEDIENTE_MODEL"
    ):
        open_model("gpt")


@pytest.mark.parametrize(
    ("model", "key", "url", "says"),
    [
        (None, SecretStr("k"), None, "EXPEDIENTE_OPENAI_MODEL"),
        ("small", None, None, "EXPEDIENTE_OPENAI_API_KEY"),
        ("small", SecretStr(""), None, "EXPEDIENTE_OPENAI_API_KEY"),
    ],
)
def test_what_is_missing_is_named(model: str | None, key: SecretStr | None, url: str | None, says: str) -> None:
    with pytest.raises(ModelNotConfigured, match=says):
        open_model("openai", openai_model=model, openai_api_key=key, openai_base_url=url)


def test_a_server_of_ones_own_needs_no_key() -> None:
    assert open_model("openai", openai_model="small", openai_base_url="http://127.0.0.1:9/v1").name == "openai:small"


def test_the_offline_model_does_not_load_the_client() -> None:
    code = (
        "import sys, graph.models.registry as r; r.open_model('offline'); sys.exit('langchain_openai' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
