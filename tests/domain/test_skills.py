"""The shipped skills: pinned as they are, clean, true to their own terms, and the script's figures by hand."""

import json
import re
import runpy
from decimal import Decimal
from pathlib import Path

import pytest

from graph.lock_file import read_lock
from retrieval.skill_folder import read_skills
from state.checks.skill_signs import skill_signs
from state.domain import Domain
from state.lock import Standing
from state.skill import SKILL_TOOLS, Skill

CREDIT = "scripts/credit.py"


@pytest.fixture(name="skills")
def shipped(support: Domain) -> dict[str, Skill]:
    assert support.skills is not None
    found = read_skills(support.skills)
    assert found.faults == ()
    return {skill.name: skill for skill in found.skills}


def test_they_are_pinned_as_they_are(support: Domain, skills: dict[str, Skill]) -> None:
    """Fails after a change of any file: `agent skills review NAME`, then `agent skills lock`."""
    lock = read_lock(support.lock)
    assert {name: lock.skill(name, skill.digests) for name, skill in skills.items()} == dict.fromkeys(
        ("outage-credit", "weekly-page"), Standing.PINNED
    )
    assert lock.skills.keys() == skills.keys()


def test_the_scanner_sees_nothing_in_them(support: Domain, skills: dict[str, Skill]) -> None:
    tools = {tool.contract.name for tool in support.tools} | {*SKILL_TOOLS}
    assert [seen for skill in skills.values() for seen in skill_signs(skill, tools)] == []


def test_what_a_body_names_is_there(support: Domain, skills: dict[str, Skill]) -> None:
    tools = {tool.contract.name for tool in support.tools} | {*SKILL_TOOLS}
    for skill in skills.values():
        assert {*skill.allowed_tools} <= tools
        assert {*re.findall(r"`((?:references|scripts)/[^` ]+)`", skill.body)} == skill.files.keys() - {"SKILL.md"}


@pytest.mark.parametrize(
    ("plan", "fee", "hours", "due", "amount"),
    [
        ("pro", "49", "6", True, 5),  # 49 / 720 * 10 * 6 = 4.08
        ("starter", "720", "2", True, 10),
        ("enterprise", "7200", "1.5", True, 300),
        ("pro", "49", "1", False, 0),
        ("pro", "49", "0", False, 0),
        ("pro", "49", "700", True, 49),  # never more than the monthly fee
        ("pro", "0.5", "700", False, 0),
        ("pro", "0", "700", False, 0),
    ],
)
def test_the_credit_follows_the_terms(plan: str, fee: str, hours: str, due: bool, amount: int, support: Domain) -> None:
    assert support.skills is not None
    credit = runpy.run_path(str(support.skills / "outage-credit" / CREDIT))["credit"]
    told = json.loads(json.dumps(credit(plan, Decimal(fee), Decimal(hours))))
    assert (told["due"], told["amount"]) == (due, amount)


def test_the_rates_of_the_terms_are_those_of_the_script(support: Domain, skills: dict[str, Skill]) -> None:
    assert support.skills is not None
    rates = runpy.run_path(str(Path(support.skills) / "outage-credit" / CREDIT))["TIMES_THE_HOUR"]
    terms = skills["outage-credit"].files["references/terms.md"].decode()
    assert dict(re.findall(r"\| (\w+) \| (\d+) \|", terms)) == {plan: str(times) for plan, times in rates.items()}
