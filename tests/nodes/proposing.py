"""The propose node on a model that plays a script, and replies for it."""

import json
from typing import Any, Literal

from graph.metering import PolicyMeter
from nodes.propose import Reads, Writes, make_propose
from state.asking import CallTerms
from state.context import Packed
from state.node import Node
from state.request import ModelError, RawCall, Reply, Usage
from state.spending import count_request
from state.work import PROPOSAL, Proposal
from tests.desk import SCOPE
from tests.fakes import CharCounter, FakeModel, FakeWaiting
from tests.nodes.parts import Parts, decision

Finish = Literal["stop", "tool_calls", "length", "refused", "interrupted", "unknown"]
Call = tuple[str | None, str, Any]
"""A call in a reply: id, name, arguments as JSON data, or as the text that the model wrote."""


def reply(*calls: Call, text: str = "", finish: Finish = "tool_calls") -> Reply:
    raw = tuple(
        RawCall(call_id=call_id, name=name, arguments=given if isinstance(given, str) else json.dumps(given))
        for call_id, name, given in calls
    )
    return Reply(text=text, calls=raw, finish_reason=finish, usage=Usage(input_tokens=7), model="m-1")


def said(text: str = "", finish: Finish = "stop") -> Reply:
    """A reply without a call."""
    return reply(text=text, finish=finish)


def refund(arguments: Any = None, **more: Any) -> Reply:
    """A reply with one call of refund."""
    return reply(("c1", "refund", {} if arguments is None else arguments), **more)


def propose_node(
    parts: Parts, model: FakeModel, waiting: FakeWaiting | None = None, terms: CallTerms | None = None
) -> Node:
    """The node on the parts' stores, under the desk's policy."""
    return make_propose(
        model=model,
        artifacts=parts.artifacts,
        tokens=CharCounter(),
        meter=PolicyMeter(parts.quotas, [parts.policy]),
        waiting=waiting or FakeWaiting(),
        terms=terms or CallTerms(),
        secrets=parts.secrets,
    )


def proposed(
    parts: Parts,
    *script: Reply | ModelError,
    packed: Packed | None = None,
    before: Any = None,
    terms: CallTerms | None = None,
    waiting: FakeWaiting | None = None,
    **decided: Any,
) -> tuple[Writes, FakeModel]:
    """What propose wrote, and the model that it asked. `decided` changes the decision."""
    model = FakeModel(*script)
    node = propose_node(parts, model, waiting, terms)
    reads = Reads(
        request=parts.request(), decision=decision(**decided), manifest=packed or parts.manifest(), attempts=before
    )
    wrote = node.run(reads, SCOPE)
    assert isinstance(wrote, Writes)
    assert wrote.model_fields_set == {"proposal", "attempts"}
    return wrote, model


def counted(model: FakeModel, number: int = 0) -> int:
    """Our count of what the model was asked."""
    return count_request(model.requests[number], CharCounter())


def stored(parts: Parts, wrote: Writes) -> Proposal:
    """The proposal that was written."""
    assert wrote.proposal is not None
    return PROPOSAL.validate_json(parts.get(wrote.proposal))
