"""plan (L2): choose the next decision from the domain's table. It matches no text and calls no model.

A tool of a server that is not what was reviewed is taken out here, so that every node after it sees one toolset (S8).
"""

from collections.abc import Sequence

from state.domain import DecisionTable
from state.node import Node
from state.policy import Policy, effective
from state.ports import Connectors
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


def make_plan(*, table: DecisionTable, policies: Sequence[Policy], connectors: Connectors) -> Node:
    """The plan node."""

    def run(reads: Reads, scope: Scope) -> Writes:
        bound = effective(policies, reads.request.now).max_decisions
        if scope.max_decisions is not None:
            bound = min(bound, scope.max_decisions)
        decision = table.decide(reads.task, bound, scope.principal.roles)
        withheld = connectors.withheld(scope, decision.tools)
        if withheld:
            tools = tuple(name for name in decision.tools if name not in withheld)
            decision = decision.model_copy(update={"tools": tools, "withheld": withheld})
        return Writes(decision=decision)

    return Node("plan", Reads, Writes, run, ports=("connectors",), domain=("decision table", "policy"))
