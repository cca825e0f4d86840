"""The support agent's tools: six that read and six that change something."""

from collections.abc import Sequence

from domain.database import Database
from domain.tools.accounts import account_tools
from domain.tools.credits import credit_tools
from domain.tools.deletion import deletion_tools
from domain.tools.incidents import incident_tools
from domain.tools.keys import key_tools
from domain.tools.notes import note_tools
from domain.tools.remembering import remembering_tools
from domain.tools.rotation import rotation_tools
from domain.tools.tickets import ticket_tools
from state.tools import Tool


def tools(database: Database) -> Sequence[Tool]:
    """Every tool, working on one database."""
    return (
        *key_tools(database),
        *incident_tools(database),
        *account_tools(database),
        *ticket_tools(database),
        *rotation_tools(database),
        *deletion_tools(database),
        *note_tools(database),
        *credit_tools(database),
        *remembering_tools(),
    )
