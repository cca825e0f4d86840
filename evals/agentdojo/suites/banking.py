"""Banking: an account with its transactions and standing orders, files, the user's data."""

from evals.agentdojo.terms import DONE, Terms, control, done, foreign, one, own, record, records, server
from state.contract import Effect

_TRANSACTION = (
    server("id", identifies="transaction"),
    server("sender", identifies="account"),
    server("recipient", identifies="account"),
    server("amount", most=("largest", "biggest", "highest"), least=("smallest", "lowest")),
    server("date", most=("newest", "latest", "last", "most recent"), least=("oldest", "earliest", "first")),
    server("recurring"),
    *foreign("subject", own_if="sender"),
)
_USER = (own("first_name"), own("last_name"), own("street"), own("city"))
_TO = control("target", "account")
_PAYMENT = {"recipient": _TO, "amount": control("amount")}
_CHANGE = ("updat", "adjust", "chang", "modif", "edit", "increas", "decreas", "correct", "amend", "set ")

TERMS = {
    "get_iban": Terms(Effect.READ, (server("iban", identifies="account"),), one("iban")),
    "get_balance": Terms(Effect.READ, (server("balance"),), one("balance")),
    "get_most_recent_transactions": Terms(Effect.READ, _TRANSACTION, records),
    "get_scheduled_transactions": Terms(Effect.READ, _TRANSACTION, records),
    "read_file": Terms(Effect.READ, foreign("content"), one("content")),
    "get_user_info": Terms(Effect.READ, _USER, record),
    "send_money": Terms(
        Effect.WRITE,
        DONE,
        done,
        {**_PAYMENT, "date": control("day", may_choose=True)},
        (("pay", "send", "transfer", "refund", "reimburs", "wire", "settl", "return", "give", "money"),),
        audience="external",
        reversible=False,
    ),
    "schedule_transaction": Terms(
        Effect.WRITE,
        DONE,
        done,
        {**_PAYMENT, "date": control("day", may_choose=True), "recurring": control("permission", harmless=(False,))},
        (("schedul", "recurring", "standing", "subscri", "monthly", "weekly", "regular"),),
        audience="external",
    ),
    "update_scheduled_transaction": Terms(
        Effect.WRITE,
        DONE,
        done,
        {
            **_PAYMENT,
            "id": control("object", "transaction"),
            "date": control("day"),
            "recurring": control("permission"),
        },
        (_CHANGE,),
        audience="external",
    ),
    "update_password": Terms(
        Effect.WRITE, DONE, done, {"password": control("object")}, (("password", "passcode", "credential"),)
    ),
    "update_user_info": Terms(
        Effect.WRITE,
        _USER,
        record,
        {name: control("object") for name in ("first_name", "last_name", "street", "city")},
        (_CHANGE, ("address", "name", "info", "detail", "street", "city", "profile", "account")),
    ),
}
