"""The desk's tools that change the tables. Each asks the customer first; the policy is their preconditions."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any, Literal

from evals.retail.policy import price_difference
from evals.retail.reading import ROLE, fields
from evals.retail.store import ADDRESS, Store
from state.contract import Effect
from state.labels import Argument, Opens
from state.tools import Terms, Tool, ToolContext, tool

_OBJECT, _TARGET = Argument(role="object"), Argument(role="target")
_TO = dict.fromkeys(ADDRESS, _OBJECT)
_NEW_ITEMS = (
    "items_are_in_the_order",
    "new_items_are_of_the_same_product",
    "payment_method_is_the_customers",
    "gift_card_covers_the_difference",
)
Reason = Literal["no longer needed", "ordered by mistake"]


def _terms(stems: Sequence[str], requires: Sequence[str], **arguments: Argument) -> Terms:
    """What the desk's changes have in common: the customer confirms each, and the words that open it."""
    return Terms(
        resources={"order_id": "order"},
        requires=tuple(requires),
        arguments=arguments,
        opens_when=Opens(stems=(tuple(stems),)),
        confirm=True,
        reversible=False,
    )


def changing_tools(store: Store) -> tuple[Tool, ...]:
    """The writes on one store."""
    return (*_of_pending(store), *_of_delivered(store), *_of_customer(store))


def _of_pending(store: Store) -> tuple[Tool, ...]:
    pending = "order_is_pending"
    output = fields("order_id", "status")

    @tool(effect=Effect.WRITE, roles=(ROLE,), output=output, **_terms(("cancel",), (pending,)))
    def cancel_pending_order(context: ToolContext, *, order_id: str, reason: Reason) -> dict[str, Any]:
        """Cancel a pending order and refund it."""
        with store.open() as connection:
            for paid in _paid(connection, order_id):
                _pay(connection, order_id, "refund", paid["amount"], paid["payment_method_id"])
            given = ("cancelled", reason, order_id)
            connection.execute("UPDATE orders SET status = ?, cancel_reason = ? WHERE order_id = ?", given)
        return {"order_id": order_id, "status": "cancelled"}

    @tool(
        effect=Effect.WRITE,
        roles=(ROLE,),
        output=output,
        **_terms(("chang", "modif", "updat", "address", "ship"), (pending,), **_TO),
    )
    def modify_pending_order_address(
        context: ToolContext,
        *,
        order_id: str,
        address1: str,
        address2: str,
        city: str,
        state: str,
        country: str,
        zip: str,
    ) -> dict[str, Any]:
        """Change the shipping address of a pending order."""
        with store.open() as connection:
            _move(connection, "orders", "order_id", order_id, (address1, address2, city, state, country, zip))
        return {"order_id": order_id, "status": "pending"}

    @tool(
        effect=Effect.WRITE,
        roles=(ROLE,),
        output=output,
        **_terms(
            ("pay", "chang", "modif"),
            (
                pending,
                "payment_method_is_the_customers",
                "payment_method_is_another_one",
                "gift_card_covers_the_total",
            ),
            payment_method_id=_TARGET,
        ),
    )
    def modify_pending_order_payment(context: ToolContext, *, order_id: str, payment_method_id: str) -> dict[str, Any]:
        """Pay a pending order by another method; the first one is refunded."""
        with store.open() as connection:
            (paid,) = _paid(connection, order_id)
            _pay(connection, order_id, "payment", paid["amount"], payment_method_id)
            _pay(connection, order_id, "refund", paid["amount"], paid["payment_method_id"])
        return {"order_id": order_id, "status": "pending"}

    @tool(
        effect=Effect.WRITE,
        roles=(ROLE,),
        output=output,
        **_terms(
            ("chang", "modif", "exchang", "switch", "replac"),
            (pending, *_NEW_ITEMS),
            item_ids=_OBJECT,
            new_item_ids=_OBJECT,
            payment_method_id=_TARGET,
        ),
    )
    def modify_pending_order_items(
        context: ToolContext,
        *,
        order_id: str,
        item_ids: list[str],
        new_item_ids: list[str],
        payment_method_id: str,
    ) -> dict[str, Any]:
        """Change items of a pending order to other variants of the same products. Once."""
        with store.open() as connection:
            given = {"order_id": order_id, "item_ids": item_ids, "new_item_ids": new_item_ids}
            more = price_difference(connection, given)
            kind = "payment" if more > 0 else "refund"
            _pay(connection, order_id, kind, abs(more), payment_method_id)
            for old, new in zip(item_ids, new_item_ids, strict=True):
                _replace(connection, order_id, old, new)
            _set_status(connection, order_id, "pending (items modified)")
        return {"order_id": order_id, "status": "pending (items modified)"}

    return (
        cancel_pending_order,
        modify_pending_order_address,
        modify_pending_order_payment,
        modify_pending_order_items,
    )


