"""The settings: the one place that reads the environment. Variables are EXPEDIENTE_…, also from `.env`."""

from pathlib import Path
from typing import Any, Self

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict
from pydantic_settings import SettingsError as SourceError

_PREFIX = "EXPEDIENTE_"
MIN_SECRET_CHARS = 32


class SettingsError(ValueError):
    """A setting has a value that cannot be used: which variable, what was got, what is allowed."""


class Settings(BaseSettings):
    """Everything that differs between machines. Read it with `Settings.load()`; secrets never print.

    All local data lives below `home`. `database_url` None means SQLite there, PostgreSQL takes all but the library;
    `secret` None means one that is made once and kept in `home` (graph.master_secret). `window_tokens` is the model's
    context window in its own tokens, of which `reserved_output_tokens` stay free for the reply (B1). `domain` is an
    importable package.
    `auth_key` signs the tokens of a server with authentication (graph.auth).
    """

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX,
        env_file=".env",
        env_file_encoding="utf-8",
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,  # a rejected secret must not stand in the error
        env_ignore_empty=True,
    )

    home: Path = Path(".expediente")
    domain: str = Field(default="domain", pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")
    model: str = Field(default="offline", min_length=1)
    dev_principal: str | None = Field(default=None, pattern=r"^[^@\s]+@[^@\s]+$")
    database_url: SecretStr | None = None
    secret: SecretStr | None = None
    previous_secrets: tuple[SecretStr, ...] = ()
    auth_key: SecretStr | None = None
    openai_api_key: SecretStr | None = None
    openai_base_url: str | None = Field(default=None, pattern=r"^https?://\S+$")
    openai_model: str | None = Field(default=None, min_length=1)
    window_tokens: int = Field(default=16_384, ge=1_024)
    reserved_output_tokens: int = Field(default=1_024, ge=64)
    temperature: float = Field(default=0.0, ge=0, le=2)
    tokenizer: str = Field(default="o200k_base", min_length=1)

    @field_validator("secret", "previous_secrets", "auth_key")
    @classmethod
    def _long_enough(cls, value: SecretStr | tuple[SecretStr, ...] | None) -> SecretStr | tuple[SecretStr, ...] | None:
        given = value if isinstance(value, tuple) else () if value is None else (value,)
        for secret in given:
            if len(secret.get_secret_value()) < MIN_SECRET_CHARS:
                raise ValueError(f"should have at least {MIN_SECRET_CHARS} characters")
        return value

    @model_validator(mode="after")
    def _leaves_input(self) -> Self:
        if self.reserved_output_tokens >= self.window_tokens:
            raise ValueError(
                f"{_PREFIX}RESERVED_OUTPUT_TOKENS: got {self.reserved_output_tokens}; "
                f"allowed: less than {_PREFIX}WINDOW_TOKENS ({self.window_tokens})"
            )
        return self

    @classmethod
    def load(cls, **given: Any) -> Self:
        """The settings of the environment, with those given by name over them. Raises SettingsError."""
        try:
            return cls(**given)
        except ValidationError as error:
            raise SettingsError(_explained(error, cls)) from None
        except (SourceError, OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else _first_line(error)
            raise SettingsError(f"the settings cannot be read: got {reason}; correct the environment or .env") from None

    @property
    def database(self) -> Path | str:
        """What `graph.stores.engine.open_database` opens: a file in `home`, or the URL that was set."""
        return self.home / "expediente.db" if self.database_url is None else self.database_url.get_secret_value()

    @property
    def checkpoints_file(self) -> Path:
        """The checkpoints on SQLite. A file apart from the stores, so that the two never wait for each other."""
        return self.home / "checkpoints.db"

    @property
    def memory_file(self) -> Path:
        """LangGraph's Store on SQLite, which holds memory."""
        return self.home / "memory.db"

    def make_home(self) -> Path:
        """Create `home` for this user only, if it is not there. Raises SettingsError where that cannot be."""
        try:
            self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise SettingsError(
                f"{_PREFIX}HOME: got {self.home} ({error.strerror}); allowed: a folder this user can create and write"
            ) from None
        return self.home


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def _explained(error: ValidationError, settings: type[Settings]) -> str:
    """One line per wrong variable. The values of secrets are left out."""
    lines = []
    for problem in error.errors(include_url=False, include_context=False):
        message = problem["msg"].removeprefix("Value error, ")
        if not problem["loc"]:
            lines.append(message)
            continue
        name = str(problem["loc"][0])
        field = settings.model_fields.get(name)
        secret = field is None or "SecretStr" in str(field.annotation)
        got = "a value that is not shown" if secret else repr(problem["input"])
        lines.append(f"{_PREFIX}{name.upper()}: got {got}; allowed: {message[:1].lower()}{message[1:]}")
    return "; ".join(lines) + "; correct it in the environment or in .env"
