"""Parts that can be taken out of the wiring for a comparison (E3). They exist here only: no setting reaches them.

No gate is among them: what protects is tested by counterexamples in the tests, not switched.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from evals.packing.ablations import ABLATIONS as WITHOUT
from evals.stage import Parts, Wiring
from graph.skills import without_skills
from nodes.pack.strategy import STRATEGIES
from state.events import Event, Queued, Settled
from state.knowledge import Chunk
from state.memory import MemoryRecord
from state.memory_ports import Recalled
from state.run import Access, Scope
from state.search import CosineRange, Found
from state.work import DecisionSpec


class FindsNothing:
    """A search branch without hits, to which nothing is near."""

    cosine_range = CosineRange()

    def search(self, query: str, access: Access, k: int) -> Found:
        """Nothing."""
        return Found(hits=())

    def nearness(self, queries: Sequence[str], chunks: Sequence[Chunk]) -> list[list[float]]:
        """0 throughout."""
        return [[0.0] * len(chunks) for _ in queries]

    def generation(self, access: Access) -> str:
        """Always the same."""
        return "none"


class RemembersNothing:
    """A memory that is never asked."""

    def recall(self, scope: Scope, purpose: str, now: datetime, asked: str = "") -> Recalled:
        """Nothing."""
        return Recalled(facts=(), hypotheses=(), excluded=())

    def current(self, scope: Scope, purpose: str, now: datetime) -> frozenset[str]:
        """None."""
        return frozenset()

    def add(self, *memories: MemoryRecord) -> None:
        """Forgotten at once."""


class TellsNothing:
    """A queue of events that no request hears of."""

    def put(self, event: Event) -> int:
        """Lost at once."""
        return 0

    def pending(self, scope: Scope, most: int) -> tuple[Queued, ...]:
        """None."""
        return ()

    def settle(self, scope: Scope, settled: Sequence[Settled], decision: int, at: datetime) -> None:
        """There is nothing to settle."""


def _port(name: str, port: object) -> Wiring:
    return lambda parts: replace(parts, ports={**parts.ports, name: port})


def _specs(**changes: int) -> Wiring:
    def wire(parts: Parts) -> Parts:
        table = parts.domain.table

        def without(spec: DecisionSpec) -> DecisionSpec:
            changed = {name: value for name, value in changes.items() if getattr(spec, name)}
            return spec.model_copy(update=changed)

        specs = tuple(without(spec) for spec in table.specs)
        return replace(parts, domain=replace(parts.domain, table=table.model_copy(update={"specs": specs})))

    return wire


def _without_examples(parts: Parts) -> Parts:
    return replace(parts, domain=replace(parts.domain, examples=()))


def _without_skills(parts: Parts) -> Parts:
    return replace(parts, domain=without_skills(parts.domain))


def _without_history(parts: Parts) -> Parts:
    policies = tuple(policy.model_copy(update={"history_turns": 0}) for policy in parts.domain.policies)
    return replace(parts, domain=replace(parts.domain, policies=policies))


def _weightless(feature: str) -> Wiring:
    """A feature of utility that weighs nothing."""

    def wire(parts: Parts) -> Parts:
        policies = tuple(
            policy.model_copy(update={"weights": policy.weights.model_copy(update={feature: 0.0})})
            for policy in parts.domain.policies
        )
        return replace(parts, domain=replace(parts.domain, policies=policies))

    return wire


ABLATIONS: Mapping[str, Wiring] = {
    "dense": _port("index", FindsNothing()),
    "diversity": _weightless("diversity"),
    "events": _port("events", TellsNothing()),
    "evidence": _specs(evidence_limit=0, min_citations=0),
    "examples": _without_examples,
    "history": _without_history,
    "injection_risk": _weightless("injection_risk"),
    "keywords": _port("lexical", FindsNothing()),
    "masking": _port("strategies", {**STRATEGIES, "utility": WITHOUT["without masking"]}),
    "memory": _port("memory", RemembersNothing()),
    "redundancy": _weightless("redundancy"),
    "skills": _without_skills,
}
