"""The servers of a domain, as an app opens them: none is asked before one of its tools is needed."""

from contextlib import ExitStack

from graph.domain_check import check_domain
from graph.lock_file import read_lock
from graph.mcp.contracts import connected
from graph.mcp.gateway import Gateway
from state.domain import Domain
from state.ports import Clock, Secrets


def with_servers(
    domain: Domain, given: Gateway | None, secrets: Secrets, clock: Clock, stack: ExitStack
) -> tuple[Domain, Gateway]:
    """The domain with its servers' tools, and the gateway behind them, closed with the stack. Raises DomainBroken,
    LockUnusable."""
    gateway = given or Gateway(domain.servers, read_lock(domain.lock), secrets, clock)
    stack.callback(gateway.close)
    made = connected(domain, gateway)
    if made is not domain:
        check_domain(made)
    return made, gateway
