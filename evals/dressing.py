"""The domain as a case finds it: its own, with the documents, memories, terms and hostile texts that the case lays."""

import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from pydantic import ValidationError

from evals.case import Case
from evals.fixture import Injected, Remembered, Vector
from evals.observed import Watch, watched
from graph.domain_check import DomainBroken, check_domain
from graph.skills import with_skills
from state.contract import ToolContract
from state.domain import Domain
from state.memory import MemoryRecord, MemorySource
from state.run import Principal
from state.tools import Tool


class StageWrong(ValueError):
    """A case that cannot be put on stage: it names something that is not there."""


def dressed(domain: Domain, case: Case, home: Path, watch: Watch, roles: Mapping[str, tuple[str, ...]]) -> Domain:
    """The domain with what a case lays under it; its people have the `roles` given, as they are when asked.

    Raises StageWrong for a case that names what the domain has not.
    """
    principal = domain.principal(case.actor.principal)
    if principal is None:
        raise StageWrong(
            f"{case.name}: actor: got {case.actor.principal!r}; the domain has {', '.join(domain.principals())}"
        )
    held = {fact.name: fact.value for fact in principal.facts}
    for name, value in case.actor.facts.items():
        if held.get(name) != value:
            raise StageWrong(f"{case.name}: actor.{name}: got {value!r}; the domain holds {held.get(name)!r}")
    known = {tool.contract.name for tool in domain.tools}
    named = {*case.required_tools, *case.forbidden_tools, *case.observed, *case.at_most, *case.outcomes}
    named |= {*case.fixture.forgetful, *case.fixture.terms}
    named |= {one.tool for one in (*case.effects, *case.never)} | {look.tool for look in case.final_state}
    if unknown := sorted(named - known):
        raise StageWrong(f"{case.name}: got the tools {', '.join(unknown)}; the domain has {', '.join(sorted(known))}")
    policies = [policy.model_copy(update={"values": policy.values | case.fixture.policy}) for policy in domain.policies]
    made = replace(
        domain,
        principal=_directory(domain, roles),
        corpus=_corpus(domain.corpus, case, home),
        policies=tuple(policies),
        tools=tuple(watched(_on_terms(tool, case), watch, case.fixture) for tool in domain.tools),
        memories=(*domain.memories, *_memories(case, principal.tenant, _purpose(domain))),
        close=lambda: None,
    )
    try:
        check_domain(made)
    except DomainBroken as broken:
        raise StageWrong(f"{case.name}: {broken}") from None
    return made


def with_laid_skills(domain: Domain, case: Case, home: Path) -> Domain:
    """The domain with the files of skills that the case lays over its own. Raises StageWrong, LockUnusable."""
    if not case.fixture.skills:
        return with_skills(domain)
    laid = home / "skills"
    if domain.skills is not None:
        shutil.copytree(domain.skills, laid)
    for name, text in case.fixture.skills.items():
        _write_below(laid, name, text, f"{case.name}: fixture.skills")
    return with_skills(replace(domain, skills=laid))


def _directory(domain: Domain, roles: Mapping[str, tuple[str, ...]]) -> Callable[[str], Principal | None]:
    """The domain's people, with the roles that a case gives them."""

    def find(name: str) -> Principal | None:
        found = domain.principal(name)
        return found if found is None or name not in roles else found.model_copy(update={"roles": roles[name]})

    return find


def _on_terms(tool: Tool, case: Case) -> Tool:
    """The tool on the terms that the case gives it."""
    name = tool.contract.name
    if not (terms := case.fixture.terms.get(name)):
        return tool
    try:
        return replace(tool, contract=ToolContract.model_validate({**tool.contract.model_dump(), **terms}))
    except ValidationError as wrong:
        faults = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in wrong.errors())
        raise StageWrong(f"{case.name}: fixture.terms.{name}: {faults}") from None


def _purpose(domain: Domain) -> str:
    """The purpose for which the domain's first decision with memory loads it."""
    return next((spec.memory_purpose for spec in domain.table.specs if spec.memory_limit), "none")


def _memories(case: Case, tenant: str, purpose: str) -> Iterator[MemoryRecord]:
    # What a model inferred is the least that a hostile memory can be; it is still shown, as a hypothesis.
    hostile = (
        Remembered(subject=each.into, text=each.text, purpose=purpose, source=MemorySource.MODEL_INFERRED, days_old=1)
        for each in case.fixture.injected
        if each.vector is Vector.MEMORY
    )
    for number, one in enumerate((*case.fixture.memories, *hostile)):
        yield MemoryRecord.model_validate(
            {
                "memory_id": f"mem-case-{number}",
                "subject": one.subject,
                "tenant": tenant,
                "purpose": one.purpose,
                "about": one.about,
                "text": one.text,
                "source": one.source,
                "source_ref": "case://fixture",
                "basis": "case",
                "created_at": case.clock - timedelta(days=one.days_old),
                "expires_at": case.clock + timedelta(days=one.days_left),
            }
        )


def _corpus(corpus: Path, case: Case, home: Path) -> Path:
    """The domain's corpus, copied where the case adds to it."""
    hostile = [each for each in case.fixture.injected if each.vector in (Vector.DOCUMENT, Vector.METADATA)]
    if not hostile and not case.fixture.documents:
        return corpus
    copied = home / "corpus"
    shutil.copytree(corpus, copied)
    for name, text in case.fixture.documents.items():
        _write_below(copied, name, text, f"{case.name}: fixture.documents")
    for each in hostile:
        _inject(copied, each, case)
    return copied


def _write_below(folder: Path, name: str, text: str, where: str) -> None:
    place = folder / name
    if not place.resolve().is_relative_to(folder.resolve()):
        raise StageWrong(f"{where}: got {name!r}; allowed: a path inside the {folder.name}")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


def _inject(corpus: Path, injected: Injected, case: Case) -> None:
    """Write a hostile text into a document version's file: below a section's heading, or as part of that heading."""
    document, _, slug = injected.into.partition("#")
    identifier, _, version = document.partition("@")
    for page in sorted(corpus.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if f"\nid: {identifier}\n" not in text or f"\nversion: {version}\n" not in text:
            continue
        for heading in re.finditer(r"^#+ +(.+)$", text, re.MULTILINE):
            if _slug(heading[1]) == slug:
                added = f"\n\n{injected.text}" if injected.vector is Vector.DOCUMENT else f": {injected.text}"
                page.write_text(text[: heading.end()] + added + text[heading.end() :], encoding="utf-8")
                return
    raise StageWrong(f"{case.name}: fixture.injected: got into={injected.into!r}, and no document has that section")


def _slug(heading: str) -> str:
    return re.sub(r"[^\w]+", "-", heading.casefold()).strip("-")
