"""One trial: a fresh place, a worker that is killed, others that go on, and the judgement. And what undisturbed is."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from evals.trials.drawing import RUN, WRITE, Draw, Stroke
from evals.trials.judging import Fault, judged
from evals.trials.process import Kill, Life, live
from evals.trials.protocol import Ended, Order
from evals.trials.script import Errand, Script, effects_in
from evals.trials.server import new_schema
from state.value import Value

SQLITE, POSTGRES = "sqlite", "postgresql"


class Outcome(Value):
    """How one trial went. `lives` tells of each worker where it ended; `steps` are what the user did in the last one.

    `key` is seed, engine and lease: trials of one key go on where they stopped. `code` names the code that ran.
    """

    key: str
    engine: str
    code: str
    draw: Draw
    lives: tuple[str, ...]
    kills: int
    steps: tuple[str, ...]
    effects: int
    seconds: float
    faults: tuple[Fault, ...]

    @property
    def name(self) -> str:
        """Where the last kill fell and what was done about it, or what is wrong."""
        if self.faults:
            return "FAULT: " + ", ".join(sorted({fault.kind for fault in self.faults}))
        if not self.kills:
            return "over before the kill"
        return ", ".join(dict.fromkeys(step.partition(" by ")[0] for step in self.steps)) or "nothing was left to do"


class Calm(Value):
    """An undisturbed run: how long opening and running take, and how it ends."""

    opening_s: float
    run_s: float
    ended: Ended


class Theatre:
    """Where trials of one engine take place: SQLite, or where there is a URL of a `server`, PostgreSQL.

    `library` is one with the domain's corpus. Undisturbed runs are made when they are first needed. Raises RuntimeError
    where one of them fails.
    """

    def __init__(self, script: Script, domain: str, library: Path, lease_s: float, server: str | None) -> None:
        self.engine = SQLITE if server is None else POSTGRES
        self.script, self.lease_s = script, lease_s
        self._domain, self._library, self._server = domain, library, server
        self._calm: dict[tuple[str, bool], Calm] = {}

    def run(self, draw: Draw, key: str, code: str, keep: Path) -> Outcome:
        """One trial. The home of one that shows a fault is kept below `keep`."""
        errand = next(each for each in self.script.errands if each.name == draw.errand)
        calm = self._undisturbed(errand, empty=draw.empty_home)
        began = time.time()
        with self._place(empty=draw.empty_home) as (home, url):
            order = self._order(home, url, errand).model_copy(update={"goes_on": draw.goes_on})
            lives: list[Life] = []
            for stroke in (*draw.strokes, None):
                told = any(event.done for life in lives for event in life.events)
                die_at = _write(stroke, calm) if stroke else None
                given = order.model_copy(update={"told_done": told, "die_at": die_at})
                lives.append(live(given, _kill(stroke, calm) if stroke else None, home.with_suffix(".err")))
                if not lives[-1].killed:
                    break
            effects = effects_in(home / "domain" / self.script.file, errand)
            faults = judged(lives, errand, calm.ended, effects, self.lease_s)
            if faults:
                kept = keep / f"{key.replace('/', '-')}-{draw.number}"
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(home, kept)
        ended = lives[-1].events[-1].ended if lives[-1].events else None
        return Outcome(
            key=key,
            engine=self.engine,
            code=code,
            draw=draw,
            lives=tuple(_told(life) for life in lives),
            kills=sum(life.killed for life in lives),
            steps=ended.steps if ended else (),
            effects=len(effects),
            seconds=round(time.time() - began, 2),
            faults=faults,
        )

    def _undisturbed(self, errand: Errand, *, empty: bool) -> Calm:
        known = errand.name, empty
        if known not in self._calm:
            self._calm[known] = self._measured(errand, empty=empty)
        return self._calm[known]

    def _measured(self, errand: Errand, *, empty: bool) -> Calm:
        with self._place(empty=empty) as (home, url):
            life = live(self._order(home, url, errand), None, home.with_suffix(".err"))
        ended = life.events[-1].ended if life.events else None
        began, opened, running = (life.when(at) for at in ("began", "opened", "running"))
        if ended is None or began is None or opened is None or running is None:
            raise RuntimeError(f"an undisturbed run of {errand.name!r} came to no end: {life.error or life.last}")
        return Calm(opening_s=opened - began, run_s=life.events[-1].when - running, ended=ended)

    @contextmanager
    def _place(self, *, empty: bool) -> Iterator[tuple[Path, str | None]]:
        with TemporaryDirectory(prefix="trial-", ignore_cleanup_errors=True) as scratch:
            home = Path(scratch) / "home"
            if not empty:
                home.mkdir()
                shutil.copytree(self._library, home / "library")
            if self._server is None:
                yield home, None
                return
            with new_schema(self._server) as url:
                yield home, url

    def _order(self, home: Path, url: str | None, errand: Errand) -> Order:
        return Order(
            home=home,
            domain=self._domain,
            file=self.script.file,
            database_url=url,
            errand=errand,
            lease_s=self.lease_s,
        )


def _write(stroke: Stroke, calm: Calm) -> int | None:
    return 1 + int(stroke.fraction * calm.ended.writes) if stroke.during == WRITE else None


def _kill(stroke: Stroke, calm: Calm) -> Kill | None:
    if stroke.during == WRITE:
        return None
    lasts = calm.run_s if stroke.during == RUN else calm.opening_s
    return Kill(during_run=stroke.during == RUN, after_s=stroke.fraction * lasts)


def _told(life: Life) -> str:
    """One worker's life in a word: where it was killed, or that it came to its end."""
    how = "killed" if life.killed else "hung" if life.hung else "failed" if life.error else "ended"
    return f"{how} after {life.last}"
