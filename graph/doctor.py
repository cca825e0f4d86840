"""What a run needs, looked at piece by piece: what is there, what is missing, how to fix it. Makes nothing new."""

import platform
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from urllib.parse import urlsplit

from graph.clock import SystemClock
from graph.domain_check import check_domain
from graph.domain_loading import load_domain
from graph.faults import explained
from graph.home import domain_of, refuse_foreign
from graph.home_library import settings_embedder
from graph.masking import masked
from graph.master_secret import master_secret
from graph.mcp.review import checked
from graph.models.profiles import OPENAI_URL
from graph.models.registry import MODELS, ModelNotConfigured, open_model
from graph.models.terms import call_terms
from graph.persistence import open_persistence
from graph.reachable import unreachable
from graph.savers import sqlite_saver, sqlite_store
from graph.settings import Settings, SettingsError
from graph.skill_review import told
from graph.skills import with_skills
from graph.stores.engine import found_version, open_database
from graph.stores.migrations import Admit
from graph.stores.schema import SCHEMA_VERSION
from graph.stores.url import database_url, on_server
from graph.tokens import EncodingCounter
from graph.tool_secrets import SettingsSecrets
from nodes.execute.script import confinement_fault
from retrieval.embed import MiniLM
from retrieval.folder import contents
from retrieval.library import Library
from state.domain import Domain
from state.policy import effective
from state.ports import Model, SecretMissing
from state.value import Value

LIBRARIES = ("langgraph", "langchain-core", "langchain-openai", "chromadb", "onnxruntime", "pydantic", "SQLAlchemy")
_ON_FIRST_USE = "not there yet, made on first use"
_SERVER = "the database of EXPEDIENTE_DATABASE_URL"
_SEE_WHERE = "`agent corpus --all --debug` opens all of it, and shows where it fails"
_PATIENCE_S = 3.0


class Check(Value):
    """One thing a run needs. `fix` is what to do where it is not ok."""

    name: str
    ok: bool
    found: str
    fix: str = ""


class Missing(Exception):
    """A check found something wrong that no other error says: what was found, and how to fix it."""

    def __init__(self, found: str, fix: str) -> None:
        super().__init__(f"{found}; {fix}")


def examine() -> Iterator[Check]:
    """Every check in turn. One that fails does not stop the others, except the settings, which all others need."""
    try:
        settings = Settings.load()
    except SettingsError as error:
        yield _failed("settings", str(error))
        return
    clock = SystemClock()
    yield _checked("home", lambda: _home(settings))
    with TemporaryDirectory() as elsewhere:
        # A domain that has no data folder yet would make one: it is looked at somewhere else.
        folder = settings.home / "domain"
        domain: list[Domain] = []

        def loaded() -> str:
            own = folder.is_dir() and domain_of(settings.home) in (None, settings.domain)
            opened = load_domain(settings.domain, folder if own else Path(elsewhere), clock)
            domain.append(opened)
            check_domain(opened)
            opened.check_writable()
            policy = effective(opened.policies, clock.now())
            return f"{opened.name}, from package {settings.domain}; {len(opened.tools)} tools, policy {policy.version}"

        yield _checked("domain", loaded)
        if domain:
            yield _checked("principals", lambda: _principals(settings, domain[0]))
            yield _checked("tool secrets", lambda: _tool_secrets(settings, domain[0]))
            yield _checked("skills", lambda: _skills(domain[0]))
            for name, ok, found, fix in checked(domain[0], SettingsSecrets(settings.tool_secrets), clock):
                yield Check(name=name, ok=ok, found=masked(found), fix=fix)
        yield _checked("model", lambda: _model(settings, domain))
        yield Check(name="models", ok=True, found="; ".join(_needs(settings, name) for name in MODELS))
        yield _checked("tokenizer", lambda: EncodingCounter(settings.tokenizer).name)
        yield _checked("embedder", lambda: _embedder(settings))
        yield _checked("database", lambda: _database(settings))
        yield _checked("checkpoints", lambda: _kept(settings, settings.checkpoints_file, sqlite_saver))
        yield _checked("memory", lambda: _kept(settings, settings.memory_file, sqlite_store))
        if domain:
            yield _checked("corpus", lambda: _corpus(domain[0].corpus))
        yield _checked("index", lambda: _index(settings.home / "library"))
        for each in domain:
            each.close()
    yield _checked("versions", _versions)


