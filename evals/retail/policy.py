"""The desk's policy as preconditions: each is one sentence of the written policy, looked up in the tables."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from pydantic import JsonValue

from evals.retail.store import Store
from state.domain import Holds, Owns
from state.run import Scope

REASONS = ("no longer needed", "ordered by mistake")
_Look = Callable[[sqlite3.Connection, Mapping[str, Any]], bool]


def resources(store: Store) -> dict[str, Owns]:
    """Whose order and whose profile: one customer is helped per conversation."""

    def order(scope: Scope, order_id: str) -> bool:
        with store.open() as connection:
            found = connection.execute("SELECT user_id FROM orders WHERE order_id = ?", (order_id,)).fetchone()
        return found is not None and found["user_id"] == scope.principal.name

    return {"order": order, "user": lambda scope, user_id: user_id == scope.principal.name}


def preconditions(store: Store) -> dict[str, Holds]:
    """The preconditions by name, each asked of the tables as they are."""

    def asked(look: _Look) -> Holds:
        def holds(scope: Scope, arguments: Mapping[str, JsonValue], now: datetime) -> bool:
            with store.open() as connection:
                return look(connection, arguments)

        return holds

    return {name: asked(look) for name, look in _LOOKS.items()}


def price_difference(connection: sqlite3.Connection, arguments: Mapping[str, Any]) -> float:
    """What the new items cost more than the old ones."""
    prices = {row["item_id"]: row["price"] for row in _items(connection, arguments["order_id"])}
    old = sum(prices[item] for item in arguments["item_ids"])
    new = sum(float(_variant(connection, item)["price"]) for item in arguments["new_item_ids"])
    return float(round(new - old, 2))


def _status(connection: sqlite3.Connection, arguments: Mapping[str, Any]) -> str:
    row = connection.execute("SELECT status FROM orders WHERE order_id = ?", (arguments["order_id"],)).fetchone()
    return str(row["status"])


def _items(connection: sqlite3.Connection, order_id: str) -> list[sqlite3.Row]:
    return connection.execute("SELECT * FROM order_items WHERE order_id = ?", (order_id,)).fetchall()


def _variant(connection: sqlite3.Connection, item_id: str) -> sqlite3.Row:
    row: sqlite3.Row | None = connection.execute("SELECT * FROM variants WHERE item_id = ?", (item_id,)).fetchone()
    if row is None:
        raise LookupError(item_id)
    return row


def _in_order(connection: sqlite3.Connection, arguments: Mapping[str, Any]) -> bool:
    held = Counter(row["item_id"] for row in _items(connection, arguments["order_id"]))
    return not Counter(arguments["item_ids"]) - held


def _of_same_product(connection: sqlite3.Connection, arguments: Mapping[str, Any]) -> bool:
    old, new = arguments["item_ids"], arguments["new_item_ids"]
    products = {row["item_id"]: row["product_id"] for row in _items(connection, arguments["order_id"])}
    try:
        found = [_variant(connection, item) for item in new]
    except LookupError:
        return False
    return len(old) == len(new) and all(
        variant["available"] and variant["product_id"] == products.get(item)
        for item, variant in zip(old, found, strict=True)
    )


def _owner_pays(connection: sqlite3.Connection, arguments: Mapping[str, Any]) -> bool:
    return connection.execute(
        "SELECT 1 FROM orders JOIN payment_methods USING (user_id) WHERE order_id = ? AND payment_method_id = ?",
        (arguments["order_id"], arguments["payment_method_id"]),
    ).fetchone() is not None  # fmt: skip


def _covers(connection: sqlite3.Connection, arguments: Mapping[str, Any], amount: float) -> bool:
    """A gift card has enough on it; any other method is not ours to ask."""
    row = connection.execute(
        "SELECT source, balance FROM payment_methods WHERE payment_method_id = ?", (arguments["payment_method_id"],)
    ).fetchone()
    return row is not None and (row["source"] != "gift_card" or row["balance"] >= amount)


def _covers_difference(connection: sqlite3.Connection, arguments: Mapping[str, Any]) -> bool:
    if not _in_order(connection, arguments) or not _of_same_product(connection, arguments):
        return False
    return _covers(connection, arguments, price_difference(connection, arguments))


def _payments(connection: sqlite3.Connection, arguments: Mapping[str, Any]) -> list[sqlite3.Row]:
    given = (arguments["order_id"],)
    return connection.execute("SELECT * FROM payments WHERE order_id = ? ORDER BY position", given).fetchall()


def _another_method(connection: sqlite3.Connection, arguments: Mapping[str, Any]) -> bool:
    paid = _payments(connection, arguments)
    return len(paid) == 1 and paid[0]["payment_method_id"] != arguments["payment_method_id"]


def _refundable_to(connection: sqlite3.Connection, arguments: Mapping[str, Any]) -> bool:
    original = _payments(connection, arguments)[0]["payment_method_id"]
    gift = "SELECT 1 FROM payment_methods WHERE payment_method_id = ? AND source = 'gift_card'"
    method = arguments["payment_method_id"]
    return method == original or connection.execute(gift, (method,)).fetchone() is not None


_LOOKS: Mapping[str, _Look] = {
    "order_is_pending": lambda connection, arguments: _status(connection, arguments) == "pending",
    "order_is_delivered": lambda connection, arguments: _status(connection, arguments) == "delivered",
    "items_are_in_the_order": _in_order,
    "new_items_are_of_the_same_product": _of_same_product,
    "payment_method_is_the_customers": _owner_pays,
    "gift_card_covers_the_difference": _covers_difference,
    "gift_card_covers_the_total": lambda connection, arguments: _covers(
        connection, arguments, _payments(connection, arguments)[0]["amount"]
    ),
    "payment_method_is_another_one": _another_method,
    "refund_goes_back_or_to_a_gift_card": _refundable_to,
}
