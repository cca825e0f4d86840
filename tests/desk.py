"""A tiny domain for tests: an order desk of two tenants, its contracts, limits, roles and people."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import Field

from state.contract import Effect, Limit, OutputField
from state.domain import Holds, Owns
from state.policy import Policy
from state.run import Principal, Scope
from state.tools import Tool, ToolContext, ToolError, tool

AGENT = Principal(name="mia@t1", tenant="t1", roles=("agent",), groups=("desk",), subjects=("mia@t1",))
LEAD = Principal(name="leo@t1", tenant="t1", roles=("lead",))
SCOPE = Scope(principal=AGENT, actor=AGENT, thread="T")

POLICY = Policy(
    version="desk-1",
    effective_from=datetime(2026, 1, 1, tzinfo=UTC),
    approver_roles=("lead",),
    values={"refund_limit": 200},
)

ROWS: dict[str, dict[str, tuple[str, ...]]] = {
    "t1": {"order": ("A1", "A2"), "invoice": ("INV-9",)},
    "t2": {"order": ("B7",), "invoice": ("INV-t2-1",)},
}


def _fields(*own: str, foreign: tuple[str, ...] = ()) -> tuple[OutputField, ...]:
    return (*(OutputField(name=name, trust="system") for name in own), *(OutputField(name=name) for name in foreign))


class Desk:
    """The desk's backend. `effects` has one row for each thing done, `read` one for each row looked at."""

    def __init__(self) -> None:
        self.effects: list[tuple[str, ...]] = []
        self.read: list[tuple[str, str]] = []
        made = (*_reading(self), *_writing(self))
        self.tools = {each.contract.name: each for each in made}
        self.contracts = {name: each.contract for name, each in self.tools.items()}
        self.open = True  # whether the desk does anything today: a precondition that a contract may require
        self.preconditions: dict[str, Holds] = {"desk_open": lambda scope, arguments, now: self.open}
        self.resources = {kind: self._owns(kind) for kind in ("order", "invoice")}

    def _owns(self, kind: str) -> Owns:
        def owns(scope: Scope, resource_id: str) -> bool:
            return resource_id in ROWS[scope.tenant][kind]

        return owns

    def replace(self, name: str, run: Callable[..., Any], **contract: Any) -> None:
        """Another function behind a tool, with a changed contract."""
        changed = self.contracts[name].model_copy(update=contract)
        self.tools[name] = Tool(changed, run)
        self.contracts[name] = changed


def _reading(desk: Desk) -> tuple[Tool, ...]:
    @tool(
        effect=Effect.READ,
        roles=("agent", "lead"),
        output=_fields("invoice", "total", foreign=("memo",)),
        resources={"id": "invoice"},
    )
    def get_invoice(context: ToolContext, *, id: str) -> dict[str, Any]:
        """Get an invoice of this tenant."""
        desk.read.append((context.scope.tenant, id))
        return {"invoice": id, "total": 40, "memo": "thanks", "internal_note": "margin 80 %"}

    @tool(effect=Effect.READ, roles=("agent",), output=_fields("order", "state"), resources={"order": "order"})
    def lookup(context: ToolContext, *, order: str) -> list[Mapping[str, Any]]:
        """Look an order's shipments up."""
        desk.read.append((context.scope.tenant, order))
        return [{"order": order, "state": "shipped"}]

    return get_invoice, lookup


def _writing(desk: Desk) -> tuple[Tool, ...]:
    @tool(
        effect=Effect.WRITE,
        roles=("agent",),
        output=_fields("order", "amount"),
        resources={"order": "order"},
        limits=(Limit(parameter="amount", policy_key="refund_limit"),),
    )
    def refund(context: ToolContext, *, order: str, amount: Annotated[float, Field(gt=0)]) -> dict[str, Any]:
        """Refund part of an order."""
        desk.effects.append(("refund", order, str(amount)))
        return {"order": order, "amount": amount}

    @tool(effect=Effect.WRITE, roles=("agent",), output=_fields("vendor"), confirm=True)
    def pay(context: ToolContext, *, vendor: str, amount: int) -> dict[str, Any]:
        """Pay a vendor."""
        if vendor == "closed":
            raise ToolError("vendor_closed", "the vendor of t2 was closed")
        desk.effects.append(("pay", vendor, str(amount)))
        return {"vendor": vendor}

    @tool(effect=Effect.EGRESS, roles=("agent",), output=_fields("sent"), resources={"order": "order"})
    def send_note(context: ToolContext, *, order: str, text: str) -> dict[str, Any]:
        """Send a note about an order to a carrier."""
        desk.effects.append(("send_note", order, text))
        return {"sent": True}

    @tool(effect=Effect.WRITE, roles=(), output=_fields("done"))
    def wipe(context: ToolContext) -> dict[str, Any]:
        """Delete everything; nobody may."""
        desk.effects.append(("wipe",))
        return {"done": True}

    return refund, pay, send_note, wipe
