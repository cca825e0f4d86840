"""The stores behind an app: opened to run on them, or only to look at what is filed."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from langgraph.checkpoint.base import BaseCheckpointSaver

from graph.home import claim_database, mark_opened, refuse_foreign, refuse_put_back, require_writable
from graph.master_secret import MasterSecret
from graph.persistence import checkpoints_there, open_checkpoints_to_look, open_persistence
from graph.settings import Settings
from graph.stores.engine import Database, found_version, look_at_database, open_database
from graph.stores.forgotten import MEMORY, SqlForgotten
from graph.stores.looking import can_be_written
from graph.stores.marks import SqlMarks
from graph.stores.schema import SCHEMA_VERSION
from retrieval.ingest import IngestReport
from retrieval.library import Library
from retrieval.memory import StoreMemory
from state.domain import Domain
from state.ports import Clock, Seal

_NOT_LOOKED_AT = ("index", "lexical", "links", "memory")


class OnlyLooking(RuntimeError):
    """An app that was opened to look is asked for what only one that runs has."""

    def __init__(self) -> None:
        super().__init__(
            "this app was opened to look at what is filed, without documents and memory; allowed: reading threads and "
            "their records; open it with open_app(settings) for the rest"
        )


class NotOpened:
    """Stands where an app that only looks has nothing. Raises OnlyLooking for whatever it is asked."""

    def __getattr__(self, name: str) -> NoReturn:
        raise OnlyLooking


@dataclass(frozen=True)
class HomeStores:
    """What an app stands on. `instead` are ports that are not opened, by name."""

    database: Database
    library: Library
    ingested: IngestReport
    saver: BaseCheckpointSaver[Any]
    memory: StoreMemory
    files: tuple[Path, ...] = ()
    instead: dict[str, Any] = field(default_factory=dict)


def ready_to_look(settings: Settings) -> bool:
    """Whether all that is looked at is there and of this release, so that opening has nothing to make or migrate.

    Raises StoreUnavailable.
    """
    there = (settings.home / "domain").is_dir() and found_version(settings.database) == SCHEMA_VERSION
    return there and checkpoints_there(settings)


def only_to_look(settings: Settings) -> bool:
    """Whether a home is there that cannot be written."""
    return settings.home.is_dir() and not can_be_written(settings.home)


def open_home_database(settings: Settings, named: str | None, secret: MasterSecret, seal: Seal) -> Database:
    """The database of a home, brought up to date where nobody put it back to be so. `named` is the domain's name.

    Raises SettingsError for another domain's or secret's database, StoreUnavailable.
    """
    refuse_put_back(settings.home, settings.database)
    database = open_database(settings.database, admit=partial(refuse_foreign, named, secret), seal=seal)
    mark_opened(settings.home, settings.database)
    return database


def open_to_look(settings: Settings, named: str | None, secret: MasterSecret, stack: ExitStack) -> HomeStores:
    """Records, ledger, bodies and checkpoints as they are: nothing is made, migrated, ingested or locked.

    Raises SettingsError for another domain's or secret's database, StoreUnavailable.
    """
    database = look_at_database(settings.database, admit=partial(refuse_foreign, named, secret))
    stack.callback(database.close)
    saver = stack.enter_context(open_checkpoints_to_look(settings))
    nothing: Any = NotOpened()
    return HomeStores(
        database,
        nothing,
        IngestReport(documents=(), broken=()),
        saver,
        nothing,
        instead=dict.fromkeys(_NOT_LOOKED_AT, nothing),
    )


def open_to_run(
    settings: Settings,
    domain: Domain,
    named: str | None,
    secret: MasterSecret,
    seal: Seal,
    clock: Clock,
    stack: ExitStack,
    *,
    open_library: Callable[[], Library],
    progress: Callable[[int, int], None] | None,
) -> HomeStores:
    """Everything, brought up to date: schema, the domain's corpus, its seeded memories.

    Raises SettingsError, DomainUnavailable, StoreUnavailable and what ingest raises.
    """
    require_writable(settings.home)
    domain.check_writable()
    database = open_home_database(settings, named, secret, seal)
    stack.callback(database.close)
    claim_database(SqlMarks(database.everyday), named, secret)
    library = stack.enter_context(open_library())
    ingested = library.ingest(domain.corpus, clock.now(), progress=progress)
    kept = stack.enter_context(open_persistence(settings))
    memory = StoreMemory(kept.store)
    gone = SqlForgotten(database.everyday, clock).names(MEMORY)
    memory.seed(record for record in domain.memories if (record.tenant, record.memory_id) not in gone)
    return HomeStores(database, library, ingested, kept.saver, memory, kept.files)