def _checked(name: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name=name, ok=True, found=look())
    except Missing as missing:
        return _failed(name, str(missing))
    except Exception as error:  # noqa: BLE001  # a domain or a file may be broken in any way; the other checks go on
        fault = explained(error)
        return _failed(name, fault.message if fault else f"unexpected {type(error).__name__}; {_SEE_WHERE}")


def _failed(name: str, message: str) -> Check:
    found, _, fix = masked(message).rpartition("; ")
    return Check(name=name, ok=False, found=found or fix, fix=fix.removeprefix("next: ") if found else "")


def _home(settings: Settings) -> str:
    home = settings.home
    there = home.exists()
    above = home if there else next(folder for folder in home.absolute().parents if folder.exists())
    try:
        with TemporaryFile(dir=above):  # it has no name, so it is gone whatever happens
            holds = domain_of(home)
    except OSError as error:
        fix = "set EXPEDIENTE_HOME to a folder this user can create and write"
        raise Missing(f"{home}: {error.strerror}", fix) from None
    if holds not in (None, settings.domain):
        found = f"{home} holds the data of domain {holds!r}, and EXPEDIENTE_DOMAIN is {settings.domain!r}"
        raise Missing(found, f"set EXPEDIENTE_HOME to another folder, or EXPEDIENTE_DOMAIN to {holds}")
    return f"{home}: {'writable' if there else _ON_FIRST_USE}"


def _principals(settings: Settings, domain: Domain) -> str:
    known = [domain.principal(name) for name in domain.principals()]
    told = ", ".join(f"{each.name} ({', '.join(each.roles)})" for each in known if each)
    if not told:
        raise Missing("nobody", "add a principal to the domain")
    if settings.dev_principal and settings.dev_principal not in domain.principals():
        raise Missing(f"EXPEDIENTE_DEV_PRINCIPAL {settings.dev_principal!r} is none of {told}", "set it to one of them")
    held = {role for each in known if each for role in each.roles}
    idle = [one.contract for one in domain.tools if one.contract.roles and held.isdisjoint(one.contract.roles)]
    if idle:
        raise Missing(f"nobody may call {idle[0].name}", f"give somebody a role of it: {', '.join(idle[0].roles)}")
    return told


def _tool_secrets(settings: Settings, domain: Domain) -> str:
    secrets = SettingsSecrets(settings.tool_secrets)
    declared = {name for tool in domain.tools for name in tool.contract.secrets}
    declared |= {name for server in domain.servers for name in server.credentials}
    missing = []
    for name in sorted(declared):
        try:
            secrets.secret(name)
        except SecretMissing as error:
            missing.append(str(error).rpartition("; ")[2])
    if missing:
        raise Missing("tools cannot be called without their secrets", "; ".join(missing))
    return f"{', '.join(sorted(declared))}: set" if declared else "no tool needs one"


def _skills(domain: Domain) -> str:
    found, fix = told(with_skills(domain), confinement_fault)
    if fix:
        raise Missing(found, fix)
    return found


def _model(settings: Settings, domains: Sequence[Domain]) -> str:
    if settings.model not in MODELS:
        raise Missing(f"EXPEDIENTE_MODEL {settings.model!r} is none of {', '.join(MODELS)}", "set it to one of them")
    try:
        model = _opened(settings, settings.model)
        call_terms(settings, [policy for one in domains for policy in one.policies])
    except ModelNotConfigured as error:
        found, _, fix = str(error).partition(": ")
        raise Missing(found, f"{fix} in the environment or in .env") from None
    if settings.model != "openai":
        return f"{model.name}: needs no key and no network"
    url = settings.openai_base_url or OPENAI_URL
    key = "with a key" if settings.openai_api_key else "without a key"
    told = f"{model.name} at {urlsplit(url).hostname}, {key}"  # only the host: an address may carry a password
    reason = unreachable(url, _PATIENCE_S)
    if reason:
        fix = "start it, or correct EXPEDIENTE_OPENAI_BASE_URL"
        if not settings.openai_base_url:
            fix = "connect to the network, or set EXPEDIENTE_OPENAI_BASE_URL to a server that can be reached"
        raise Missing(f"{told}: no server answers ({reason})", fix)
    return f"{told}; a server answers, the key was not tried"


