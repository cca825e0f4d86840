"""plan (L2): choose the next decision from the domain's table. It matches no text and calls no model."""

from collections.abc import Sequence

from state.domain import DecisionTable
from state.node import Node
from state.policy import Policy, effective
from state.run import RequestContext, Scope
from state.task import TaskState
from state.value import Value
from state.work import Decision


class Reads(Value):
    """The lap's request context and the task."""

    request: RequestContext
    task: TaskState


class Writes(Value):
    """The decision to take."""

    decision: Decision


def make_plan(*, table: DecisionTable, policies: Sequence[Policy]) -> Node:
    """The plan node."""

    def run(reads: Reads, scope: Scope) -> Writes:
        bound = effective(policies, reads.request.now).max_decisions
        if scope.max_decisions is not None:
            bound = min(bound, scope.max_decisions)
        return Writes(decision=table.decide(reads.task, bound, scope.principal.roles))

    return Node("plan", Reads, Writes, run, domain=("decision table", "policy"))
