"""`python -m evals.tool_search`: all tools of AgentDojo's suites at once, and its users' tasks as the questions.

A task is labelled by the calls that solve it. What a model would look for is not known: the first sentence of the
tool's own description stands for it, which no model writes so well: the figure after a search is an upper bound.
"""

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from evals.agentdojo.environment import TERMS, domain_of, open_world
from evals.agentdojo.replay import calls_of
from evals.tool_search.measure import Labelled, measured
from graph.tokens import EncodingCounter
from state.contract import ToolContract

app = typer.Typer(add_completion=False)


@app.command()
def main(
    most: Annotated[list[int] | None, typer.Option(min=1, help="Bounds; may be given several times.")] = None,
) -> None:
    """Print a row for each bound."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    contracts: dict[str, ToolContract] = {}
    questions = []
    with TemporaryDirectory() as home:
        for name in TERMS:
            world = open_world(name)
            for tool in domain_of(world, Path(home) / name).tools:
                contracts.setdefault(tool.contract.name, tool.contract)
            for task in world.suite.user_tasks.values():
                called = tuple(dict.fromkeys(call.function for call in calls_of(task, world.begin("", task))))
                looks_for = tuple(contracts[tool].description.partition(".")[0] for tool in called)
                if called:
                    questions.append(Labelled(question=task.PROMPT, tools=called, looks_for=looks_for))
    table = Table("offered", "at once", "after a search", "tokens, all", "a part", "with searches", box=None)
    tokens = EncodingCounter("o200k_base")
    for bound in most or (8, 12, 16, 24):
        found = measured(tuple(contracts.values()), questions, bound, tokens)
        table.add_row(
            f"{found.most} of {found.tools}",
            f"{found.at_once:.3f}",
            f"{found.after_search:.3f}",
            f"{found.tokens_all:,.0f}",
            f"{found.tokens_part:,.0f}",
            f"{found.tokens_with_searches:,.0f}",
        )
    console = Console()
    console.print(f"{len(questions)} tasks, {len(contracts)} tools")
    console.print(table)


if __name__ == "__main__":
    app()
