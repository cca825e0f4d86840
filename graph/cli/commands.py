"""The commands and their options. Each imports what it does when it is called, so that `--help` is quick."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option, Typer

from graph.cli.exits import WrongUse
from graph.cli.plugins import AgentCommands
from graph.cli.screen import Screen

if TYPE_CHECKING:
    from graph.conversation import Answer


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
    str | None, Option("--model", metavar="MODEL", help="offline, hijacked or openai; else EXPEDIENTE_MODEL.")
]
Thread = Annotated[str, Argument(metavar="THREAD", help="The thread.")]
Index = Annotated[int, Argument(metavar="INDEX", help="The number of the decision, as `agent show` has it.")]
Json = Annotated[bool, Option("--json", help="Print one JSON object and nothing else.")]
CallIds = Annotated[list[str] | None, Option(metavar="CALL_ID", help="May be given several times.")]


@agent.callback()
def before(
    debug: Annotated[bool, Option("--debug", help="Show the traceback of an error; may also stand last.")] = False,
) -> None:
    options.debug = debug


@agent.command()
def ask(
    question: Annotated[str, Argument(metavar="QUESTION", help="The question; - reads it from standard input.")],
    as_: As,
    thread: Annotated[str | None, Option(help="Go on with this thread, or name a new one.")] = None,
    model: Model = None,
    json: Json = False,
) -> None:
    """Ask, and see each decision as it happens. Exit 0 answered, 3 needs a person, 4 handed over, 1 failed."""
    from graph.cli.turns import ask as run

    raise Exit(run(Screen(json), question, as_=as_, thread=thread, model=model))


@agent.command()
def resume(
    thread: Annotated[str, Argument(metavar="THREAD", help="The thread that waits.")],
    as_: As,
    approve: CallIds = None,
    reject: CallIds = None,
    edit: Annotated[
        tuple[str, str] | None,
        Option(metavar="CALL_ID JSON", help="Approve it with other arguments: all of them, as a JSON object."),
    ] = None,
    model: Model = None,
    json: Json = False,
) -> None:
    """Approve, edit or reject pending calls, and go on."""
    from graph.cli.approving import edit_of
    from graph.cli.turns import resume as run

    edited = [edit[0]] if edit else []
    given = Counter([*set(approve or ()), *set(reject or ()), *edited])
    both = sorted(name for name, times in given.items() if times > 1)
    if both:
        raise WrongUse(f"got several answers for {', '.join(both)}; allowed: one answer per call")
    answers: dict[str, Answer] = dict.fromkeys(approve or (), "approve")
    answers.update(dict.fromkeys(reject or (), "reject"))
    if edit:
        answers[edit[0]] = edit_of(edit[1])
    raise Exit(run(Screen(json), thread, as_=as_, answers=answers, model=model))


@agent.command()
def chat(
    as_: As,
    thread: Annotated[str | None, Option(help="Go on with this thread, or name a new one.")] = None,
    model: Model = None,
    json: Annotated[bool, Option("--json", help="Print one JSON object per turn, each in one line.")] = False,
) -> None:
    """Talk, one line per turn; approvals are asked for where they come up. Exit: that of the last turn."""
    from graph.cli.chat import chat as run

    raise Exit(run(Screen(json), as_=as_, thread=thread, model=model))


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


@agent.command()
def ingest(
    path: Annotated[Path, Argument(metavar="PATH", help="A folder of Markdown or text, or one such file.")],
    tenant: Annotated[str | None, Option(metavar="TENANT", help="Whose documents they are.")] = None,
    public: Annotated[bool, Option("--public", help="Every tenant may read them.")] = False,
    acl: Annotated[str | None, Option(metavar="G1,G2", help="Only these groups may read them.")] = None,
    ignore: Annotated[
        str | None, Option(metavar="K1,K2", help="Keys of front matter to pass over, such as tags,date.")
    ] = None,
    withdraw: Annotated[bool, Option("--withdraw", help="Take out what PATH brought before.")] = False,
    json: Json = False,
) -> None:
    """Read documents in; unchanged ones cost nothing, vanished ones are withdrawn. Exit 0, or 4 with files skipped."""
    from graph.cli.ingesting import ingest as run
    from graph.cli.ingesting import intake_of
    from graph.cli.ingesting import withdraw as take_out

    intake = intake_of(tenant, public=public, acl=acl, passed_over=ignore)
    raise Exit((take_out if withdraw else run)(Screen(json), path, intake))


@agent.command()
def corpus(
    as_: Annotated[str | None, Option("--as", metavar="NAME@TENANT", help="What this principal may read.")] = None,
    everything: Annotated[
        bool, Option("--all", help="Everything, of every tenant: for whoever runs this machine.")
    ] = False,
    json: Json = False,
) -> None:
    """List the documents: version, scope, validity, chunks, and the folder they came from."""
    from graph.cli.corpus import corpus as run

    if (as_ is None) is not everything:
        raise WrongUse("got neither or both of --as and --all; allowed: --as NAME@TENANT, or --all")
    run(Screen(json), as_=as_)


@agent.command()
def tools(
    name: Annotated[str | None, Argument(metavar="NAME", help="One tool; else all of them.")] = None,
    json: Json = False,
) -> None:
    """Print the contracts: who may call what, under which limits, what comes back; and tools easily confused."""
    from graph.cli.tools import tools as run

    run(Screen(json), (name,) if name else ())


@agent.command()
def forget(
    subject: Annotated[str | None, Option(metavar="SUBJECT", help="A principal (NAME@TENANT) or an account.")] = None,
    tenant: Annotated[str | None, Option(metavar="TENANT", help="In which tenant, where several know it.")] = None,
    expired: Annotated[bool, Option("--expired", help="All that the policy's retention no longer keeps.")] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Say what would go, and change nothing.")] = False,
    json: Json = False,
) -> None:
    """Erase what was said, kept and checkpointed; records stay and can be verified. For whoever runs this machine."""
    from graph.cli.forgetting import expire
    from graph.cli.forgetting import forget as run

    if (subject is None) is not expired:
        raise WrongUse("got neither or both of --subject and --expired; allowed: one of them")
    if subject is None:
        raise Exit(expire(Screen(json), dry_run=dry_run))
    raise Exit(run(Screen(json), subject=subject, tenant=tenant, dry_run=dry_run))


@agent.command()
def draw(
    write: Annotated[bool, Option("--write", help="Write both into README.md, between their markers.")] = False,
    check: Annotated[bool, Option("--check", help="Exit 1 if README.md differs.")] = False,
) -> None:
    """Print the graph as Mermaid and the table of the nodes' slices. Made locally, never by a web service."""
    from graph.cli.drawings import draw as run

    if write and check:
        raise WrongUse("got --write and --check; allowed: one of them")
    raise Exit(run(Screen(json=False), write=write, check=check))


