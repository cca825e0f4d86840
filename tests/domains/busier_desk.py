"""The shipped support agent with tools that somebody added: reads beside its reads, and changes of their own."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import domain as shipped
from domain.ownership import EVERY_ROLE
from state.contract import Effect, OutputField
from state.domain import Domain
from state.tools import Tool, ToolContext, tool
from state.work import DecisionKind, DecisionSpec, Form

_ID = OutputField(name="account_id", trust="system")
_STATUS = OutputField(name="status", trust="system")


@tool(effect=Effect.READ, roles=EVERY_ROLE, resources={"account_id": "account"}, output=(_ID, _STATUS))
def get_invoice(context: ToolContext, *, account_id: str) -> dict[str, Any]:
    """Get the last invoice of an account: its amount, and whether it was paid."""
    return {"account_id": account_id, "status": "paid"}


@tool(effect=Effect.READ, roles=EVERY_ROLE, output=(_STATUS,))
def search_webhooks(context: ToolContext) -> dict[str, Any]:
    """Search the endpoints of the organisation that were paused."""
    return {"status": "none"}


@tool(effect=Effect.WRITE, roles=EVERY_ROLE, confirm=True, resources={"ticket_id": "ticket"}, output=(_STATUS,))
def close_ticket(context: ToolContext, *, ticket_id: str) -> dict[str, Any]:
    """Close a support ticket that is done."""
    return {"status": "closed"}


@tool(effect=Effect.WRITE, roles=EVERY_ROLE, confirm=True, resources={"key_id": "api_key"}, output=(_STATUS,))
def pause_api_key(context: ToolContext, *, key_id: str) -> dict[str, Any]:
    """Pause an API key until its owner wants it back."""
    return {"status": "paused"}


@tool(effect=Effect.WRITE, roles=EVERY_ROLE, resources={"account_id": "account"}, output=(_STATUS,))
def send_invoice(context: ToolContext, *, account_id: str, to: str) -> dict[str, Any]:
    """Send the last invoice of an account to an address."""
    return {"status": "sent"}


READS: tuple[Tool, ...] = (get_invoice, search_webhooks)
CHANGES: tuple[Tool, ...] = (close_ticket, pause_api_key, send_invoice)


def load(folder: Path, now: datetime) -> Domain:
    """The shipped domain, with each new read in every decision that reads and a decision for each new change."""
    desk = shipped.load(folder, now)
    reads = tuple(read.contract.name for read in READS)
    specs = tuple(
        spec.model_copy(update={"tools": (*spec.tools, *reads)}) if spec.kind is DecisionKind.GATHER else spec
        for spec in desk.table.specs
    )
    like = next(spec for spec in specs if spec.kind is DecisionKind.ACT)
    acts = tuple(_act(like, change.contract.name) for change in CHANGES)
    table = desk.table.model_copy(update={"specs": (*specs, *acts)})
    return replace(desk, tools=(*desk.tools, *READS, *CHANGES), table=table)


def _act(like: DecisionSpec, tool: str) -> DecisionSpec:
    changed = {"toolset": tool, "tools": (tool,), "forms": (Form.CLARIFY, Form.ESCALATE)}
    return like.model_copy(update=changed)
