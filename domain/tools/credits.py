"""Issuing a credit. How much one person may grant alone is a value of the policy record, not of this file."""

import hashlib
import sqlite3
from typing import Annotated, Any

from pydantic import Field

from domain.database import Database
from domain.ownership import STAFF, visible_account
from domain.policy import POLICIES
from domain.times import stamp
from domain.tools.arguments import AccountId, effect_key, failing_typed, key_reused, not_found
from domain.tools.fields import MOMENT, change_fails, one_of
from state.contract import Effect, Limit, OutputField, Rate
from state.labels import Argument
from state.policy import Policy, effective
from state.tools import Tool, ToolContext, ToolError, tool

Amount = Annotated[int, Field(ge=1, le=100_000, description="The amount in whole units of its currency.")]
# Said in each call, so that whoever approves one sees it, and a wish for another currency is refused, not rewritten.
_CURRENCIES = sorted({str(policy.values["credit_currency"]) for policy in POLICIES})
Currency = Annotated[
    str,
    Field(
        json_schema_extra={"enum": [*_CURRENCIES]},
        description=f"The currency that was asked for; credits are issued in {' or '.join(_CURRENCIES)} only.",
    ),
]


def credit_tools(database: Database) -> tuple[Tool, ...]:
    """The tool that issues credits."""

    def read_back(
        context: ToolContext, *, account_id: AccountId, amount: Amount, currency: Currency
    ) -> dict[str, Any] | None:
        with failing_typed(), database.read() as connection:
            return _already_done(connection, context, account_id, amount, currency)

    @tool(
        effect=Effect.WRITE,
        roles=STAFF,
        resources={"account_id": "account"},
        arguments={
            "account_id": Argument(role="target"),
            "amount": Argument(role="amount"),
            "currency": Argument(role="permission", harmless=tuple(_CURRENCIES)),
        },
        limits=(Limit(parameter="amount", policy_key="credit_limit"),),
        rates=(Rate(policy_key="credits_per_day", per="actor", window_s=86_400),),
        idempotent=True,
        reversible=False,
        read_back=read_back,
        failures=change_fails("not_found", "not_approved", "currency_not_allowed"),
        output=(
            OutputField(name="credit_id", trust="system", required=True),
            OutputField(name="account_id", trust="system", required=True),
            OutputField(name="amount", trust="system", json_schema={"type": "integer", "minimum": 1}, required=True),
            OutputField(name="currency", trust="system", json_schema=one_of(_CURRENCIES), required=True),
            OutputField(name="status", trust="system", json_schema=one_of(("issued",)), required=True),
            OutputField(name="issued_at", trust="system", json_schema=MOMENT, required=True),
        ),
    )
    def issue_credit(
        context: ToolContext, *, account_id: AccountId, amount: Amount, currency: Currency
    ) -> dict[str, Any]:
        """Issue a credit to an account (emitir, abonar): its next invoice is lower by this amount.

        Errors: `not_found`, `not_approved`, `currency_not_allowed`, `idempotency_key_missing`,
        `idempotency_key_reused`, `unavailable`.
        """
        effect = effect_key(context)
        policy = effective(POLICIES, context.now)
        with failing_typed(), database.write() as connection:
            # Before anything that may have changed since: another person's process may go on with what was approved.
            done = _already_done(connection, context, account_id, amount, currency)
            if done is not None:
                return done
            if currency != policy.values["credit_currency"]:
                raise ToolError("currency_not_allowed", "the policy in force has credits in another currency")
            approver = _approver(context, amount, policy)
            if visible_account(connection, context.scope, account_id) is None:
                raise not_found("account")
            # Named by the effect: a counter would tell one tenant how many credits others were given.
            credit_id = f"C-{hashlib.sha256(effect.encode()).hexdigest()[:10]}"
            now = stamp(context.now)
            connection.execute(
                "INSERT INTO credits VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (effect, credit_id, context.scope.tenant, account_id, amount, currency,
                 context.scope.principal.name, approver, now),
            )  # fmt: skip
            return _result(credit_id, account_id, amount, currency, now)

    return (issue_credit,)


def _approver(context: ToolContext, amount: int, policy: Policy) -> str | None:
    """Who approved a credit over the limit; None below it.

    The gate asks any approver of the tenant, and lets people confirm their own calls. Here it takes four eyes and
    the role that the record names: an account admin must not grant a credit to the own organisation, and nobody the
    one that he or she asked for.
    """
    limit = policy.values["credit_limit"]
    if isinstance(limit, int | float) and amount <= limit:
        return None
    actor = context.scope.actor
    if policy.values["credit_approver_role"] not in actor.roles or actor.name == context.scope.principal.name:
        raise ToolError("not_approved", "a credit over the limit needs another person who may approve it")
    return actor.name


def _already_done(
    connection: sqlite3.Connection, context: ToolContext, account_id: str, amount: int, currency: str
) -> dict[str, Any] | None:
    row = connection.execute(
        "SELECT tenant, credit_id, account_id, amount, currency, issued_at FROM credits WHERE idempotency_key = ?",
        (context.idempotency_key,),
    ).fetchone()
    if row is None:
        return None
    before = (row["tenant"], row["account_id"], row["amount"], row["currency"])
    if before != (context.scope.tenant, account_id, amount, currency):
        raise key_reused()
    return _result(row["credit_id"], account_id, amount, currency, row["issued_at"])


def _result(credit_id: str, account_id: str, amount: int, currency: str, issued_at: str) -> dict[str, Any]:
    return {
        "credit_id": credit_id,
        "account_id": account_id,
        "amount": amount,
        "currency": currency,
        "status": "issued",
        "issued_at": issued_at,
    }
