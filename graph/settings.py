"""The settings: the one place that reads the environment. Variables are EXPEDIENTE_…, also from `.env`."""

import re
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings import SettingsError as SourceError

from graph.sendable import Address, HeaderName, HeaderSecret
from retrieval.embedders import EmbedderName
from retrieval.ranking import Ranking, RankingUnusable
from state.request import Mode
from state.spending import Price

_PREFIX = "EXPEDIENTE_"
TOOL_SECRET = f"{_PREFIX}TOOL_SECRET_"
MIN_SECRET_CHARS = 32
_NEAR = 0.8  # how like a setting's name another one is, from 0 to 1, before it is taken for a slip
_TESTS_OWN = ("test_database_url",)  # like a setting's name, and read where tests and measurements are run
_NO_JSON = re.compile(r'parsing value for field "(\w+)"')  # as pydantic-settings words it
MIN_TOOL_SECRET_CHARS = 8  # a shorter one could not be masked: it stands in ordinary words too


class SettingsError(ValueError):
    """A setting has a value that cannot be used: which variable, what was got, what is allowed."""


class Settings(BaseSettings):
    """Everything that differs between machines. Read it with `Settings.load()`; secrets never print.

    All local data lives below `home`. `database_url` None means SQLite there, PostgreSQL takes all but the library;
    `secret` None means one that is made once and kept in `home` (graph.master_secret). `window_tokens` is the model's
    context window in its own tokens, of which `reserved_output_tokens` stay free for the reply (B1). `domain` is an
    importable package.
    `openai_profile` names what the server is like (graph.models.profiles). A reply is awaited `model_timeout_s`;
    `model_retries` failures of a decision are tried again, waiting `model_wait_s` in all; `model_modes` are the ways to
    ask for a proposal, the best first, where they are not the profile's. `model_prices` are the user's, by model name.
    `summariser` sums long results up for later requests: by code, or by the model too, a call each.
    `recording` is the file that replies are added to, and that the model `replay` plays.
    `otlp_endpoint` takes spans of runs, nodes and model calls (graph.tracing), with `otlp_headers`; unset means none.
    `embedder` makes the vectors, by the model and dimension it is told; `chroma_url` keeps them on a Chroma server that
    several processes share, instead of in `home`.
    `auth_key` signs the tokens of a server with authentication (graph.auth). `tool_secrets` are the credentials of the
    tools by name, one variable each: EXPEDIENTE_TOOL_SECRET_BILLING_API is `billing_api`.
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
    tool_secrets: dict[str, SecretStr] = {}
    openai_api_key: HeaderSecret | None = None
    openai_base_url: Address | None = None
    openai_model: str | None = Field(default=None, min_length=1)
    openai_profile: str | None = Field(default=None, min_length=1)
    model_timeout_s: float = Field(default=60.0, gt=0, le=3600)
    model_modes: tuple[Mode, ...] | None = Field(default=None, min_length=1)
    model_retries: int = Field(default=2, ge=0, le=10)
    model_wait_s: float = Field(default=30.0, ge=0, le=3600)
    summariser: Literal["extractive", "model"] = "extractive"
    recording: Path | None = None
    model_prices: dict[str, Price] = {}
    otlp_endpoint: Address | None = None
    otlp_headers: dict[HeaderName, HeaderSecret] = {}
    embedder: EmbedderName = EmbedderName.MINILM
    embedder_model: str | None = Field(default=None, min_length=1)
    embedder_dimension: int | None = Field(default=None, ge=1)
    chroma_url: Address | None = Field(default=None, pattern=r"^https?://[^/\s]+$")
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

    @model_validator(mode="after")
    def _summaries_by_a_language_model(self) -> Self:
        if self.summariser == "model" and self.model in ("offline", "hijacked"):
            raise ValueError(
                f"{_PREFIX}SUMMARISER: got model, and {_PREFIX}MODEL is {self.model}, which writes no summaries; "
                f"allowed: extractive, or model with {_PREFIX}MODEL=openai or replay"
            )
        return self

    @model_validator(mode="after")
    def _tool_secrets_can_be_masked(self) -> Self:
        for name, secret in self.tool_secrets.items():
            if len(secret.get_secret_value()) < MIN_TOOL_SECRET_CHARS:
                raise ValueError(
                    f"{TOOL_SECRET}{name.upper()}: got a value that is not shown; allowed: at least "
                    f"{MIN_TOOL_SECRET_CHARS} characters"
                )
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Beside the usual sources, in both of them, the credentials of tools; a name that is misspelt in one of them
        is refused."""
        both = (dotenv_settings, env_settings)
        return init_settings, _Misspelt(settings_cls, both), _ToolSecrets(settings_cls, both), *reversed(both)

    @property
    def all_secrets(self) -> dict[str, SecretStr]:
        """Every secret among the settings, by the name that stands in its place where it is masked."""
        named = {"secret": self.secret, "auth_key": self.auth_key, "openai_api_key": self.openai_api_key}
        named |= {"database_url": self.database_url}
        named |= {f"previous_secret_{n}": secret for n, secret in enumerate(self.previous_secrets)}
        named |= {f"otlp_header_{name}": secret for name, secret in self.otlp_headers.items()}
        return {name: secret for name, secret in named.items() if secret is not None} | self.tool_secrets

    @classmethod
    def load(cls, **given: Any) -> Self:
        """The settings of the environment, with those given by name over them. Raises SettingsError."""
        try:
            return cls(**given)
        except ValidationError as error:
            raise SettingsError(_explained(error, cls)) from None
        except (SourceError, OSError, UnicodeDecodeError) as error:
            if isinstance(error, SourceError) and (field := _NO_JSON.search(str(error))):
                raise SettingsError(
                    f"{_PREFIX}{field[1].upper()}: got text that is no JSON; allowed: JSON, as .env.example shows it; "
                    "correct it in the environment or in .env"
                ) from None
            reason = error.strerror if isinstance(error, OSError) else _first_line(error)
            raise SettingsError(f"the settings cannot be read: got {reason}; correct the environment or .env") from None

    @property
    def database(self) -> Path | str:
        """What `graph.stores.engine.open_database` opens: a file in `home`, or the URL that was set."""
        return self.home / "expediente.db" if self.database_url is None else self.database_url.get_secret_value()

    @property
    def ranking_file(self) -> Path:
        """What `agent tune` fitted on labelled questions; not there until it did."""
        return self.home / "ranking.json"

    @cached_property
    def ranking(self) -> Ranking:
        """How candidates are ranked: as tuned, else the defaults. Raises SettingsError."""
        if not self.ranking_file.exists():
            return Ranking()
        try:
            return Ranking.read(self.ranking_file)
        except RankingUnusable as fault:
            raise SettingsError(str(fault)) from None

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


