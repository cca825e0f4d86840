"""The commands and their options. Each imports what it does when it is called, so that `--help` is quick."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option

from graph.cli.exits import WrongUse
from graph.cli.program import As, CallIds, Json, Model, Thread, agent
from graph.cli.screen import Screen

if TYPE_CHECKING:
    from graph.conversation import Answer


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
def notify(
    kind: Annotated[str, Argument(metavar="KIND", help="One of the domain's kinds of events.")],
    about: Annotated[str, Argument(metavar="ABOUT", help="What it is about, such as an id or a file's name.")],
    tenant: Annotated[str, Option(metavar="TENANT", help="Whose threads may be told.")],
    principal: Annotated[str | None, Option(metavar="NAME@TENANT", help="Only threads of theirs.")] = None,
    thread: Annotated[str | None, Option(metavar="THREAD", help="Only this one.")] = None,
    key: Annotated[str | None, Option(metavar="KEY", help="Told twice under one key, it is queued once.")] = None,
    json: Json = False,
) -> None:
    """Queue an event; requests tell it while it is still so. It grants nothing."""
    from graph.cli.events import notify as run

    raise Exit(run(Screen(json), kind, about, tenant=tenant, principal=principal, thread=thread, key=key))


@agent.command()
def events(thread: Thread, as_: As, json: Json = False) -> None:
    """The events that were queued for a thread, and what became of each."""
    from graph.cli.events import events as run

    raise Exit(run(Screen(json), thread, as_=as_))


@agent.command()
def ingest(
    path: Annotated[Path, Argument(metavar="PATH", help="A folder of Markdown, text, HTML or PDF, or one file.")],
    tenant: Annotated[str | None, Option(metavar="TENANT", help="Whose documents they are.")] = None,
    public: Annotated[bool, Option("--public", help="Every tenant may read them.")] = False,
    acl: Annotated[str | None, Option(metavar="G1,G2", help="Only these groups may read them.")] = None,
    ignore: Annotated[
        str | None, Option(metavar="K1,K2", help="Keys of front matter to pass over, such as tags,date.")
    ] = None,
    new_tenant: Annotated[
        bool, Option("--new-tenant", help="Take a tenant that no principal of the domain belongs to.")
    ] = False,
    withdraw: Annotated[bool, Option("--withdraw", help="Take out what PATH brought before.")] = False,
    json: Json = False,
) -> None:
    """Read documents in; unchanged ones cost nothing, vanished ones are withdrawn. Exit 0, or 4 with files skipped."""
    from graph.cli.ingesting import ingest as run
    from graph.cli.ingesting import intake_of
    from graph.cli.ingesting import withdraw as take_out

    intake = intake_of(tenant, public=public, acl=acl, passed_over=ignore)
    if withdraw:
        raise Exit(take_out(Screen(json), path, intake))
    raise Exit(run(Screen(json), path, intake, new_tenant=new_tenant))


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
