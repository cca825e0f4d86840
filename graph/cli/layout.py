"""How lines are laid out: a label, and beside it text that hangs below its own start. No line ends in blanks."""

from collections.abc import Iterable, Iterator

from rich.console import Console, ConsoleOptions
from rich.text import Text

INDENT = 2
LABEL = 10  # the longest label and a blank


class Hanging:
    """A text whose later lines stand below its first; in one line, its end is cut off."""

    def __init__(
        self, text: Text | str, label: str = "", *, indent: int = INDENT, style: str = "dim", one_line: bool = False
    ) -> None:
        self.text = text if isinstance(text, Text) else Text(text)
        self.label, self.indent, self.style, self.one_line = label, indent, style, one_line

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        start = " " * self.indent + self.label
        width = max(options.max_width - len(start), 20)
        if self.one_line:
            line = self.text.copy()
            line.truncate(width, overflow="ellipsis")
            lines: Iterable[Text] = [line]
        else:
            lines = self.text.wrap(console, width, overflow="fold")
        for number, line in enumerate(lines):
            line.rstrip()
            yield Text.assemble((start if number == 0 else " " * len(start), self.style), line)


def labelled(label: str, texts: Iterable[Text | str], *, one_line: bool = False) -> Iterator[Hanging]:
    """Texts one below the other, the label beside the first."""
    for number, text in enumerate(texts):
        yield Hanging(text, f"{label if number == 0 else '':<{LABEL}}", one_line=one_line)
