"""What of a run's configuration is kept with a checkpoint: where it belongs, and nothing a caller put there (X7, H07).

LangGraph's savers copy every plain value of `configurable` and `metadata` into the checkpoint's row, in clear text.
"""

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointMetadata, CheckpointTuple

_COORDINATES = ("thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint_map")
_RUN = "run_id"  # LangGraph compares it, to tell a run that goes on from a new one


class NoSuchCheckpoint(RuntimeError):
    """A run, or whoever reads a state, names a checkpoint that its thread does not have: got, allowed, next step."""


def named_one(config: RunnableConfig, found: CheckpointTuple | None) -> CheckpointTuple | None:
    """What a saver found. Where a checkpoint was named and is not there LangGraph would begin the thread anew, beside
    all that is on it, without a word: raises NoSuchCheckpoint."""
    configurable = config.get("configurable", {})
    if found is None and (named := configurable.get("checkpoint_id")):
        raise NoSuchCheckpoint(
            f"got checkpoint {str(named)[:100]!r}, which thread {configurable.get('thread_id')} does not have; "
            "allowed: one of its history; leave it out to go on from where the thread stands"
        )
    return found


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
