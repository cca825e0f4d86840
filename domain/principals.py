"""Who may use the agent, and the facts that the system of record holds about each: account, plan, open ticket."""

import sqlite3
from collections.abc import Sequence

from domain.database import Database
from domain.ownership import ADMIN, AGENT, CUSTOMER, STAFF, SUPERVISOR
from state.context import Trust
from state.run import Fact, Principal

# What each organisation has bought: runbooks of other products are not searched for its people.
PRODUCTS = {"acme": ("api",), "globex": ("api", "exports"), "maravel": ("api", "sdk")}
GROUPS = {
    CUSTOMER: ("customers",),
    ADMIN: ("customers", "admins"),
    AGENT: ("customers", "staff"),
    SUPERVISOR: ("customers", "staff", "supervisors"),
}


class Principals:
    """The domain's directory, read anew at each question. Raises DomainUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def names(self) -> Sequence[str]:
        """Every principal's name; the first is the one a development server starts as."""
        with self._database.read() as connection:
            return [row["name"] for row in connection.execute("SELECT name FROM people ORDER BY position")]

    def find(self, name: str) -> Principal | None:
        """The principal of that name with today's facts, or None."""
        with self._database.read() as connection:
            person = connection.execute("SELECT * FROM people WHERE name = ?", (name,)).fetchone()
            if person is None:
                return None
            return Principal(
                name=name,
                tenant=person["tenant"],
                roles=(person["role"],),
                groups=GROUPS[person["role"]],
                locale=person["locale"],
                products=PRODUCTS[person["tenant"]],
                subjects=(name, person["account_id"]) if person["account_id"] else (name,),
                facts=_facts(connection, person),
            )


def _facts(connection: sqlite3.Connection, person: sqlite3.Row) -> tuple[Fact, ...]:
    """What is on record about a person. Staff have neither an own account nor an own case: they name what they mean."""
    if person["role"] in STAFF:
        return ()
    return (
        *_account(connection, person),
        *(_key(connection, person) if person["role"] == ADMIN else ()),
        *_ticket(connection, person),
    )


def _account(connection: sqlite3.Connection, person: sqlite3.Row) -> tuple[Fact, ...]:
    row = connection.execute(
        "SELECT account_id, plan FROM accounts WHERE account_id = ? AND tenant = ?",
        (person["account_id"], person["tenant"]),
    ).fetchone()
    source = f"account://{row['account_id']}"
    return (
        Fact(name="account_id", value=row["account_id"], source=source),
        Fact(name="plan", value=row["plan"], source=source),
    )


def _key(connection: sqlite3.Connection, person: sqlite3.Row) -> tuple[Fact, ...]:
    """The key that "my key" means for an admin, who may change keys: a fact only where the account has one live key."""
    rows = connection.execute(
        "SELECT key_id FROM api_keys WHERE account_id = ? AND tenant = ? AND replaced_by IS NULL"
        " AND deleted_at IS NULL",
        (person["account_id"], person["tenant"]),
    ).fetchall()
    return tuple(Fact(name="key_id", value=row["key_id"], source=f"api_key://{row['key_id']}") for row in rows[:1]
                 if len(rows) == 1)  # fmt: skip


def _ticket(connection: sqlite3.Connection, person: sqlite3.Row) -> tuple[Fact, ...]:
    """The newest open ticket that the person wrote: the person's own words, and a good question for retrieval."""
    row = connection.execute(
        "SELECT ticket_id, objective, tried FROM tickets WHERE opened_by = ? AND tenant = ? AND status = 'open'"
        " ORDER BY opened_at DESC, ticket_id LIMIT 1",
        (person["name"], person["tenant"]),
    ).fetchone()
    if row is None:
        return ()
    text = f"Objective: {row['objective']} Tried: {row['tried']}"
    return (Fact(name="ticket", value=text, source=f"ticket://{row['ticket_id']}", trust=Trust.USER, seeks=True),)
