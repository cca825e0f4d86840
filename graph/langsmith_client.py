"""What LangSmith is sent of a run: names, times and nesting, and never a text (X7).

LangChain gives each run and node with all that went in and came out to the tracer that LANGSMITH_TRACING turns on: the
question and the state. Masking would have to know what is personal in it, so none of it is sent; what was said is in
the record, under its tenant's rights. Calls of models and of tools reach that tracer not at all.
"""

import threading
from collections.abc import Mapping
from typing import Any

import langsmith
from langsmith.utils import tracing_is_enabled

from graph.masking import masked

# Of what describes a run: where in the graph it is, and which thread and run it belongs to. A client may add anything.
_TOLD = {
    *("thread_id", "run_id", "run_attempt", "graph_id", "checkpoint_ns", "langgraph_checkpoint_ns"),
    *("langgraph_node", "langgraph_path", "langgraph_step", "langgraph_triggers"),
}
_once = threading.Lock()


def send_no_texts() -> None:
    """Make it so for this process, whoever turns tracing on and when. Once is enough: who wants to send more gives
    LangSmith a client of his own after the first app is open."""
    if not _once.acquire(blocking=False):
        return
    langsmith.configure(
        client=langsmith.Client(
            hide_inputs=True,
            hide_outputs=True,
            anonymizer=_shown,
            # Its thread asks the service at once what it can do, also where nobody turned tracing on.
            auto_batch_tracing=bool(tracing_is_enabled()),
        )
    )


def _shown(fields: dict[str, Any]) -> dict[str, Any]:
    """What may be told of an error, its kind, and of a run's description."""
    if fields.keys() == {"error"}:
        return {"error": _kind(fields["error"])}
    return {name: _masked(value) for name, value in fields.items() if name in _TOLD}


def _kind(error: object) -> str:
    return str(error).partition("(")[0].strip() if isinstance(error, str) else type(error).__name__


def _masked(value: Any) -> Any:
    match value:
        case str():
            return masked(value)
        case list():
            return [_masked(each) for each in value]
        case Mapping():
            return {}
        case _:
            return value