def _opened(settings: Settings, name: str) -> Model:
    return open_model(
        name,
        openai_model=settings.openai_model,
        openai_api_key=settings.openai_api_key,
        openai_base_url=settings.openai_base_url,
        openai_profile=settings.openai_profile,
        recording=settings.recording if name == "replay" else None,
    )


def _needs(settings: Settings, name: str) -> str:
    if name not in ("openai", "replay"):
        return f"{name}: ready"
    try:
        _opened(settings, name)
    except ModelNotConfigured as error:
        return f"{name}: {error}".replace(f"model '{name}' ", "")
    return f"{name}: ready"


def _embedder(settings: Settings) -> str:
    embedder = settings_embedder(settings)
    (vector,) = embedder.embed(["a text"])  # the default one reads its weights and compares their hash
    if len(vector) != embedder.dimension:
        raise Missing(f"{embedder.name} gives {len(vector)} numbers, expected {embedder.dimension}", "install it anew")
    checked = ", hash of the weights as expected" if isinstance(embedder, MiniLM) else ""
    return f"{embedder.name}, {embedder.dimension} dimensions{checked}"


def _database(settings: Settings) -> str:
    where = settings.database if isinstance(settings.database, Path) else _SERVER
    ours = _ours(settings)
    found = found_version(settings.database, ours)
    if found is None:
        return f"{where}: {_ON_FIRST_USE}"
    if found < SCHEMA_VERSION:
        return f"{where}: schema version {found}, brought to {SCHEMA_VERSION} by the next run"
    open_database(settings.database, admit=ours).close()
    return f"{where}: writable, schema version {SCHEMA_VERSION}"


def _kept(settings: Settings, path: Path, opened: Callable[[Path], AbstractContextManager[object]]) -> str:
    """Checkpoints or memory: a file in the home, or tables of the server."""
    if on_server(database_url(settings.database)):
        if found_version(settings.database, _ours(settings)) is None:
            return f"{_SERVER}: {_ON_FIRST_USE}"
        with open_persistence(settings):
            return f"{_SERVER}: writable"
    if not path.exists():
        return f"{path}: {_ON_FIRST_USE}"
    with opened(path):
        return f"{path}: writable"


def _ours(settings: Settings) -> Admit:
    # Where no secret is kept yet none is made: the domain alone is compared then.
    there = settings.secret is not None or (settings.home / "secret").exists()
    return partial(refuse_foreign, settings.domain, master_secret(settings) if there else None)


def _corpus(folder: Path) -> str:
    if not folder.is_dir():
        raise Missing(f"no folder {folder}", "put it back, or correct the corpus that the domain's load() names")
    found = contents(folder, None)
    if found.broken:
        told = ", ".join(f"{one.file} ({one.reason})" for one in found.broken)
        raise Missing(f"skipped in {folder}: {told}", "mend what is skipped, or take it out")
    if not found.documents:
        raise Missing(f"{folder} has no document", "put Markdown files there that begin with front matter")
    return f"{len(found.documents)} documents in {folder}"


def _index(folder: Path) -> str:
    if not folder.exists():
        return f"{folder}: {_ON_FIRST_USE}"
    with Library.open(folder, MiniLM()) as library:
        tenants = [revision.tenant for revision in library.catalogue.revisions()]
        entries = library.catalogue.entries(tenants)
    documents = len({(entry.tenant, entry.document_id) for entry in entries})
    chunks = sum(entry.chunks for entry in entries)
    return f"{documents} documents in {len(entries)} versions, {chunks} chunks, of {len(tenants)} tenants"


def _versions() -> str:
    found, missing = [f"python {platform.python_version()}", f"sqlite {sqlite3.sqlite_version}"], []
    for name in LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        raise Missing(f"not installed: {', '.join(missing)}", "run `make dev`, or `pip install -e .`")
    return ", ".join(found)
