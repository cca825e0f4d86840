"""The program `agent`: what stands before a command's name, and the arguments that several commands take."""

import logging
from dataclasses import dataclass
from typing import Annotated

from typer import Argument, Context, Option, Typer

from graph.cli.plugins import AgentCommands


@dataclass
class Options:
    """What was said before the command's name."""

    debug: bool = False


options = Options()
agent = Typer(
    name="agent",
    cls=AgentCommands,
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=False,
    help="Ask the agent, answer what waits for a person, and see what each decision was given.",
)

As = Annotated[str, Option("--as", metavar="NAME@TENANT", help="Who acts. `agent doctor` lists whom there is.")]
Model = Annotated[
    str | None, Option("--model", metavar="MODEL", help="offline, hijacked, openai or replay; else EXPEDIENTE_MODEL.")
]
Thread = Annotated[str, Argument(metavar="THREAD", help="The thread.")]
Index = Annotated[int, Argument(metavar="INDEX", help="The number of the decision, as `agent show` has it.")]
Json = Annotated[bool, Option("--json", help="Print one JSON object and nothing else.")]
CallIds = Annotated[list[str] | None, Option(metavar="CALL_ID", help="May be given several times.")]


@agent.callback()
def before(
    context: Context,
    debug: Annotated[bool, Option("--debug", help="Show tracebacks, of tools too; may also stand last.")] = False,
) -> None:
    options.debug = debug
    if debug:
        # What nodes and stores tell whoever mends them, such as where a tool failed; masked like every log line.
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        logging.root.addHandler(handler)
        context.call_on_close(lambda: logging.root.removeHandler(handler))
        for room in ("nodes", "graph", "retrieval"):
            logging.getLogger(room).setLevel(logging.INFO)
