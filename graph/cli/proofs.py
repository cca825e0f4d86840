"""The commands that show, prove and explain what was filed. Each imports what it does when it is called."""

from typing import Annotated

from typer import Argument, Exit, Option

from graph.cli.exits import WrongUse
from graph.cli.program import As, Index, Json, Thread, agent
from graph.cli.screen import Screen


@agent.command()
def show(
    thread: Annotated[str, Argument(metavar="THREAD", help="The thread.")],
    as_: As,
    decision: Annotated[int | None, Option(metavar="N", help="Only this one, by the number in its brackets.")] = None,
    tree: Annotated[bool, Option("--tree", help="The records alone: forks and edits as branches.")] = False,
    json: Json = False,
) -> None:
    """Show every decision of a thread with its working set: what was in, what was left out, and why."""
    from graph.cli.inspecting import tree as as_tree
    from graph.cli.showing import show as run

    if tree and decision is not None:
        raise WrongUse("got --tree and --decision; allowed: one of them")
    if tree:
        as_tree(Screen(json), thread, as_=as_)
    else:
        run(Screen(json), thread, as_=as_, index=decision)


@agent.command()
def replay(
    thread: Thread,
    index: Index,
    as_: As,
    attempt: Annotated[int | None, Option(metavar="N", help="Which model call of it; else the last.")] = None,
    request: Annotated[bool, Option("--request", help="Print the rebuilt request itself, byte for byte.")] = False,
    json: Json = False,
) -> None:
    """Rebuild what the model was sent from the record alone, and prove it by its hash. Exit 1 if it cannot be."""
    from graph.cli.inspecting import replay as run

    raise Exit(run(Screen(json), thread, index, as_=as_, attempt=attempt, show=request))


@agent.command()
def explain(
    thread: Thread,
    index: Index,
    as_: As,
    item: Annotated[str | None, Argument(metavar="ITEM", help="One item, by id or source, with all figures.")] = None,
    json: Json = False,
) -> None:
    """Say why each item is in a request, and why each candidate is out."""
    from graph.cli.inspecting import explain as run

    run(Screen(json), thread, index, as_=as_, item=item)


@agent.command()
def diff(
    thread: Thread,
    before: Annotated[str, Argument(metavar="A", help="The number of a decision, or THREAD:NUMBER.")],
    after: Annotated[str, Argument(metavar="B", help="Likewise.")],
    as_: As,
    json: Json = False,
) -> None:
    """Say what changed between two requests: items, versions, tools, instructions, prefix."""
    from graph.cli.inspecting import diff as run

    run(Screen(json), thread, before, after, as_=as_)


@agent.command()
def prefix(thread: Thread, as_: As, json: Json = False) -> None:
    """Say how much each request shares with the one before it of its kind, and what ended the shared part."""
    from graph.cli.inspecting import prefix as run

    run(Screen(json), thread, as_=as_)


@agent.command()
def verify(thread: Thread, as_: As, json: Json = False) -> None:
    """Check every record, body and attempt of a thread, on all branches. Exit 1 if anything was changed."""
    from graph.cli.inspecting import verify as run

    raise Exit(run(Screen(json), thread, as_=as_))
