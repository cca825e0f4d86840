"""Fork here: the support agent's policy, instructions, tools and corpus.

`load` is all that the engine asks for; everything behind it may be replaced.
"""

from datetime import datetime
from pathlib import Path

from domain.database import open_database, seeded_at
from domain.decisions import TABLE
from domain.events import events
from domain.examples import EXAMPLES
from domain.instructions import sections
from domain.memories import memories
from domain.ownership import resources
from domain.policy import POLICIES
from domain.principals import Principals
from domain.tools import tools
from state.domain import Domain

__all__ = ["load"]

CORPUS = Path(__file__).parent / "corpus"
SKILLS = Path(__file__).parent / "skills"
LOCK = Path(__file__).parent / "lock.json"


def load(folder: Path, now: datetime) -> Domain:
    """The support agent, its database in `folder`, created and seeded relative to `now` on first use.

    Raises DomainUnavailable where the database cannot be used, ValueError for a naive `now`.
    """
    database = open_database(folder, now)
    principals = Principals(database)
    return Domain(
        name="support",
        principals=principals.names,
        principal=principals.find,
        instructions=sections(),
        examples=EXAMPLES,
        table=TABLE,
        policies=POLICIES,
        tools=tools(database),
        corpus=CORPUS,
        resources=resources(database),
        memories=memories(seeded_at(database)),
        check_writable=database.check_writable,
        close=database.close,
        events=events(database),
        skills=SKILLS,
        lock=LOCK,
    )
