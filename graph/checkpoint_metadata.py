"""What of a run's configuration is kept with a checkpoint: where it belongs, and nothing a caller put there (X7, H07).

LangGraph's savers copy every plain value of `configurable` and `metadata` into the checkpoint's row, in clear text.
"""

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointMetadata

_COORDINATES = ("thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint_map")
_RUN = "run_id"  # LangGraph compares it, to tell a run that goes on from a new one


def bare(config: RunnableConfig) -> RunnableConfig:
    """The configuration with the checkpoint's coordinates and the run's id alone."""
    configurable = config.get("configurable", {})
    place = {name: configurable[name] for name in _COORDINATES if name in configurable}
    run = {name: value for name, value in (config.get("metadata") or {}).items() if name == _RUN}
    return {"configurable": place, "metadata": run}


def own(metadata: CheckpointMetadata) -> CheckpointMetadata:
    """LangGraph's own fields of the metadata."""
    known = CheckpointMetadata.__annotations__
    kept: CheckpointMetadata = {name: value for name, value in metadata.items() if name in known}  # type: ignore[assignment]  # the names are its own
    return kept
