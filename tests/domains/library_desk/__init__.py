"""A second domain: the desk of a lending library, on the same engine by one setting (EXPEDIENTE_DOMAIN).

Two tools, five documents, two libraries that must not see each other, and a librarian who confirms.
"""

from datetime import datetime
from pathlib import Path

from state.domain import Domain, Section
from state.run import Fact, Principal
from tests.domains.library_desk.decisions import TABLE
from tests.domains.library_desk.loans import Loans
from tests.domains.library_desk.rules import POLICIES, READER, STAFF
from tests.domains.library_desk.tools import tools

__all__ = ["load"]

INSTRUCTIONS = (
    Section(name="role", version="1", text="You are the desk of a lending library. You help one reader with loans."),
    Section(name="output", version="1", text="Support each claim with its source. Take every id from the request."),
)


def load(folder: Path, now: datetime) -> Domain:
    """The library desk, its loans in `folder`."""
    loans = Loans(folder / "loans.sqlite", now)
    people = {
        person.name: person
        for person in (
            _reader("maya@northside", loans),
            _staff("otto@northside"),
            _reader("reed@riverside", loans),
            _staff("vera@riverside"),
        )
    }
    return Domain(
        name="library desk",
        principals=lambda: tuple(people),
        principal=people.get,
        instructions=INSTRUCTIONS,
        examples=(),
        table=TABLE,
        policies=POLICIES,
        tools=tools(loans),
        corpus=Path(__file__).parent / "corpus",
        resources={"loan": lambda scope, loan_id: loans.find(scope.tenant, loan_id) is not None},
    )


def _reader(name: str, loans: Loans) -> Principal:
    tenant = name.partition("@")[2]
    borrowed = loans.of(name)
    facts = tuple(Fact(name="loan_id", value=loan_id, source=f"loan://{loan_id}") for loan_id in borrowed)
    return Principal(name=name, tenant=tenant, roles=(READER,), groups=("readers",), subjects=(name,), facts=facts)


def _staff(name: str) -> Principal:
    return Principal(name=name, tenant=name.partition("@")[2], roles=(STAFF,), groups=("readers", "staff"))
