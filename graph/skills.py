"""A domain's skills as its lock lets them through: read once at opening, offered where the decision table says."""

from collections.abc import Callable, Collection
from dataclasses import replace

from graph.lock_file import read_lock
from graph.skill_tools import file_reader, script_runner
from nodes.execute.script import confinement_fault
from retrieval.skill_folder import read_skills
from state.domain import Domain
from state.lock import Lock, Standing
from state.skill import READ_SKILL_FILE, RUN_SKILL_SCRIPT, SKILL_TOOLS, Shelf
from state.tools import Tool

NotHeldBack = Callable[[], str | None]  # why no script can run here; None where one can


def with_skills(domain: Domain, not_held_back: NotHeldBack = confinement_fault) -> Domain:
    """The domain with what its folder of skills and its lock say, and the tools that read and run what is pinned.

    A tool that has nothing to read, or that nothing holds back here, stands in no decision. One that was read before is
    left as it is. Raises LockUnusable.
    """
    if domain.shelf is not None:
        return domain
    shelf = Shelf() if domain.skills is None else _shelf(domain, read_lock(domain.lock))
    roles = tuple(sorted({role for each in domain.tools for role in each.contract.roles}))
    named = {name for spec in domain.table.specs for name in spec.tools}
    made: list[Tool] = []
    if READ_SKILL_FILE in named and shelf.pinned:
        made.append(file_reader(shelf.pinned, roles))
    if RUN_SKILL_SCRIPT in named and any(skill.scripts for skill in shelf.pinned) and not_held_back() is None:
        made.append(script_runner(shelf.pinned, roles))
    return _offering(replace(domain, shelf=shelf, tools=(*domain.tools, *made)), {one.contract.name for one in made})


def without_skills(domain: Domain) -> Domain:
    """The domain as if it had none, for a comparison."""
    bare = replace(domain, shelf=Shelf(), tools=[one for one in domain.tools if one.contract.name not in SKILL_TOOLS])
    return _offering(bare, ())


def _shelf(domain: Domain, lock: Lock) -> Shelf:
    assert domain.skills is not None
    skills, faults = read_skills(domain.skills)
    standing = {skill.name: lock.skill(skill.name, skill.digests) for skill in skills}
    return Shelf(
        pinned=tuple(skill for skill in skills if standing[skill.name] is Standing.PINNED),
        unreviewed=tuple(skill for skill in skills if standing[skill.name] is Standing.UNREVIEWED),
        changed=tuple(skill for skill in skills if standing[skill.name] is Standing.CHANGED),
        missing=tuple(sorted(lock.skills.keys() - standing.keys())),
        faults=faults,
    )


def _offering(domain: Domain, made: Collection[str]) -> Domain:
    """The domain whose decisions name of the skill tools only those that were made."""
    gone = {name for name in SKILL_TOOLS if name not in made}
    specs = tuple(
        spec.model_copy(update={"tools": tuple(name for name in spec.tools if name not in gone)})
        for spec in domain.table.specs
    )
    return replace(domain, table=domain.table.model_copy(update={"specs": specs}))
