"""The shipped resolver of credentials for tools: EXPEDIENTE_TOOL_SECRET_<NAME>, as graph.settings read it (X7)."""

from collections.abc import Mapping

from pydantic import SecretStr

from graph.masking import learn, masked
from graph.settings import TOOL_SECRET
from state.ports import SecretMissing


class SettingsSecrets:
    """The port Secrets on the settings. What it resolves is masked by value in all that this process says."""

    def __init__(self, values: Mapping[str, SecretStr]) -> None:
        self._values = dict(values)
        learn(self._values)

    def secret(self, name: str) -> SecretStr:
        """The credential of that name. Raises SecretMissing."""
        if name not in self._values:
            variable = f"{TOOL_SECRET}{name.upper()}"
            raise SecretMissing(f"got no secret {name!r}; set {variable} in the environment or in .env")
        return self._values[name]

    def masked(self, text: str) -> str:
        """The text with every known value masked, and what looks like a secret."""
        return masked(text)
