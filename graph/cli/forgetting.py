"""`agent forget`: for whoever runs this machine. What is kept of a subject, or past its time, is erased."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from graph.cli.exits import FAILED, OK, SKIPPED
from graph.cli.layout import Hanging, labelled
from graph.cli.opening import opened
from graph.cli.screen import Screen, one_line
from graph.cli.wording import plural

if TYPE_CHECKING:
    from graph.app import App
    from graph.forgetting.forget import Removed

_NO_MODEL = "offline"  # nothing is asked here
_STAYS = (
    "What stays: the records of what was decided (ids, figures, hashes), who owns which thread, documents "
    "(`agent ingest --withdraw`), and the domain's own data."
)


def forget(screen: Screen, *, subject: str, tenant: str | None, dry_run: bool) -> int:
    """Erase what is kept of a subject, and say what was. Gives 4 where bytes of it may still lie in a file, and 1 for a
    name of which nothing is known.

    Raises TenantNeeded, ThreadBusy and what opening raises.
    """
    with opened(screen, _NO_MODEL, filed=True) as app, screen.waiting("Forgetting"):
        found = app.forgetting.subject(subject, tenant, dry_run=dry_run)
        others = _who_else(app, subject, tenant)
        person = app.ports.domain.principal(subject)
    if not (found.known or others or (person and tenant in (None, person.tenant))):
        where = "" if tenant is None else f" in tenant {tenant!r}"
        screen.error(
            f"got subject {subject!r}, of whom nothing is known{where}; allowed: a principal or an account, spelt as "
            "it was used; correct the name, `agent doctor` lists the principals"
        )
        return FAILED
    return _told(screen, subject, found, others)


def expire(screen: Screen, *, dry_run: bool) -> int:
    """Erase what the policy's retention no longer keeps. Gives what `forget` gives."""
    with opened(screen, _NO_MODEL, filed=True) as app, screen.waiting("Forgetting"):
        policy = app.identity.policy()
        found = app.forgetting.expired(policy, app.ports.clock.now(), dry_run=dry_run)
    kept = policy.retention
    days = (("conversations", kept.conversation_days), ("memories", kept.memory_days))
    told = ", ".join(f"{kind} {'without end' if n is None else plural(n, 'day')}" for kind, n in days)
    return _told(screen, f"what is past its time (policy {policy.version} keeps {told})", found, ())


def _who_else(app: "App", subject: str, tenant: str | None) -> tuple[str, ...]:
    """Principals who act for a subject that is none itself: what they said is theirs."""
    people = [one for name in app.ports.domain.principals() if (one := app.ports.domain.principal(name))]
    there = [one for one in people if tenant in (None, one.tenant)]
    return tuple(one.name for one in there if subject in one.subjects and one.name != subject)


def _told(screen: Screen, whom: str, found: "Removed", others: tuple[str, ...]) -> int:
    if screen.json_wanted:
        screen.text(found.model_dump_json(indent=2))
    else:
        screen.out.print(Hanging(Text(one_line(whom), style="dim"), indent=0))
        for line in _lines(found, others):
            screen.out.print(line)
    return SKIPPED if found.left and not _only_the_server(found) else OK


def _only_the_server(found: "Removed") -> bool:
    from graph.forgetting.shred import ON_SERVER

    return found.left == (ON_SERVER,)


def _lines(found: "Removed", others: tuple[str, ...]) -> Iterator[Hanging]:
    verb = "would go" if found.dry_run else "removed"
    if found.nothing:
        yield Hanging("Nothing is kept of it (any more).")
    else:
        yield from labelled(verb, map(one_line, _counts(found)))
    if found.shared:
        bodies = "body" if found.shared == 1 else "bodies"
        yield from labelled("kept", [f"{found.shared} {bodies} that something which stays names too"])
    for thread, calls in found.waiting.items():
        ends = "would never be answered" if found.dry_run else "will never be answered"
        approvals = "1 approval waits" if calls == 1 else f"{calls} approvals wait"
        yield from labelled("waiting", [f"{approvals} on thread {one_line(thread)} and {ends}"])
    for note in found.left:
        yield from labelled("left", [one_line(note)])
    if others:
        yield Hanging(f"Threads of {', '.join(map(one_line, others))} are theirs: forget them by name.")
    yield Hanging(_STAYS)


def _counts(found: "Removed") -> Iterator[str]:
    if found.threads:
        yield f"{plural(len(found.threads), 'thread')}: {', '.join(found.threads)}"
    if found.checkpoints:
        yield plural(found.checkpoints, "checkpoint")
    if found.memories:
        yield "1 memory" if found.memories == 1 else f"{found.memories:,} memories"
    if found.events:
        yield plural(found.events, "event")
    if found.bodies:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in found.bodies.items())
        total = sum(found.bodies.values())
        yield f"{'1 body' if total == 1 else f'{total:,} bodies'}: {kinds}"
