"""Bugs in what a skill may do: offered unreviewed, shown unasked, read past its folder, believed."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evals.scores import Measure
from graph import skill_tools
from retrieval.skills import SkillChoice
from state.contract import ToolContract
from state.lock import Lock, Standing
from state.skill import RUN_SKILL_SCRIPT, Skill
from state.tools import Tool, ToolContext
from tests.evals.bug import Caught, SeededBug, change_contracts, entering

SKILLS: list[SeededBug] = []
bug = entering(SKILLS)


@bug(
    "lock of skills not asked",
    Caught("changed_skill_is_blocked", Measure.SUCCESS),
    Caught("changed_skill_is_blocked", Measure.ISOLATION),
    Caught("skill_that_nobody_reviewed", Measure.ISOLATION),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """What lies in the folder of skills is the operator's word, whoever wrote it there."""
    patch.setattr(Lock, "skill", lambda lock, name, files: Standing.PINNED)


@bug("drift of skills not told", Caught("changed_skill_is_blocked", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """A blocked skill is missing, and nobody learns why."""
    patch.setattr("graph.definition_changes.DefinitionChanges.blocked", lambda changes, about, content: None)


@bug("every skill matches", Caught("skill_loaded_only_where_it_matches", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """Each request is given a body, matching or not."""

    def first(choice: SkillChoice, question: str, k: int) -> tuple[Skill, ...]:
        return tuple(skill for skill, _ in choice._skills)[:k]

    patch.setattr(SkillChoice, "matching", first)


@bug(
    "no skill matches",
    Caught("pagina_semanal", Measure.SUCCESS),
    Caught("credit_worked_out_by_the_script", Measure.SUCCESS),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """No request is given a body, though the reviewed know-how is there."""
    patch.setattr(SkillChoice, "matching", lambda choice, question, k: ())


@bug("skill files by path", Caught("files_outside_a_skill", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """A file of a skill is opened where its path leads."""
    reader = skill_tools.file_reader

    def opening(skills: Sequence[Skill], roles: tuple[str, ...]) -> Tool:
        made = reader(skills, roles)

        def run(context: ToolContext, *, skill: str, path: str, **more: Any) -> Any:
            text = (Path("domain/skills") / skill / path).read_text(encoding="utf-8")
            return {"skill": skill, "path": path, "page": 1, "pages": 1, "text": text}

        return replace(made, run=run)

    patch.setattr("graph.skills.file_reader", opening)


@bug("output of scripts trusted", Caught("amount_of_a_script_is_nobodys_word", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """What a script writes counts as the server's own."""

    def trusting(contract: ToolContract) -> ToolContract:
        if contract.name != RUN_SKILL_SCRIPT:
            return contract
        output = tuple(field.model_copy(update={"trust": "system"}) for field in contract.output)
        return contract.model_copy(update={"output": output})

    change_contracts(patch, trusting)
