"""Every error this house raises on purpose, in one line: what was got, what is allowed, what to do next."""

import sqlite3
from dataclasses import dataclass

from sqlalchemy.exc import TimeoutError as PoolTimeout

from graph.admission import BadInput, CheckpointsElsewhere
from graph.channels import StateUnreadable
from graph.checkpoint_metadata import NoSuchCheckpoint
from graph.conversation import NothingPending
from graph.domain_check import DomainBroken
from graph.domain_loading import DomainNotLoaded
from graph.forgetting.forget import TenantNeeded
from graph.home_stores import OnlyLooking
from graph.inspection.finding import NoSuchDecision
from graph.leased import NoLease
from graph.lock_file import LockUnusable
from graph.masking import masked
from graph.memories import MemoryRefused, MemoryUnknown
from graph.models.recorded import RecordingUnusable
from graph.models.registry import ModelNotConfigured
from graph.scope import BadBound, NotAuthenticated, NotYours, ThreadNeeded, UnknownPrincipal
from graph.settings import SettingsError
from graph.skill_review import UnknownSkill
from graph.stores.engine import POOL_WAIT_S
from graph.stores.lease import LeaseLost, ThreadBusy
from graph.stores.ownership import BadThreadName, UnknownThread
from graph.stores.unavailable import StoreUnavailable, sqlite_unavailable
from graph.tokens import UnknownTokenizer
from graph.tool_overview import UnknownTool
from graph.tracing import TracingNotInstalled
from nodes.pack.strategy import UnknownStrategy
from nodes.resolve import NotOneHumanMessage
from retrieval import faults as retrieval
from state.checks.rates import RateMissing
from state.domain import DomainUnavailable
from state.policy import PolicyMissing
from state.ports import ArtifactGone, ClaimRefused, RecordDamaged, RecordMissing, SecretMissing
from state.request import ModelError
from state.search import AccessUnknown

# The call was wrong: calling it differently helps.
_WRONG_USE = (
    UnknownPrincipal,
    NotAuthenticated,
    NotYours,
    BadBound,
    ThreadNeeded,
    UnknownThread,
    BadThreadName,
    BadInput,
    CheckpointsElsewhere,
    NothingPending,
    NoSuchDecision,
    NoSuchCheckpoint,
    NotOneHumanMessage,
    NoLease,
    TenantNeeded,
    UnknownTool,
    UnknownSkill,
    MemoryUnknown,
    MemoryRefused,
)

# The call was right, and something it needs is not.
_NEEDED = (
    SettingsError,
    StoreUnavailable,
    OnlyLooking,
    retrieval.StoreUnavailable,
    retrieval.EmbedderMismatch,
    retrieval.EmbedderUnavailable,
    retrieval.RerankerUnavailable,
    retrieval.BrokenDocument,
    retrieval.CorpusMissing,
    retrieval.IngestBusy,
    retrieval.IngestIncomplete,
    DomainNotLoaded,
    DomainBroken,
    LockUnusable,
    UnknownStrategy,
    DomainUnavailable,
    ModelNotConfigured,
    RecordingUnusable,
    TracingNotInstalled,
    ModelError,
    UnknownTokenizer,
    PolicyMissing,
    RateMissing,
    SecretMissing,
    ThreadBusy,
    LeaseLost,
    RecordDamaged,
    RecordMissing,
    StateUnreadable,
    ClaimRefused,
    AccessUnknown,
    ArtifactGone,
)


@dataclass(frozen=True)
class Fault:
    """What to say of an error, and whether calling differently would have helped."""

    message: str
    wrong_use: bool = False


def explained(error: Exception) -> Fault | None:
    """The line for an error of this house or of the machine it runs on, masked; None for one that nobody foresaw."""
    fault = _explained(error)
    return fault and Fault(masked(fault.message), fault.wrong_use)


def _explained(error: Exception) -> Fault | None:
    if isinstance(error, _WRONG_USE):
        return Fault(str(error), wrong_use=True)
    if isinstance(error, _NEEDED):
        return Fault(str(error))
    if isinstance(error, sqlite3.Error):
        # LangGraph's savers let the driver's own errors through, in the middle of a run.
        return Fault(str(sqlite_unavailable("of checkpoints or memory", error)))
    if isinstance(error, PoolTimeout):
        return Fault(
            f"the store: got no free connection within {POOL_WAIT_S:.0f} s; allowed: a server that answers in time; "
            "look whether it is overloaded, or start another process for a part of the runs"
        )
    if isinstance(error, OSError) and error.strerror:
        where = f" for {error.filename}" if error.filename else ""
        return Fault(f"got {error.strerror!r}{where}; run `agent doctor` to see what is needed")
    return None
