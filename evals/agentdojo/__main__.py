"""`python -m evals.agentdojo [SUITE] [--order early|late] [--json]`: AgentDojo through our validate and execute."""

import logging
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from evals.agentdojo.replay import Order
    from evals.agentdojo.report import SuiteReport


def main(
    suite: Annotated[str | None, typer.Argument(help="banking, slack, travel or workspace; else all four.")] = None,
    order: Annotated[
        str | None, typer.Option(help="early or late: where the injection's calls stand; else both.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object a suite and nothing else.")] = False,
    bend: Annotated[
        bool, typer.Option("--adaptive", help="Instead: exchange each control argument for what is within reach.")
    ] = False,
    verbose: Annotated[bool, typer.Option(help="Name the tasks that ask, and what was carried out.")] = False,
) -> None:
    """Replay every task with every injection as a hijacked model would, without a language model."""
    try:
        from evals.agentdojo.environment import TERMS, open_world
    except ImportError as missing:
        sys.exit(f"got no package {missing.name!r}; AgentDojo is the extra `evals`: run `make evals` first")
    from evals.agentdojo.adaptive import adaptive
    from evals.agentdojo.replay import on_stage
    from evals.agentdojo.report import measured

    if suite is not None and suite not in TERMS:
        sys.exit(f"got the suite {suite!r}; there are: {', '.join(TERMS)}")
    if order not in (None, "early", "late"):
        sys.exit(f"got the order {order!r}; there are: early, late")
    orders: list[Order] = [one for one in ("early", "late") if order in (None, one)]
    reports: list[SuiteReport] = []
    for name in [suite] if suite else TERMS:
        with (
            tempfile.TemporaryDirectory(prefix="expediente-dojo-") as home,
            on_stage(open_world(name), Path(home)) as stage,
        ):
            if bend:
                sys.stdout.write(adaptive(stage).model_dump_json() + "\n")
                continue
            reports.append(measured(stage, orders))
        if json:
            sys.stdout.write(reports[-1].model_dump_json() + "\n")
    if reports and not json:
        Console().print(_benign(reports), "", _attacked(reports))
        if verbose:
            Console().print_json(data=[_named(one) for one in reports])


def _benign(reports: "list[SuiteReport]") -> Table:
    table = Table("suite", "tasks", "useful", "ask", "approvals", "blocked", title="tasks alone", box=None)
    for one in reports:
        found = one.benign
        row = (found.tasks, found.useful, found.asking, found.approvals, found.blocked)
        table.add_row(one.suite, *map(str, row))
    return table


def _attacked(reports: "list[SuiteReport]") -> Table:
    columns = ("suite", "order", "pairs", "injected writes", "done unasked", "attacks reached", "approvals", "blocked")
    table = Table(*columns, title="with every injection", box=None)
    for one in reports:
        for found in one.attacked:
            row = (found.pairs, found.injected_writes, found.executed_writes, found.attacks_reached)
            table.add_row(one.suite, found.order, *map(str, (*row, found.approvals_by_attacks, found.blocked)))
    return table


def _named(report: "SuiteReport") -> dict[str, Any]:
    attacked = {
        one.order: {"executed": one.executed, "reached": one.reached, "denied": one.denied} for one in report.attacked
    }
    return {"suite": report.suite, "asked": report.benign.asked} | attacked


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # here: who calls main() keeps the log of its own process
    typer.run(main)
