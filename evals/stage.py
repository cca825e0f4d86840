"""A case's stage: a fresh home, the domain with what the case lays under it, and the app on both.

Same case, same seed, same bytes: clock, ids, secret and order come from here.
"""

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from evals.case import Case
from evals.connector import with_servers
from evals.dressing import StageWrong, dressed, with_laid_skills
from evals.fixture import Vector
from evals.observed import Watch, WatchedModel
from graph.app import App, open_app
from graph.domain_loading import load_domain
from graph.home_library import open_library
from graph.lock_file import read_lock
from graph.mcp.contracts import connected
from graph.mcp.gateway import Gateway
from graph.models.registry import open_model
from graph.settings import Settings
from graph.tool_secrets import SettingsSecrets
from retrieval.intake import Intake
from state.domain import Domain
from state.lock import Review
from state.ports import Model

FILES = "folder"  # the folder of files that a case reads in from outside, and the first part of their ids


class FixedClock:
    """A clock that stands until it is told to run."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def now(self) -> datetime:
        """The time now."""
        return self._now

    def run(self, seconds: int) -> None:
        """Let time pass."""
        self._now += timedelta(seconds=seconds)


class SeededIds:
    """Identifiers drawn from a seed: `new("req")` gives `req-` and 16 hex digits."""

    def __init__(self, seed: str) -> None:
        self._random = Random(seed)

    def new(self, prefix: str) -> str:
        """The next identifier."""
        return f"{prefix}-{self._random.getrandbits(64):016x}"


@dataclass(frozen=True)
class Parts:
    """What an app is opened with: the domain, and ports by name. A wiring may exchange any of them."""

    domain: Domain
    ports: dict[str, Any] = field(default_factory=dict)


Wiring = Callable[[Parts], Parts]
MakeModel = Callable[[Settings, Sequence[str]], Model]  # the names are of the tools that an attacker knows


@dataclass
class Stage:
    """Where one case plays: `open` gives the app, again after a crash. `roles` is what the directory says otherwise."""

    case: Case
    clock: FixedClock
    watch: Watch
    model: WatchedModel
    settings: Settings
    parts: Parts
    ids: SeededIds
    roles: dict[str, tuple[str, ...]]

    @contextmanager
    def open(self) -> Iterator[App]:
        """The app on this home."""
        with open_app(
            self.settings, domain=self.parts.domain, clock=self.clock, ids=self.ids, **self.parts.ports
        ) as app:
            yield app


@contextmanager
def staged(
    case: Case,
    home: Path,
    *,
    domain: str,
    make_model: MakeModel,
    seed: int = 0,
    wirings: Sequence[Wiring] = (),
    library: Path | None = None,
) -> Iterator[Stage]:
    """The stage of a case in the empty folder `home`; `library` is one with the domain's corpus, copied to save time.

    Raises StageWrong for a case that names what the domain has not, and what the parts raise at opening.
    """
    settings = Settings.load(
        home=home, domain=domain, database_url=None, secret=f"a stage of seed {seed:032d}", previous_secrets=()
    )
    clock, watch = FixedClock(case.clock), Watch()
    settings.make_home()
    if library is not None:
        shutil.copytree(library, home / "library")
    loaded = load_domain(domain, home / "domain", clock)
    roles: dict[str, tuple[str, ...]] = {}
    gateway = None
    try:
        served = _served(loaded, case, home)
        gateway = Gateway(served.servers, read_lock(served.lock), SettingsSecrets(settings.tool_secrets), clock)
        offered = with_laid_skills(connected(served, gateway), case, home)
        parts = Parts(dressed(offered, case, home, watch, roles), {"gateway": gateway})
        for wiring in wirings:
            parts = wiring(parts)
        inner = parts.ports.get("model") or make_model(settings, _named(case, loaded))
        model = WatchedModel(inner, watch, case.fixture)
        parts = replace(parts, ports={**parts.ports, "model": model})
        _read_in(case, settings, clock)
        # Only the last app closes the domain: a case may open several on one home.
        yield Stage(case, clock, watch, model, settings, parts, SeededIds(f"{seed}/{case.name}"), roles)
    finally:
        if gateway is not None:
            gateway.close()
        loaded.close()


def _served(domain: Domain, case: Case, home: Path) -> Domain:
    try:
        return with_servers(domain, case.fixture.servers, home, Review(by="case", at=case.clock))
    except LookupError as wrong:
        raise StageWrong(f"{case.name}: fixture.servers: {wrong}") from None


def named_model(name: str) -> MakeModel:
    """The model of the registry of that name. The maker raises ModelNotConfigured."""

    def make(settings: Settings, tool_names: Sequence[str]) -> Model:
        return open_model(
            name,
            openai_model=settings.openai_model,
            openai_api_key=settings.openai_api_key,
            openai_base_url=settings.openai_base_url,
            tool_names=tool_names,
        )

    return make


def _named(case: Case, domain: Domain) -> tuple[str, ...]:
    """The domain's tools that stand anywhere in the case: what the attacker reads into the domain's own pages is the
    same however many other tools the domain has."""
    told = case.model_dump_json()
    names = (tool.contract.name for tool in domain.tools)
    return tuple(name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", told))


def _read_in(case: Case, settings: Settings, clock: FixedClock) -> None:
    """Files named by an attacker, read in as `agent ingest` does: without front matter, for the actor's tenant."""
    names = [each for each in case.fixture.injected if each.vector is Vector.FILE_NAME]
    if not names:
        return
    folder = settings.home / FILES
    folder.mkdir()
    for each in names:
        page = folder / f"{each.text}.md"
        if page.resolve().parent != folder.resolve():
            raise StageWrong(f"{case.name}: fixture.injected: got the file name {each.text!r}; allowed: one without /")
        page.write_text(f"# Notes\n\n{case.input}\n", encoding="utf-8")
    with open_library(settings) as library:
        library.ingest(folder, clock.now(), intake=Intake(tenant=case.actor.principal.partition("@")[2]))
