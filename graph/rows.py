"""The eight nodes, each with exactly the ports and the part of the domain of its row."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from graph.metering import PolicyMeter
from graph.models.summarising import ModelSummariser
from graph.result_reader import with_read_result
from graph.settings import Settings
from nodes.execute import make_execute
from nodes.log import make_log
from nodes.pack import make_pack
from nodes.pack.budget import Window
from nodes.pack.strategy import Strategy
from nodes.plan import make_plan
from nodes.propose import make_propose
from nodes.resolve import make_resolve
from nodes.retrieve import make_retrieve
from nodes.validate import make_validate
from retrieval.links import Links
from state.asking import CallTerms, Waiting
from state.context import RequestSettings
from state.domain import Domain
from state.memory_ports import MemoryKeeper, MemoryStore
from state.node import Node
from state.ports import (
    Artifacts,
    Clock,
    Connectors,
    DecisionLog,
    EventQueue,
    Ids,
    Ledger,
    Model,
    Quotas,
    Seal,
    Secrets,
    TokenCounter,
)
from state.search import Index, Lexical, Reranker


@dataclass
class Ports:
    """Every live object behind the graph, and on which terms its model is asked. Each may be replaced by name in
    `open_app`."""

    clock: Clock
    ids: Ids
    domain: Domain
    model: Model
    terms: CallTerms
    waiting: Waiting
    tokens: TokenCounter
    artifacts: Artifacts
    log: DecisionLog
    events: EventQueue
    ledger: Ledger
    quotas: Quotas
    seal: Seal
    secrets: Secrets
    index: Index
    lexical: Lexical
    reranker: Reranker | None
    links: Links | None
    memory: MemoryStore
    memories: MemoryKeeper
    strategies: Mapping[str, Strategy]
    connectors: Connectors


def make_nodes(settings: Settings, ports: Ports, pause: Callable[[Any], Any]) -> tuple[Node, ...]:
    """The eight nodes, each with exactly the ports of its row."""
    domain = with_read_result(ports.domain, ports.artifacts, ports.log)
    tools = {tool.contract.name: tool for tool in domain.tools}
    contracts = {name: tool.contract for name, tool in tools.items()}
    window = Window(window_tokens=settings.window_tokens, reserved_output_tokens=settings.reserved_output_tokens)
    request = RequestSettings(max_output_tokens=settings.reserved_output_tokens, temperature=settings.temperature)
    return (
        make_resolve(
            clock=ports.clock, ids=ports.ids, artifacts=ports.artifacts, log=ports.log, policies=domain.policies
        ),
        make_plan(table=domain.table, policies=domain.policies, connectors=ports.connectors),
        make_retrieve(
            index=ports.index,
            lexical=ports.lexical,
            reranker=ports.reranker,
            ranking=settings.ranking,
            links=ports.links,
            memory=ports.memory,
            artifacts=ports.artifacts,
        ),
        make_pack(
            artifacts=ports.artifacts,
            log=ports.log,
            events=ports.events,
            tokens=ports.tokens,
            window=window,
            settings=request,
            sections=domain.instructions,
            examples=domain.examples,
            contracts=contracts,
            policies=domain.policies,
            strategies=ports.strategies,
            skills=domain.shelf.pinned if domain.shelf else (),
            still_so=domain.events,
        ),
        make_propose(
            model=ports.model,
            artifacts=ports.artifacts,
            tokens=ports.tokens,
            meter=PolicyMeter(ports.quotas, domain.policies),
            waiting=ports.waiting,
            terms=ports.terms,
            secrets=ports.secrets,
        ),
        make_validate(
            artifacts=ports.artifacts,
            log=ports.log,
            ledger=ports.ledger,
            quotas=ports.quotas,
            memory=ports.memory,
            secrets=ports.secrets,
            clock=ports.clock,
            pause=pause,
            contracts=contracts,
            policies=domain.policies,
            resources=domain.resources,
            preconditions=domain.preconditions,
        ),
        make_execute(
            artifacts=ports.artifacts,
            log=ports.log,
            ledger=ports.ledger,
            quotas=ports.quotas,
            clock=ports.clock,
            secrets=ports.secrets,
            memories=ports.memories,
            tools=tools,
            policies=domain.policies,
            summariser=_summariser(settings, ports, window),
        ),
        make_log(
            artifacts=ports.artifacts,
            log=ports.log,
            events=ports.events,
            seal=ports.seal,
            policies=domain.policies,
        ),
    )


def _summariser(settings: Settings, ports: Ports, window: Window) -> ModelSummariser | None:
    """The one that the settings name; without, code alone sums up."""
    if settings.summariser == "extractive":
        return None
    return ModelSummariser(
        model=ports.model,
        tokens=ports.tokens,
        meter=PolicyMeter(ports.quotas, ports.domain.policies),
        prices=ports.terms.prices,
        most_tokens=window.input_tokens(),
    )
