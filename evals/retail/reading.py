"""The desk's tools that look something up. What a customer asks of somebody else is not there."""

import ast
import json
import operator
from collections.abc import Callable, Mapping
from typing import Any

from evals.retail.store import ADDRESS, Store
from state.contract import Effect, FailureMode, OutputField
from state.tools import Tool, ToolContext, ToolError, tool

ROLE = "customer"
_NOT_FOUND = FailureMode(code="not_found")
_OPERATORS: Mapping[type, Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
}


def fields(*names: str, **identifies: str) -> tuple[OutputField, ...]:
    """Fields of the desk's own tables."""
    plain = (OutputField(name=name, trust="system") for name in names)
    return (*plain, *(OutputField(name=name, trust="system", identifies=kind) for name, kind in identifies.items()))


def reading_tools(store: Store) -> tuple[Tool, ...]:
    """The reads on one store."""
    return (*_of_users(store), *_of_orders(store), *_of_products(store), _calculate())


def _of_users(store: Store) -> tuple[Tool, ...]:
    def own(context: ToolContext, where: str, given: tuple[str, ...]) -> dict[str, Any]:
        with store.open() as connection:
            found = connection.execute(f"SELECT user_id FROM users WHERE {where}", given).fetchone()  # noqa: S608 - one of the conditions below
        if found is None or found["user_id"] != context.scope.principal.name:
            raise ToolError("not_found", "no such customer in this conversation")
        return {"user_id": found["user_id"]}

    @tool(effect=Effect.READ, roles=(ROLE,), output=fields("user_id"), failures=(_NOT_FOUND,))
    def find_user_id_by_email(context: ToolContext, *, email: str) -> dict[str, Any]:
        """Find the id of the customer by e-mail address."""
        return own(context, "email = ?", (email,))

    @tool(effect=Effect.READ, roles=(ROLE,), output=fields("user_id"), failures=(_NOT_FOUND,))
    def find_user_id_by_name_zip(context: ToolContext, *, first_name: str, last_name: str, zip: str) -> dict[str, Any]:
        """Find the id of the customer by first name, last name and zip code."""
        where = "lower(first_name) = lower(?) AND lower(last_name) = lower(?) AND zip = ?"
        return own(context, where, (first_name, last_name, zip))

    @tool(
        effect=Effect.READ,
        roles=(ROLE,),
        resources={"user_id": "user"},
        output=fields("user_id", "name", "email", *ADDRESS, "payment_methods", "orders"),
    )
    def get_user_details(context: ToolContext, *, user_id: str) -> dict[str, Any]:
        """Get the customer's profile: name, address, payment methods, orders."""
        with store.open() as connection:
            user = connection.execute("SELECT * FROM users WHERE user_id = ?", (user_id,)).fetchone()
            methods = connection.execute("SELECT * FROM payment_methods WHERE user_id = ?", (user_id,)).fetchall()
            orders = connection.execute("SELECT order_id FROM orders WHERE user_id = ?", (user_id,)).fetchall()
        return {
            "user_id": user_id,
            "name": f"{user['first_name']} {user['last_name']}",
            "email": user["email"],
            **{name: user[name] for name in ADDRESS},
            "payment_methods": [
                {"id": one["payment_method_id"], "source": one["source"], "balance": one["balance"]} for one in methods
            ],
            "orders": [one["order_id"] for one in orders],
        }

    return find_user_id_by_email, find_user_id_by_name_zip, get_user_details


def _of_orders(store: Store) -> tuple[Tool, ...]:
    @tool(
        effect=Effect.READ,
        roles=(ROLE,),
        resources={"order_id": "order"},
        output=(*fields("status", *ADDRESS, "items", "payments", order_id="order"),),
    )
    def get_order_details(context: ToolContext, *, order_id: str) -> dict[str, Any]:
        """Get an order: its status, address, items and payments."""
        with store.open() as connection:
            order = connection.execute("SELECT * FROM orders WHERE order_id = ?", (order_id,)).fetchone()
            given = (order_id,)
            items = connection.execute(
                "SELECT * FROM order_items WHERE order_id = ? ORDER BY position", given
            ).fetchall()
            paid = connection.execute("SELECT * FROM payments WHERE order_id = ? ORDER BY position", given).fetchall()
        return {
            "order_id": order_id,
            "status": order["status"],
            **{name: order[name] for name in ADDRESS},
            "items": [{**dict(one), "options": json.loads(one["options"])} for one in items],
            "payments": [dict(one) for one in paid],
        }

    return (get_order_details,)


def _of_products(store: Store) -> tuple[Tool, ...]:
    @tool(effect=Effect.READ, roles=(ROLE,), output=fields("name", "product_id"), max_rows=100)
    def list_all_product_types(context: ToolContext) -> list[Mapping[str, Any]]:
        """List the kinds of products with their ids."""
        with store.open() as connection:
            rows = connection.execute("SELECT DISTINCT name, product_id FROM variants ORDER BY name").fetchall()
        return [dict(row) for row in rows]

    @tool(
        effect=Effect.READ,
        roles=(ROLE,),
        output=fields("name", "product_id", "options", "available", "price", item_id="item"),
        max_rows=100,
        max_bytes=64_000,
    )
    def get_product_details(context: ToolContext, *, product_id: str) -> list[Mapping[str, Any]]:
        """Get every variant of a product: options, price, whether there is one."""
        with store.open() as connection:
            rows = connection.execute("SELECT * FROM variants WHERE product_id = ?", (product_id,)).fetchall()
        return [{**dict(row), "options": json.loads(row["options"])} for row in rows]

    return list_all_product_types, get_product_details


def _calculate() -> Tool:
    @tool(effect=Effect.READ, roles=(ROLE,), output=fields("result"), failures=(FailureMode(code="not_arithmetic"),))
    def calculate(context: ToolContext, *, expression: str) -> dict[str, Any]:
        """Calculate with numbers, + - * / and brackets."""
        try:
            return {"result": round(_value(ast.parse(expression, mode="eval").body), 2)}
        except (SyntaxError, ValueError, ZeroDivisionError) as error:
            raise ToolError("not_arithmetic", "only numbers, + - * / and brackets") from error

    return calculate


def _value(node: ast.AST) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left), _value(right))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(operand))
        case _:
            raise ValueError("no arithmetic")
