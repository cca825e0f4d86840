"""`agent memory` and its commands: a principal tends its own memories, a role of the policy record those of others."""

from typing import Annotated

from typer import Argument, Exit, Option, Typer

from graph.cli.program import As, Json, agent
from graph.cli.screen import Screen

memory = Typer(
    no_args_is_help=True,
    help="What is remembered of you: list it, add to it, confirm, correct, forget and export it. With a role of the "
    "policy's `memory.keeper_roles`, of others in your organisation too.",
)
agent.add_typer(memory, name="memory")

Subject = Annotated[str | None, Option(metavar="SUBJECT", help="Of whom; else of yourself.")]
Source = Annotated[
    str | None,
    Option(metavar="ADDRESS", help="The record that says so, such as ticket://T-1; for others it must be told."),
]
Id = Annotated[str, Argument(metavar="ID", help="The memory, as `agent memory list` has it.")]
Text = Annotated[str, Option(metavar="TEXT", help="What it says; secrets and personal data are masked.")]


@memory.command("list")
def listed(as_: As, subject: Subject = None, json: Json = False) -> None:
    """What is remembered, what was replaced too, with its source and its end."""
    from graph.cli.remembering import listed as run

    raise Exit(run(Screen(json), as_=as_, subject=subject))


@memory.command()
def export(as_: As, subject: Subject = None) -> None:
    """All of it as JSON, whole."""
    from graph.cli.remembering import listed as run

    raise Exit(run(Screen(json=True), as_=as_, subject=subject))


@memory.command()
def add(
    about: Annotated[str, Argument(metavar="TOPIC", help="One of the policy record's topics.")],
    as_: As,
    text: Text,
    subject: Subject = None,
    source: Source = None,
    json: Json = False,
) -> None:
    """Remember something. What says the same is merged, what contradicts it is replaced and kept beside."""
    from graph.cli.remembering import written

    raise Exit(written(Screen(json), as_, lambda it, actor: it.add(actor, about, text, subject, source)))


@memory.command()
def confirm(memory_id: Id, as_: As, source: Source = None, json: Json = False) -> None:
    """Make a fact of a hypothesis, or renew what is due for review."""
    from graph.cli.remembering import written

    raise Exit(written(Screen(json), as_, lambda it, actor: it.confirm(actor, memory_id, source)))


@memory.command()
def correct(memory_id: Id, as_: As, text: Text, source: Source = None, json: Json = False) -> None:
    """Replace what a memory says."""
    from graph.cli.remembering import written

    raise Exit(written(Screen(json), as_, lambda it, actor: it.correct(actor, memory_id, text, source)))


@memory.command()
def consolidate(
    memory_ids: Annotated[list[str], Argument(metavar="ID...", help="Several of one topic.")],
    as_: As,
    text: Text,
    json: Json = False,
) -> None:
    """One memory in place of several, with the lowest trust among them and all their sources."""
    from graph.cli.remembering import written

    raise Exit(written(Screen(json), as_, lambda it, actor: it.consolidate(actor, memory_ids, text)))


@memory.command()
def forget(memory_id: Id, as_: As, json: Json = False) -> None:
    """Delete a memory and all that it replaced, in the store and in every request that showed it."""
    from graph.cli.remembering import forget as run

    raise Exit(run(Screen(json), memory_id, as_=as_))