@agent.command()
def doctor(
    model: Annotated[
        str | None, Option("--model", metavar="NAME", help="Probe the model server for this model instead.")
    ] = None,
    json: Json = False,
) -> None:
    """Say what is there and what is missing, and how to fix it. Changes nothing. Exit 1 if something is missing.

    With --model NAME, a model as its server names it: which profile fits, and what fails. Exit 1 if none fits.
    """
    from graph.cli.checkup import checkup, model_checkup

    raise Exit(checkup(Screen(json)) if model is None else model_checkup(Screen(json), model))


@agent.command()
def studio(
    port: Annotated[int, Option(metavar="PORT", min=1, max=65_535, help="Where to listen.")] = 2024,
) -> None:
    """Start LangGraph's dev server for Studio and the SDK, offline. Exit 1 if the port is taken, before it starts."""
    from graph.cli.studio import studio as run

    raise Exit(run(Screen(json=False), port=port))


@agent.command()
def token(
    principal: Annotated[str, Argument(metavar="NAME@TENANT", help="Whose token it is.")],
    valid_for_s: Annotated[int, Option(metavar="N", help="For how many seconds, at most 30 days.")] = 3_600,
    json: Json = False,
) -> None:
    """Print a token that a server with authentication accepts; EXPEDIENTE_AUTH_KEY signs it."""
    from graph.cli.issuing import issue as run

    raise Exit(run(Screen(json), principal, valid_for_s=valid_for_s))
