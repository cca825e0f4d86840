"""`agent ingest`: a folder of Markdown, text, HTML or PDF into the library, for one tenant or for everybody."""

import time
from json import dumps
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from rich.text import Text

from graph.cli.exits import OK, SKIPPED, WrongUse
from graph.cli.layout import Hanging
from graph.cli.screen import Screen, one_line
from graph.cli.wording import plural
from retrieval.faults import CorpusMissing
from retrieval.intake import Intake
from state.run import PUBLIC_TENANT

if TYPE_CHECKING:
    from graph.settings import Settings
    from retrieval.ingest import IngestReport  # it opens no store, and brings along what does

_NAMED = 20  # tenants that a message lists
_ACTIONS = ("added", "changed", "unchanged", "removed")


def ingest(screen: Screen, path: Path, intake: Intake, *, new_tenant: bool = False) -> int:
    """Bring the library to the state of a folder or a file. Gives 4 where something was skipped.

    Raises WrongUse for a path with nothing to read and for a tenant that no principal of the domain belongs to, unless
    it is said to be new; and what opening and ingesting raise.
    """
    began = time.monotonic()
    try:
        with screen.waiting("Reading", "chunks") as progress:
            from graph.clock import SystemClock
            from graph.home_library import open_library
            from graph.settings import Settings

            settings = Settings.load()
            if not new_tenant:
                _refuse_unknown(intake.tenant, settings)
            with open_library(settings) as library:
                report = library.ingest(path, SystemClock().now(), intake=intake, progress=progress)
    except CorpusMissing as missing:
        raise WrongUse(str(missing)) from None
    except KeyboardInterrupt:
        again = f"agent ingest {quote(str(path))} {_options(intake)}{' --new-tenant' * new_tenant}"
        raise KeyboardInterrupt(f"stopped; what was read is in, and this goes on: {again}") from None
    seconds = time.monotonic() - began
    if screen.json_wanted:
        screen.text(dumps(_plain(path, intake, report, seconds), indent=2, ensure_ascii=False))
    else:
        _tell(screen, path, intake, report, seconds)
    return SKIPPED if report.broken else OK


def withdraw(screen: Screen, path: Path, intake: Intake) -> int:
    """Take out what a folder brought for a tenant, whether the folder is still there or not."""
    with screen.waiting("Withdrawing"):
        from graph.clock import SystemClock
        from graph.home_library import open_library
        from graph.settings import Settings

        with open_library(Settings.load()) as library:
            removed = library.withdraw(path, intake, SystemClock().now())
    if screen.json_wanted:
        documents = [one.model_dump(mode="json") for one in removed]
        plain = {"path": str(path), "tenant": intake.tenant, "removed": len(removed), "documents": documents}
        screen.text(dumps(plain, indent=2, ensure_ascii=False))
    else:
        screen.out.print(Hanging(f"{plural(len(removed), 'document')} withdrawn", indent=0))
    if not removed:
        screen.warning(
            f"nothing was read from {path} for {intake.tenant}; `agent corpus --all` says where each document came from"
        )
    return OK if removed else SKIPPED


def intake_of(tenant: str | None, *, public: bool, acl: str | None, passed_over: str | None) -> Intake:
    """The options as one value. Raises WrongUse."""
    if tenant is None and not public:
        raise WrongUse("got no tenant; allowed: --tenant NAME, or --public for documents that every tenant may read")
    groups = _listed(acl)
    if acl is not None and not groups:
        raise WrongUse("got an empty --acl; allowed: groups such as ops,hr, or no --acl for everyone of the tenant")
    try:
        return Intake(tenant=tenant or PUBLIC_TENANT, public=public, acl=groups, passed_over=_listed(passed_over))
    except ValidationError as error:
        if tenant == PUBLIC_TENANT:
            raise WrongUse(f"got --tenant {PUBLIC_TENANT}, which every tenant reads; say --public for that") from None
        said = error.errors()[0]["msg"]
        raise WrongUse(f"got --tenant {tenant!r} ({said}); allowed: a name without blanks") from None


def _refuse_unknown(tenant: str, settings: "Settings") -> None:
    """Raises WrongUse for a tenant nobody belongs to: what is read in for it nobody could find."""
    from graph.clock import SystemClock
    from graph.domain_loading import load_domain
    from graph.home import claim_home

    if tenant == PUBLIC_TENANT:
        return
    claim_home(settings.make_home(), settings.domain)
    domain = load_domain(settings.domain, settings.home / "domain", SystemClock())
    try:
        known = sorted({one.tenant for name in domain.principals() if (one := domain.principal(name))})
    finally:
        domain.close()
    if tenant not in known:
        allowed = ", ".join(known[:_NAMED]) + ", ..." * (len(known) > _NAMED)
        raise WrongUse(
            f"got --tenant {tenant!r}, to which no principal of the domain belongs; allowed: {allowed or 'none yet'}; "
            "correct the name, or say --new-tenant where its principals are still to come"
        )


def _listed(given: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in (given or "").split(",") if part.strip()))


def _options(intake: Intake) -> str:
    parts = ["--public"] if intake.public else []
    if not intake.public or intake.tenant != intake.default_tenant:
        parts.append(f"--tenant {quote(intake.tenant)}")
    if intake.acl:
        parts.append(f"--acl {quote(','.join(intake.acl))}")
    return " ".join(parts)


def _plain(path: Path, intake: Intake, report: "IngestReport", seconds: float) -> dict[str, Any]:
    return {
        "path": str(path),
        "tenant": intake.tenant,
        "public": intake.public,
        "acl": list(intake.acl),
        **{action: report.count(action) for action in _ACTIONS},
        "skipped": len(report.broken),
        "passed_over": report.other,
        "chunks": report.chunks,
        "seconds": round(seconds, 2),
        "documents": [one.model_dump(mode="json") for one in report.documents],
        "broken": [one.model_dump(mode="json") for one in report.broken],
    }


def _tell(screen: Screen, path: Path, intake: Intake, report: "IngestReport", seconds: float) -> None:
    for fault in report.broken:
        told = Text.assemble((one_line(fault.file), "bold"), f": {one_line(fault.reason)}")
        screen.out.print(Hanging(told, "skipped  ", indent=0, style="yellow"))
    who = "everybody" if intake.public else intake.tenant
    readers = f", for {', '.join(intake.acl)} only" if intake.acl else ""
    counts = ", ".join(f"{report.count(action)} {action}" for action in _ACTIONS if report.count(action))
    rate = f", {report.chunks / seconds:.0f} a second" if report.chunks > seconds else ""
    parts = [
        f"{one_line(path.name or str(path))} for {one_line(who)}{one_line(readers)}: {counts or 'nothing to read'}",
        f"{plural(report.chunks, 'chunk')} in {seconds:.1f} s{rate}",
    ]
    parts += [f"{plural(len(report.broken), 'file')} skipped"] * bool(report.broken)
    parts += [f"{plural(report.other, 'file')} of another kind passed over"] * bool(report.other)
    screen.out.print(Hanging("; ".join(parts), indent=0))
