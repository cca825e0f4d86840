"""The versioned policy record: every value that changes without the instructions changing (S1)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from state.memory import MemoryTerms
from state.spending import ModelLimits
from state.value import Ruled, Value


class UtilityWeights(Value):
    """One weight per named feature of a candidate's utility (B2). `diversity` weighs in whose turn it is: at 0 a source
    may speak as often as it likes, at 1 each speaks once before any speaks twice."""

    relevance: float = 1.0
    authority: float = 1.0
    freshness: float = 1.0
    redundancy: float = 1.0
    injection_risk: float = 1.0
    diversity: float = Field(default=0.3, ge=0, le=1)


class Retention(Value):
    """How long each kind is kept, in days (X7); None keeps it until it is forgotten. Counted from a conversation's last
    decision, and from a memory's making: a memory's own end holds beside it."""

    conversation_days: int | None = Field(default=None, gt=0)
    memory_days: int | None = Field(default=None, gt=0)


class Policy(Ruled):
    """One version of the policy. `values` are the domain's own limits, by key. `observation_share` is the part of a
    request's budget that this turn's older results may take (C6), `strategy` how the budget is divided (B3):
    `nodes.pack.strategy` has the names. After `event_ttl_s` an event is no news (S3). `best_evidence` says where among
    the evidence the best stands: `last` is beside the decision (B4). `half_life_days` says by kind of source (`memory`,
    `runbook` for `runbook/api-keys@v7`) after how many days a candidate is worth half; others do not age. `link_hosts`
    are the hosts to which an answer may link where a text that the request shows has the link, whoever wrote it: other
    links come from the user or from a trusted field. `most_tools` is how many tools a request offers where its decision
    has the form `search_tools`; None offers all. `memory` says what may be remembered, and for how long (S6)."""

    version: str
    effective_from: AwareDatetime
    max_decisions: int = Field(default=8, gt=0)
    max_input_chars: int = Field(default=20_000, gt=0)
    history_turns: int = Field(default=6, ge=0)
    approval_ttl_s: int = Field(default=3600, gt=0)
    approver_roles: tuple[str, ...]
    self_approval: bool = False
    observation_ttl_s: int = 300
    event_ttl_s: int = Field(default=86_400, gt=0)
    observation_share: float = Field(default=0.45, gt=0, le=1)
    strategy: str = "utility"
    weights: UtilityWeights = UtilityWeights()
    best_evidence: Literal["first", "last"] = "first"
    # Not written where empty: the address of a policy that has none is the one it had before there were any.
    half_life_days: dict[str, Annotated[float, Field(gt=0)]] = Field(default={}, exclude_if=lambda given: not given)
    link_hosts: tuple[str, ...] = Field(default=(), exclude_if=lambda given: not given)
    most_tools: int | None = Field(default=None, gt=0, exclude_if=lambda most: most is None)
    retention: Retention = Retention()
    model_limits: ModelLimits = ModelLimits()
    memory: MemoryTerms = Field(default=MemoryTerms(), exclude_if=lambda terms: terms == MemoryTerms())
    values: dict[str, int | float | str | bool] = {}


class PolicyMissing(RuntimeError):
    """No policy version is effective at the given time."""


def effective(policies: Sequence[Policy], now: datetime) -> Policy:
    """The newest policy that is effective at `now`. Raises PolicyMissing where there is none."""
    current = [policy for policy in policies if policy.effective_from <= now]
    if not current:
        raise PolicyMissing(f"no policy version is effective at {now.isoformat()}; add one to the domain's policy")
    return max(current, key=lambda policy: policy.effective_from)
