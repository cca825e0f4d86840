"""Commands of packages above this one, found by entry point and loaded when they are called."""

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from typer import Typer, TyperException
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

GROUP = "expediente.commands"


class CommandBroken(TyperException):
    """Another package's command cannot be loaded."""

    def __init__(self, entry: EntryPoint, reason: str) -> None:
        super().__init__(f"the command {entry.name} cannot be loaded from {entry.value}: {reason}; mend that package")


class AgentCommands(TyperGroup):
    """Our own commands, then those of the entry-point group. Listing them imports none."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names in the order of the help."""
        own = super().list_commands(ctx)
        return [*own, *sorted(set(_found()) - set(own))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """For the help: another package's command stands in by name."""
        own = super().get_command(ctx, cmd_name)
        if own is not None or cmd_name not in _found():
            return own
        package = _found()[cmd_name].module.partition(".")[0]
        return TyperCommand(cmd_name, help=f"A command of the package {package}.")

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """For a call: another package's command is loaded now."""
        name, stand_in, rest = super().resolve_command(ctx, args)
        if name is None or super().get_command(ctx, name) is not None:
            return name, stand_in, rest
        return name, _loaded(_found()[name]), rest


def _found() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _loaded(entry: EntryPoint) -> Any:
    try:
        commands = entry.load()
    except Exception as error:  # foreign code may fail in any way, and its command is only one of many
        raise CommandBroken(entry, f"{type(error).__name__}: {error}") from error
    if not isinstance(commands, Typer):
        raise CommandBroken(entry, f"got {type(commands).__name__}, allowed: a typer.Typer")
    return get_command(commands)
