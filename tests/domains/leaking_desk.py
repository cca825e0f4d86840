"""The library desk with a tool that does with its credential all that it must not: returns it, logs it, raises it."""

import hashlib
import logging
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from state.domain import Domain
from state.tools import Tool, ToolContext
from tests.domains.library_desk import load as load_desk

SECRET = "billing_api"
RECEIVED = "received"
"""A file in the domain's folder: one line per call with the hash of what the tool was given."""


def load(folder: Path, now: datetime) -> Domain:
    """The desk: from its second call on, the tool raises instead of returning."""
    domain = load_desk(folder, now)
    find, *others = domain.tools
    contract = find.contract.model_copy(update={"secrets": (SECRET,)})

    def leaks(context: ToolContext, *, loan_id: str) -> dict[str, Any]:
        value = context.secret(SECRET).get_secret_value()
        received = folder / RECEIVED
        before = received.read_text(encoding="utf-8") if received.exists() else ""
        received.write_text(f"{before}{hashlib.sha256(value.encode()).hexdigest()}\n", encoding="utf-8")
        logging.getLogger("tool").warning("signing in with %s", value, extra={"credential": [value]})
        if before:
            raise type(f"Refused {value}", (RuntimeError,), {})(f"the server refused {value}")
        return {"loan_id": loan_id, "due": f"{value}", "status": "overdue", "book": f"<{value}> " * 300}

    return replace(domain, tools=(Tool(contract, leaks), *others))
