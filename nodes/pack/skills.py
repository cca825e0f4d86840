"""Skills in a request (S9): all by name in the prefix where their files can be read, the bodies of those that match it
behind the examples.

Both are the operator's, since only what a person reviewed and pinned comes here (X6).
"""

from collections.abc import Iterable

from nodes.pack.drafts import Draft, Drafts
from nodes.pack.utility import left_out
from retrieval.skills import SkillChoice
from state.context import Dropped, DropReason, Kind, Trust
from state.render import SKILL
from state.skill import Skill
from state.work import Decision

_BODY_SHARE = 0.25  # of a request's budget: a longer body is read through its tool, page by page


def skill_names(drafts: Drafts, skills: Iterable[Skill]) -> list[Draft]:
    """Name and description of every skill, sorted by name."""
    return [
        drafts.text(
            skill.name,
            Kind.INSTRUCTION,
            f"{SKILL}://{skill.name}",
            Trust.POLICY,
            skill.description,
            version=skill.version,
        )
        for skill in sorted(skills, key=lambda skill: skill.name)
    ]


def skill_bodies(
    drafts: Drafts, decision: Decision, choice: SkillChoice, question: str, budget_tokens: int
) -> tuple[list[Draft], tuple[Dropped, ...]]:
    """The bodies of the skills that match, counted; those too long for a request are left out by name."""
    matching = choice.matching(question, decision.skills_limit)
    made = drafts.counted([_body(drafts, skill) for skill in matching])
    fits = [draft.item.token_count <= budget_tokens * _BODY_SHARE for draft in made]
    dropped = [left_out(one.item, DropReason.OVER_SHARE) for one, fit in zip(made, fits, strict=True) if not fit]
    return [draft for draft, fit in zip(made, fits, strict=True) if fit], tuple(dropped)


def _body(drafts: Drafts, skill: Skill) -> Draft:
    item_id, source = f"{skill.name}-body", f"skill_body://{skill.name}"
    return drafts.text(item_id, Kind.INSTRUCTION, source, Trust.POLICY, skill.body, version=skill.version)
