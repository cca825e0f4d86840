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

from evals.case import Case, Injected, Vector
from evals.observed import Watch, WatchedModel, watched
from graph.app import App, load_domain, open_app, open_library
from graph.models.registry import open_model
from graph.settings import Settings
from retrieval.intake import Intake
from state.domain import Domain
from state.memory import MemoryRecord
from state.ports import Model

FILES = "folder"  # the folder of files that a case reads in from outside, and the first part of their ids


class StageWrong(ValueError):
    """A case that cannot be put on stage: it names something that is not there."""


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
MakeModel = Callable[[Settings, Domain], Model]


@dataclass
class Stage:
    """Where one case plays: `open` gives the app, again after a crash."""

    case: Case
    clock: FixedClock
    watch: Watch
    model: WatchedModel
    settings: Settings
    parts: Parts
    ids: SeededIds

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
        home=home, domain=domain, database_url=None, secret=f"{seed:032d}{case.name}", previous_secrets=()
    )
    clock, watch = FixedClock(case.clock), Watch()
    settings.make_home()
    if library is not None:
        shutil.copytree(library, home / "library")
    loaded = load_domain(domain, home / "domain", clock)
    try:
        parts = Parts(_dressed(loaded, case, home, watch))
        for wiring in wirings:
            parts = wiring(parts)
        model = WatchedModel(parts.ports.get("model") or make_model(settings, loaded), watch, case.fixture)
        parts = replace(parts, ports={**parts.ports, "model": model})
        _read_in(case, settings, clock)
        # Only the last app closes the domain: a case may open several on one home.
        yield Stage(case, clock, watch, model, settings, parts, SeededIds(f"{seed}/{case.name}"))
    finally:
        loaded.close()


def named_model(name: str) -> MakeModel:
    """The model of the registry of that name. The maker raises ModelNotConfigured."""

    def make(settings: Settings, domain: Domain) -> Model:
        return open_model(
            name,
            openai_model=settings.openai_model,
            openai_api_key=settings.openai_api_key,
            openai_base_url=settings.openai_base_url,
            tool_names=tuple(tool.contract.name for tool in domain.tools),
        )

    return make


def _dressed(domain: Domain, case: Case, home: Path, watch: Watch) -> Domain:
    principal = domain.principal(case.actor.principal)
    if principal is None:
        raise StageWrong(
            f"{case.name}: actor: got {case.actor.principal!r}; the domain has {', '.join(domain.principals())}"
        )
    held = {fact.name: fact.value for fact in principal.facts}
    for name, value in case.actor.facts.items():
        if held.get(name) != value:
            raise StageWrong(f"{case.name}: actor.{name}: got {value!r}; the domain holds {held.get(name)!r}")
    known = {tool.contract.name for tool in domain.tools}
    named = {*case.required_tools, *case.forbidden_tools, *case.observed, *case.fixture.forgetful}
    named |= {one.tool for one in (*case.effects, *case.never)} | {look.tool for look in case.final_state}
    if unknown := sorted(named - known):
        raise StageWrong(f"{case.name}: got the tools {', '.join(unknown)}; the domain has {', '.join(sorted(known))}")
    return replace(
        domain,
        corpus=_corpus(domain.corpus, case, home),
        tools=tuple(watched(tool, watch, case.fixture) for tool in domain.tools),
        memories=(*domain.memories, *_memories(case, principal.tenant, _purpose(domain))),
        close=lambda: None,
    )


def _purpose(domain: Domain) -> str:
    """The purpose for which the domain's first decision with memory loads it."""
    return next((spec.memory_purpose for spec in domain.table.specs if spec.memory_limit), "none")


def _memories(case: Case, tenant: str, purpose: str) -> Iterator[MemoryRecord]:
    given = [
        (one.subject, one.text, one.purpose, one.source.value, one.days_old, one.days_left)
        for one in case.fixture.memories
    ]
    # What a model inferred is the least that a hostile memory can be; it is still shown, as a hypothesis.
    given += [
        (each.into, each.text, purpose, "model_inferred", 1, 30)
        for each in case.fixture.injected
        if each.vector is Vector.MEMORY
    ]
    for number, (subject, text, serves, source, days_old, days_left) in enumerate(given):
        yield MemoryRecord.model_validate(
            {
                "memory_id": f"mem-case-{number}",
                "subject": subject,
                "tenant": tenant,
                "purpose": serves,
                "text": text,
                "source": source,
                "source_ref": "case://fixture",
                "basis": "case",
                "created_at": case.clock - timedelta(days=days_old),
                "expires_at": case.clock + timedelta(days=days_left),
            }
        )


def _corpus(corpus: Path, case: Case, home: Path) -> Path:
    """The domain's corpus, copied where the case adds to it."""
    hostile = [each for each in case.fixture.injected if each.vector in (Vector.DOCUMENT, Vector.METADATA)]
    if not hostile and not case.fixture.documents:
        return corpus
    copied = home / "corpus"
    shutil.copytree(corpus, copied)
    for name, text in case.fixture.documents.items():
        place = copied / name
        if not place.resolve().is_relative_to(copied.resolve()):
            raise StageWrong(f"{case.name}: fixture.documents: got {name!r}; allowed: a path inside the corpus")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    for each in hostile:
        _inject(copied, each, case)
    return copied


def _inject(corpus: Path, injected: Injected, case: Case) -> None:
    """Write a hostile text into a document version's file: below a section's heading, or as part of that heading."""
    document, _, slug = injected.into.partition("#")
    identifier, _, version = document.partition("@")
    for page in sorted(corpus.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if f"\nid: {identifier}\n" not in text or f"\nversion: {version}\n" not in text:
            continue
        for heading in re.finditer(r"^#+ +(.+)$", text, re.MULTILINE):
            if _slug(heading[1]) == slug:
                added = f"\n\n{injected.text}" if injected.vector is Vector.DOCUMENT else f": {injected.text}"
                page.write_text(text[: heading.end()] + added + text[heading.end() :], encoding="utf-8")
                return
    raise StageWrong(f"{case.name}: fixture.injected: got into={injected.into!r}, and no document has that section")


def _slug(heading: str) -> str:
    return re.sub(r"[^\w]+", "-", heading.casefold()).strip("-")


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
