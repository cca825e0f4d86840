"""The tables of the retail desk, in SQLite."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ADDRESS = ("address1", "address2", "city", "state", "country", "zip")
TABLES = ("users", "payment_methods", "variants", "orders", "order_items", "payments", "requests")


class Store:
    """One database file. Every use is a connection and a transaction of its own: tools run in threads."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """A transaction: done where the block ends, undone where it raises."""
        connection = sqlite3.connect(self._path)
        connection.row_factory = sqlite3.Row
        try:
            with connection:
                yield connection
        finally:
            connection.close()

    def tables(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table, sorted: what two stores are compared by."""
        with self.open() as connection:
            return {
                name: sorted((tuple(row) for row in connection.execute(f"SELECT * FROM {name}")), key=repr)  # noqa: S608 - a constant above
                for name in TABLES
            }


def load(data: Path, path: Path) -> Store:
    """A new database at `path` from the shared folder's users, orders and products."""
    users, orders, products = (
        json.loads((data / f"{name}.json").read_text()) for name in ("users", "orders", "products")
    )
    store = Store(path)
    with store.open() as connection:
        connection.executescript((Path(__file__).parent / "schema.sql").read_text())
        for user_id, user in users.items():
            _insert(connection, "users", (user_id, *user["name"].values(), user["email"], *_address(user)))
            for method in user["payment_methods"].values():
                _insert(connection, "payment_methods", (method["id"], user_id, method["source"], method.get("balance")))
        for product in products.values():
            for item in product["variants"].values():
                _insert(
                    connection,
                    "variants",
                    (
                        item["item_id"],
                        product["product_id"],
                        product["name"],
                        json.dumps(item["options"]),
                        int(item["available"]),
                        item["price"],
                    ),
                )
        for order in orders.values():
            given = (order["order_id"], order["user_id"], order["status"], *_address(order), None)
            _insert(connection, "orders", given)
            for position, item in enumerate(order["items"]):
                row = (item["item_id"], item["product_id"], item["name"], item["price"], json.dumps(item["options"]))
                _insert(connection, "order_items", (order["order_id"], position, *row))
            for position, paid in enumerate(order["payment_history"]):
                kept = (paid["transaction_type"], paid["amount"], paid["payment_method_id"])
                _insert(connection, "payments", (order["order_id"], position, *kept))
    return store


def _address(held: dict[str, Any]) -> tuple[str, ...]:
    return tuple(held["address"][name] for name in ADDRESS)


def _insert(connection: sqlite3.Connection, table: str, values: Sequence[Any]) -> None:
    marks = ", ".join("?" * len(values))
    connection.execute(f"INSERT INTO {table} VALUES ({marks})", values)  # noqa: S608 - the names are ours
