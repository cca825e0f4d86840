"""The exit codes."""

from typer import TyperException

OK = 0
FAILED = 1
WRONG_USE = 2
NEEDS_PERSON = 3
HANDED_OVER = 4
SKIPPED = 4  # something is left for a person here too: files to mend
INTERRUPTED = 130


class WrongUse(TyperException):
    """The command was called in a way it cannot be: got, allowed."""

    exit_code = WRONG_USE
