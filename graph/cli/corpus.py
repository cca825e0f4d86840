"""`agent corpus`: which document versions there are, whose, for whom, since when, and where they came from.

A principal is shown what that principal may read. What is there for all tenants is shown to whoever runs this
machine, and only when asked for by name (`--all`).
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from json import dumps
from typing import Any

from rich.text import Text

from graph.cli.layout import Hanging
from graph.cli.opening import opened
from graph.cli.screen import Screen, one_line
from graph.cli.wording import plural, spoken_name
from retrieval.access import FOREVER_US, microseconds, moment
from retrieval.entries import Entry
from retrieval.intake import folder_of
from state.run import Access

_NO_MODEL = "offline"  # nothing is asked here: the settings' model need not be one that can be opened


def corpus(screen: Screen, *, as_: str | None) -> None:
    """Print the documents that a principal may read; of nobody in particular, all. Raises UnknownPrincipal."""
    with opened(screen, _NO_MODEL) as app:
        catalogue, now = app.library.catalogue, app.ports.clock.now()
        if as_ is None:
            entries = catalogue.entries([revision.tenant for revision in catalogue.revisions()])
        else:
            who = app.identity.principal(as_)
            access = Access(tenant=who.tenant, groups=who.groups, products=who.products, now=now)
            entries = catalogue.admitted(access)
    if screen.json_wanted:
        documents = [_plain(entry, now) for entry in entries]
        plain = {"as": as_, "chunks": sum(entry.chunks for entry in entries), "documents": documents}
        screen.text(dumps(plain, indent=2, ensure_ascii=False))
    else:
        _tell(screen, entries, as_, now)


def _tell(screen: Screen, entries: Sequence[Entry], as_: str | None, now: datetime) -> None:
    chunks = sum(entry.chunks for entry in entries)
    told = f"{as_ or 'all tenants'} · {plural(len(entries), 'document version')}, {plural(chunks, 'chunk')}"
    screen.out.print(Text(told, style="dim"))
    for (origin, tenant), group in groupby(sorted(entries, key=_place), key=lambda entry: _place(entry)[:2]):
        screen.out.print(
            Text(), Hanging(Text.assemble((one_line(tenant), "bold"), f" from {one_line(origin)}"), indent=0)
        )
        for entry in group:
            screen.out.print(Hanging(_line(entry, now), f"{entry.chunks:>5}  ", indent=0))


def _line(entry: Entry, now: datetime) -> Text:
    parts = [_validity(entry, now)]
    parts += [f"only {', '.join(entry.acl)}"] * bool(entry.acl)
    parts += [f"product {entry.product}"] * bool(entry.product)
    return Text.assemble(one_line(entry.source), (f" · {one_line('; '.join(parts))}", "dim"))


def _validity(entry: Entry, now: datetime) -> str:
    window = entry.window
    reason = window.out_of_force(microseconds(now))
    told = spoken_name(reason.value) if reason else "in force"
    told += f" from {moment(window.from_us):%Y-%m-%d}" if window.from_us > 0 else ""
    return told + (f" to {moment(window.until_us):%Y-%m-%d}" if window.until_us != FOREVER_US else "")


def _place(entry: Entry) -> tuple[str, str, str]:
    return str(folder_of(entry.origin)), entry.tenant, entry.source


def _plain(entry: Entry, now: datetime) -> dict[str, Any]:
    window = entry.window
    reason = window.out_of_force(microseconds(now))
    return {
        "source": entry.source,
        "id": entry.document_id,
        "version": entry.version,
        "tenant": entry.tenant,
        "acl": list(entry.acl),
        "product": entry.product,
        "status": reason.value if reason else "in_force",
        "effective_from": moment(window.from_us).isoformat(),
        "effective_to": None if window.until_us == FOREVER_US else moment(window.until_us).isoformat(),
        "chunks": entry.chunks,
        "origin": str(folder_of(entry.origin)),
        "file": entry.file,
    }
