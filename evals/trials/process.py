"""The life of one worker process: started, listened to, and killed when its time comes."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import IO

from pydantic import ValidationError

from evals.trials.protocol import Event, Order
from state.value import Value

_HUNG_AFTER_S = 180.0


class Kill(Value):
    """When a worker is to be killed: so long after it began to open, or after it last began to run."""

    during_run: bool
    after_s: float


class Life(Value):
    """What one worker said until it ended or was killed. `error` is the last line of a worker that failed."""

    events: tuple[Event, ...]
    ended_at: float
    killed: bool
    hung: bool = False
    error: str = ""

    @property
    def last(self) -> str:
        """The last that was heard of it."""
        return self.events[-1].at if self.events else "started"

    def when(self, at: str) -> float | None:
        """The time of the first event of a kind."""
        return next((event.when for event in self.events if event.at == at), None)


def live(order: Order, kill: Kill | None, errors: Path) -> Life:
    """Start a worker, listen to it, and kill it in time; without `kill` it lives to its end.

    `errors` is the file for its stderr. A worker of which nothing is heard for three minutes is killed as hung.
    """
    with errors.open("w+", encoding="utf-8") as stderr, _started(stderr) as worker:
        assert worker.stdin is not None and worker.stdout is not None  # noqa: PT018 - both are pipes, as asked for
        heard: Queue[Event | None] = Queue()
        listening = Thread(target=_listen, args=(worker.stdout, heard), daemon=True)
        listening.start()
        worker.stdin.write(order.model_dump_json(by_alias=True))
        worker.stdin.close()
        events: list[Event] = []
        due: float | None = None
        hung = False
        while True:
            wait = _HUNG_AFTER_S if due is None else max(0.0, due - time.time())
            try:
                event = heard.get(timeout=wait)
            except Empty:
                hung = due is None
                worker.kill()
                break
            if event is None:
                break  # it came to its end, or killed itself as it was ordered to
            events.append(event)
            if kill is not None:
                due = _due(kill, event, due)
        ended_at = time.time()
        worker.wait()
        listening.join()
        events += [event for event in heard.queue if event is not None]
        stderr.seek(0)
        said = stderr.read().strip()
    killed = not hung and worker.returncode == -signal.SIGKILL
    failed = not killed and not hung and worker.returncode != 0
    return Life(
        events=tuple(events),
        ended_at=ended_at,
        killed=killed,
        hung=hung,
        error=said.splitlines()[-1] if failed and said else "no word" if failed else "",
    )


def _started(stderr: IO[str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "evals.trials.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        encoding="utf-8",
    )


def _due(kill: Kill, event: Event, due: float | None) -> float | None:
    """When it is to die, after an event. Waiting for another's lease is not running."""
    if event.at == "began" and not kill.during_run:
        return event.when + kill.after_s
    if kill.during_run and event.at == "running" and due is None:
        return event.when + kill.after_s
    if kill.during_run and event.at == "busy":
        return None
    return due


def _listen(stdout: IO[str], heard: "Queue[Event | None]") -> None:
    for line in stdout:
        try:
            heard.put(Event.model_validate_json(line))
        except ValidationError:
            continue  # the worker died while it spoke: what is not whole was not said
    heard.put(None)
