"""`python -m evals.trials.worker`: one process of a trial. Reads its order from stdin, tells what happens on stdout."""

import sys
import time
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any
from unittest.mock import patch

from evals.trials.dying import Writes
from evals.trials.protocol import THREAD, Ended, Event, Order
from evals.trials.user import User
from graph import app as composition
from graph.app import App, open_app
from graph.clock import SystemClock
from graph.domain_loading import load_domain
from graph.inspection.verify import verify
from graph.result import RunResult
from graph.settings import Settings
from graph.stores.run_lock import SqlRunLock
from state.domain import Domain
from state.tools import Tool, ToolContext


def main() -> None:
    """Run an order to its end, or until this process is killed."""
    order = Order.model_validate_json(sys.stdin.read())
    tell("began")
    with opened(order) as app:
        tell("opened")
        writes = Writes(app, order.die_at)
        user = User(app, order, tell)
        result = user.until_done()
        tell("ended", ended=_standing(app, order, result, tuple(user.steps), writes.count))


def tell(at: str, **what: Any) -> None:
    """Write an event, and see to it that it is out before anything else happens."""
    event = Event.model_validate({"at": at, "when": time.time(), **what})
    sys.stdout.write(event.model_dump_json() + "\n")
    sys.stdout.flush()


def opened(order: Order) -> App:
    """The app as an order wants it: real in every part, only with a lease that a trial can wait for."""
    settings = Settings.load(
        home=order.home,
        domain=order.domain,
        model="offline",
        database_url=order.database_url,
        secret=None,
        previous_secrets=(),
        auth_key=None,
        dev_principal=None,
    )
    ports: dict[str, Any] = {}
    if order.errand.forgetful:
        domain = load_domain(order.domain, settings.make_home() / "domain", SystemClock())
        ports["domain"] = _forgetting(domain, order.errand.tool)
    with patch.object(composition, "SqlRunLock", partial(SqlRunLock, lease_s=order.lease_s)):
        return open_app(settings, **ports)


def _forgetting(domain: Domain, name: str | None) -> Domain:
    """The domain whose tool does not know a call again: it says so, and every call gets a key of its own."""
    return replace(domain, tools=tuple(_without_key(t) if t.contract.name == name else t for t in domain.tools))


def _without_key(tool: Tool) -> Tool:
    numbers = count()

    def run(context: ToolContext, **arguments: Any) -> Any:
        key = f"{context.idempotency_key}/{time.time_ns()}/{next(numbers)}"
        return tool.run(replace(context, idempotency_key=key), **arguments)

    contract = tool.contract.model_copy(update={"idempotent": False, "reads_back": False})
    return replace(tool, contract=contract, run=run, read_back=None)


def _standing(app: App, order: Order, result: RunResult, steps: tuple[str, ...], writes: int) -> Ended:
    as_ = order.errand.as_
    scope = app.owned(THREAD, as_=as_)
    chain = app.records(THREAD, as_=as_)
    return Ended(
        status=result.status,
        path=tuple(f"{each.kind}/{each.toolset} {each.outcome}" for each in result.decisions),
        steps=steps,
        writes=writes,
        chain=tuple(each.record for each in chain if each.record is not None),
        filed=app.ports.log.names(scope.tenant, THREAD),
        claims=tuple((row.claim.key, row.state) for row in app.ports.ledger.rows(scope.tenant, THREAD)),
        unknown=any(seen.outcome == "unknown" for each in chain for seen in each.observations),
        verification=verify(app, THREAD, as_=as_),
    )


if __name__ == "__main__":
    main()
