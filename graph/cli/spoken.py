"""What a person says, line by line: at a prompt on a terminal, or from a pipe."""

import contextlib
import sys

from rich.text import Text

from graph.cli.exits import WrongUse
from graph.cli.screen import Screen, one_line


class Spoken:
    """The lines of standard input."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._terminal = sys.stdin.isatty()
        if self._terminal:
            with contextlib.suppress(ImportError):  # not on every platform: without it the line cannot be edited
                import readline  # noqa: F401  # being imported is what makes `input` edit lines

    def next(self, prompt: str) -> str | None:
        """The next line without blanks at its ends; None at the end of input. Raises WrongUse for what is no text."""
        try:
            if self._terminal:
                return input(prompt).strip()
            line = sys.stdin.readline()
        except EOFError:
            self._screen.out.print()
            return None
        except UnicodeDecodeError as error:
            raise WrongUse(f"got a line that is no {error.encoding} text; allowed: text") from None
        if not line:
            return None
        if not self._screen.json_wanted:
            self._screen.out.print(Text(f"{prompt}{one_line(line)}", style="bold"), soft_wrap=False)
        return line.strip()
