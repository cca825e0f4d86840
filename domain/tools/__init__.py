"""The support agent's tools: three that read and one that changes something."""

from collections.abc import Sequence

from domain.database import Database
from domain.tools.accounts import account_tools
from domain.tools.incidents import incident_tools
from domain.tools.keys import key_tools
from domain.tools.rotation import rotation_tools
from state.tools import Tool


def tools(database: Database) -> Sequence[Tool]:
    """Every tool, working on one database."""
    return (
        *key_tools(database),
        *incident_tools(database),
        *account_tools(database),
        *rotation_tools(database),
    )