class _Named(PydanticBaseSettingsSource):
    """What the variables' own names say, in `.env` and over it in the environment; an empty variable is not set."""

    def __init__(self, settings: type[BaseSettings], sources: tuple[PydanticBaseSettingsSource, ...]) -> None:
        super().__init__(settings)
        self._sources = sources

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Not asked: the whole is made below."""
        return None, field_name, False

    def variables(self, start: str) -> dict[str, str]:
        """The values of the variables that begin so, by the rest of their names, in small letters."""
        return {
            name.casefold().removeprefix(start.casefold()): value
            for source in self._sources
            if isinstance(source, EnvSettingsSource)
            for name, value in source.env_vars.items()
            if name.casefold().startswith(start.casefold()) and value
        }


class _ToolSecrets(_Named):
    """One variable for each credential."""

    def __call__(self) -> dict[str, Any]:
        """The credentials."""
        found = self.variables(TOOL_SECRET)
        return {"tool_secrets": found} if found else {}


class _Misspelt(_Named):
    """No setting: a name close to a setting's would be passed over without a word, and the setting not be set."""

    def __call__(self) -> dict[str, Any]:
        """Nothing. Raises SettingsError."""
        known = self.settings_cls.model_fields
        for name in self.variables(_PREFIX):
            near = get_close_matches(name, known, n=1, cutoff=_NEAR)
            if near and name not in (*known, *_TESTS_OWN) and not f"{_PREFIX}{name.upper()}".startswith(TOOL_SECRET):
                raise SettingsError(
                    f"got {_PREFIX}{name.upper()}, which nothing reads; did you mean {_PREFIX}{near[0].upper()}? "
                    "Correct the name in the environment or in .env, or remove it"
                )
        return {}


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
        name, *within = (str(part) for part in problem["loc"])
        field = settings.model_fields.get(name)
        secret = field is None or "SecretStr" in str(field.annotation)
        got = "a value that is not shown" if secret else repr(problem["input"])
        at = f" ({'.'.join(within)})" if within else ""
        lines.append(f"{_PREFIX}{name.upper()}{at}: got {got}; allowed: {message[:1].lower()}{message[1:]}")
    return "; ".join(lines) + "; correct it in the environment or in .env"