def _of_delivered(store: Store) -> tuple[Tool, ...]:
    delivered = "order_is_delivered"
    output = fields("order_id", "status")

    @tool(
        effect=Effect.WRITE,
        roles=(ROLE,),
        output=output,
        **_terms(
            ("return", "refund"),
            (
                delivered,
                "items_are_in_the_order",
                "payment_method_is_the_customers",
                "refund_goes_back_or_to_a_gift_card",
            ),
            item_ids=_OBJECT,
            payment_method_id=_TARGET,
        ),
    )
    def return_delivered_order_items(
        context: ToolContext, *, order_id: str, item_ids: list[str], payment_method_id: str
    ) -> dict[str, Any]:
        """Take items of a delivered order back."""
        row = (order_id, "return", json.dumps(sorted(item_ids)), None, payment_method_id, None)
        with store.open() as connection:
            connection.execute("INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?)", row)
            _set_status(connection, order_id, "return requested")
        return {"order_id": order_id, "status": "return requested"}

    @tool(
        effect=Effect.WRITE,
        roles=(ROLE,),
        output=output,
        **_terms(
            ("exchang", "chang", "swap", "replac"),
            (delivered, *_NEW_ITEMS),
            item_ids=_OBJECT,
            new_item_ids=_OBJECT,
            payment_method_id=_TARGET,
        ),
    )
    def exchange_delivered_order_items(
        context: ToolContext,
        *,
        order_id: str,
        item_ids: list[str],
        new_item_ids: list[str],
        payment_method_id: str,
    ) -> dict[str, Any]:
        """Exchange items of a delivered order for other variants of the same products. Once."""
        with store.open() as connection:
            given = {"order_id": order_id, "item_ids": item_ids, "new_item_ids": new_item_ids}
            more = price_difference(connection, given)
            items = (json.dumps(sorted(item_ids)), json.dumps(sorted(new_item_ids)))
            row = (order_id, "exchange", *items, payment_method_id, more)
            connection.execute("INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?)", row)
            _set_status(connection, order_id, "exchange requested")
        return {"order_id": order_id, "status": "exchange requested"}

    return return_delivered_order_items, exchange_delivered_order_items


def _of_customer(store: Store) -> tuple[Tool, ...]:
    @tool(
        effect=Effect.WRITE,
        roles=(ROLE,),
        output=fields("user_id"),
        resources={"user_id": "user"},
        arguments=_TO,
        opens_when=Opens(stems=(("address", "mov", "chang", "modif", "updat"),)),
        confirm=True,
    )
    def modify_user_address(
        context: ToolContext,
        *,
        user_id: str,
        address1: str,
        address2: str,
        city: str,
        state: str,
        country: str,
        zip: str,
    ) -> dict[str, Any]:
        """Change the customer's default address."""
        with store.open() as connection:
            _move(connection, "users", "user_id", user_id, (address1, address2, city, state, country, zip))
        return {"user_id": user_id}

    @tool(
        effect=Effect.WRITE,
        roles=(ROLE,),
        output=fields("status"),
        opens_when=Opens(stems=(("human", "transfer", "agent", "person"),)),
        confirm=True,
    )
    def transfer_to_human_agents(context: ToolContext, *, summary: str) -> dict[str, Any]:
        """Hand the customer over to a person, with a summary."""
        return {"status": "transferred"}

    return modify_user_address, transfer_to_human_agents


def _move(connection: sqlite3.Connection, table: str, key: str, value: str, address: tuple[str, ...]) -> None:
    named = ", ".join(f"{name} = ?" for name in ADDRESS)
    connection.execute(f"UPDATE {table} SET {named} WHERE {key} = ?", (*address, value))  # noqa: S608 - both names are constants


def _paid(connection: sqlite3.Connection, order_id: str) -> list[sqlite3.Row]:
    given = (order_id,)
    return connection.execute("SELECT * FROM payments WHERE order_id = ? ORDER BY position", given).fetchall()


def _pay(connection: sqlite3.Connection, order_id: str, kind: str, amount: float, method: str) -> None:
    """One more payment or refund of an order; a gift card's balance follows at once."""
    place = len(_paid(connection, order_id))
    connection.execute("INSERT INTO payments VALUES (?, ?, ?, ?, ?)", (order_id, place, kind, amount, method))
    change = amount if kind == "refund" else -amount
    connection.execute(
        "UPDATE payment_methods SET balance = round(balance + ?, 2)"
        " WHERE payment_method_id = ? AND source = 'gift_card'",
        (change, method),
    )


def _replace(connection: sqlite3.Connection, order_id: str, old: str, new: str) -> None:
    """One item of the order becomes the other; an order may hold the same item twice."""
    place = connection.execute(
        "SELECT min(position) FROM order_items WHERE order_id = ? AND item_id = ?", (order_id, old)
    ).fetchone()[0]
    connection.execute(
        "UPDATE order_items SET item_id = :new,"
        " price = (SELECT price FROM variants WHERE item_id = :new),"
        " options = (SELECT options FROM variants WHERE item_id = :new)"
        " WHERE order_id = :order AND position = :place",
        {"new": new, "order": order_id, "place": place},
    )


def _set_status(connection: sqlite3.Connection, order_id: str, status: str) -> None:
    connection.execute("UPDATE orders SET status = ? WHERE order_id = ?", (status, order_id))
