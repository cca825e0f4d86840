"""Runs one command: arguments in, exit code out; whatever goes wrong becomes one line."""

import sys
import traceback
from collections.abc import Sequence
from contextlib import nullcontext

from typer import Exit, TyperException
from typer.main import get_command

from graph.cli import commands, memory_commands, proofs, servers, skills
from graph.cli.exits import FAILED, INTERRUPTED, OK, WRONG_USE
from graph.cli.program import agent, options
from graph.cli.screen import Screen, one_line, reader_may_leave
from graph.masking import install, masked

# Importing them is what gives the program its commands.
COMMANDS = (commands, memory_commands, proofs, servers, skills)


def run(arguments: Sequence[str]) -> int:
    """Run `agent` with these arguments. Gives the exit code."""
    install()
    given = _debug_first(arguments) or ["--help"]
    screen = Screen(json="--json" in given)
    context = None
    try:
        command = get_command(agent)
        # Help is printed past the screen.
        with (
            reader_may_leave() if "--help" in given else nullcontext(),
            command.make_context("agent", given) as context,
        ):
            command.invoke(context)
    except Exit as done:
        return done.exit_code
    except TyperException as error:
        called = f"agent {(context and context.invoked_subcommand) or ''}".rstrip()
        where = getattr(getattr(error, "ctx", None), "command_path", called)
        message = one_line(error.format_message()).rstrip(".")
        screen.error(f"{message}; see `{where} --help`" if error.exit_code == WRONG_USE else message)
        return error.exit_code
    except KeyboardInterrupt as stopped:
        screen.error(str(stopped) or "stopped")
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  # the last frame of the program: nobody above could say it better
        if options.debug:
            sys.stderr.write(masked(traceback.format_exc()))
        return _failed(error, screen)
    finally:
        screen.close()
    return OK


def _debug_first(arguments: Sequence[str]) -> list[str]:
    """The arguments with `--debug` in front, wherever before a `--` it stands: so every command takes it."""
    given = list(arguments)
    before = given[: given.index("--")] if "--" in given else given
    others = [one for one in before if one != "--debug"]
    return ["--debug"] * (len(others) < len(before)) + others + given[len(before) :]


def _failed(error: Exception, screen: Screen) -> int:
    # The classes are imported here: a command that raised one of them has imported most of it already.
    from graph.faults import explained

    fault = explained(error)
    if fault is None:
        hint = "" if options.debug else "; the same command with --debug shows where"
        screen.error(f"unexpected {type(error).__name__}, which is a bug in this program or its domain{hint}")
        return FAILED
    screen.error(fault.message)
    return WRONG_USE if fault.wrong_use else FAILED
