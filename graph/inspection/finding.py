"""Finding one decision of a thread, for whoever owns the thread."""

from graph.app import App
from graph.reading import Reading
from graph.result import DecisionShown


class NoSuchDecision(LookupError):
    """The thread has no decision of that number, or it cannot be inspected: got, allowed."""


def decision_of(app: App, thread: str, index: int, as_: str) -> tuple[DecisionShown, Reading]:
    """A decision by its number, the open one included, and what reads its bodies.

    Raises UnknownPrincipal, UnknownThread, NoSuchDecision.
    """
    shown = {decision.index: decision for decision in app.records(thread, as_=as_)}
    if index not in shown:
        there = f"{min(shown)} to {max(shown)}" if shown else "none that you may see"
        raise NoSuchDecision(f"got decision {index}; allowed on thread {thread}: {there}")
    return shown[index], app.reading(thread, as_=as_)
