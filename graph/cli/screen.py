"""Where output goes: the account and JSON to stdout, errors and progress to stderr; colour only on a terminal."""

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from io import TextIOWrapper
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from graph.masking import masked
from state.checks.hidden import visible


class _Piped(Console):
    """A console whose reader may leave early (`agent show … | head`): the run goes on, quietly."""

    def on_broken_pipe(self) -> None:
        """Write into nothing from here on. A run is never cut short because nobody reads its account."""
        self.quiet = True
        _to_nowhere()

    def print(self, *objects: Any, **options: Any) -> None:
        """Nothing is cut off at the terminal's width: what folds folds itself, a command to copy stays whole."""
        super().print(*objects, **{"crop": False, **options})


class _Steps(TextColumn):
    """How many steps of how many, and how many a second; nothing while that is not known."""

    def __init__(self, unit: str) -> None:
        super().__init__("")
        self._unit = f" {unit}" if unit else ""

    def render(self, task: Task) -> Text:
        if task.total is None:
            return Text("")
        rate = f", {task.speed:.0f}/s" if task.speed else ""
        return Text(f"{int(task.completed):,}/{int(task.total):,}{self._unit}{rate}", style="dim")


class Screen:
    """The two streams of one command. With `json`, stdout holds exactly one object."""

    def __init__(self, json: bool) -> None:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="replace")  # a narrow encoding must not end a run
        self.json_wanted = json
        self.out = _Piped(highlight=False, markup=False, emoji=False)
        self.err = _Piped(stderr=True, highlight=False, markup=False, emoji=False)

    def text(self, text: str) -> None:
        """Write a text exactly as it is, in UTF-8."""
        with reader_may_leave():
            sys.stdout.flush()
            sys.stdout.buffer.write(text.encode(errors="replace") + b"\n")
            sys.stdout.buffer.flush()

    def error(self, message: str) -> None:
        """One line on stderr, or with `json` one object on stdout. Secrets in it are masked."""
        line = one_line(masked(message))
        if self.json_wanted:
            with contextlib.suppress(OSError):  # a full disk behind stdout: stderr is what is left
                self.text(json.dumps({"error": line, "status": "failed"}, ensure_ascii=False))
                return
        with contextlib.suppress(OSError):
            sys.stderr.write(f"agent: {line}\n")
            sys.stderr.flush()

    def warning(self, message: str) -> None:
        """One line on stderr that ends nothing."""
        with contextlib.suppress(OSError):
            sys.stderr.write(f"agent: warning: {one_line(masked(message))}\n")
            sys.stderr.flush()

    @contextlib.contextmanager
    def waiting(self, text: str, unit: str = "") -> Iterator[Callable[[int, int], None]]:
        """A bar while something takes its time: it pulses until the function it gives is told (done, total).

        It stands where nothing is spoiled by it and leaves no trace; without a terminal there is none.
        """
        with self._bar(unit) as bar:
            task = bar.add_task(text, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)

    @contextlib.contextmanager
    def following(self, text: str) -> Iterator[Callable[[str], None]]:
        """The same for what has no known end: the function it gives is told what is going on now."""
        with self._bar("") as bar:
            task = bar.add_task(text, total=None)
            yield lambda now: bar.update(task, description=one_line(now))

    def _bar(self, unit: str) -> Progress:
        console = self.out if self.out.is_terminal and not self.json_wanted else self.err
        columns = (TextColumn("{task.description}", style="dim"), BarColumn(20), _Steps(unit), TimeRemainingColumn())
        # No redirecting: rich would send what is written to stdout to this console, which may be stderr.
        return Progress(
            *columns,
            console=console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            disable=not console.is_terminal,
        )

    def close(self) -> None:
        """Flush what is left. What cannot be written was reported before, or its reader is gone."""
        try:
            sys.stdout.flush()
        except OSError:
            _to_nowhere()


def one_line(text: str) -> str:
    """A text as one line a terminal can show: no line breaks, no control characters."""
    return " ".join(visible(text).split())


@contextlib.contextmanager
def reader_may_leave() -> Iterator[None]:
    """What is printed here may be read by somebody who leaves early, such as `head`: that is no error."""
    try:
        yield
    except (BrokenPipeError, SystemExit):  # rich would end the process
        _to_nowhere()


def _to_nowhere() -> None:
    """Point stdout at nothing, so that the interpreter's last flush does not fail either."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
