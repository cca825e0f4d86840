"""A body that is not there: forgotten on purpose, which the store says, or removed by somebody."""

from graph.app import App
from state.context import Kind
from state.run import Scope

REMOVED = "was removed: nothing says that it was forgotten"


class Gaps:
    """What was forgotten, as far as a thread's bodies may be gone with it.

    Forgetting erases what a forgotten thread alone names, and a subject's memories wherever they were shown. What a
    thread that stays names in its records and where it stands now is kept, so that it is gone is a fault.
    """

    def __init__(self, app: App, scope: Scope) -> None:
        threads, self._subjects, self._memories = app.forgetting.forgotten(scope.tenant)
        self._closed = scope.thread in threads
        self._any = bool(threads or self._subjects or self._memories)

    def explain(self, kind: str = "", subject: str = "", item_id: str = "", *, kept: bool = True) -> bool:
        """Whether a body may be gone: of this kind, subject and name where it is an item, `kept` where forgetting
        others leaves it."""
        memory = kind == Kind.MEMORY and (subject in self._subjects or item_id in self._memories)
        return self._closed or memory or (self._any and not kept)
