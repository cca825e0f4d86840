"""A worker that kills itself at one of its writes: moments that one drawn by the clock meets once in a hundred runs."""

import os
import signal
from collections.abc import Callable
from typing import Any

from graph.app import App


class Writes:
    """Counts the places right before and right after each write of the stores and the saver.

    With `die_at` the process is killed at the place of that number, as `kill -9` would: nothing is tidied up.
    """

    def __init__(self, app: App, die_at: int | None) -> None:
        self.count, self._die_at = 0, die_at
        ports, saver = app.ports, app.graph.checkpointer
        for owner, names in (
            (ports.artifacts, ("put", "put_all", "name")),
            (ports.log, ("append",)),
            (ports.ledger, ("claim", "close")),
            (saver, ("put", "put_writes")),
        ):
            for name in names:
                setattr(owner, name, self._counted(getattr(owner, name)))

    def _counted(self, write: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **named: Any) -> Any:
            self._pass()
            result = write(*given, **named)
            self._pass()
            return result

        return run

    def _pass(self) -> None:
        self.count += 1
        if self.count == self._die_at:
            os.kill(os.getpid(), signal.SIGKILL)
