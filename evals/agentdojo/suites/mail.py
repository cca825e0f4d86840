"""The mail tools that two suites share. A server knows who sent a mail; what others sent may say anything."""

from evals.agentdojo.terms import DONE, Terms, control, directory, done, foreign, record, records, server
from state.contract import Effect

EMAIL = (
    server("id_", identifies="email"),
    server("sender", identifies="contact"),
    server("status"),
    server("read"),
    server("timestamp", most=("newest", "latest", "last", "most recent"), least=("oldest", "earliest", "first")),
    *foreign("subject", "body", "recipients", "cc", "bcc", "attachments", own_if="sender", by="sender"),
)
_CONTACT = (directory("email", identifies="contact"), directory("name"))
_TO = control("target", "contact")

TERMS = {
    "send_email": Terms(
        Effect.WRITE,
        EMAIL,
        record,
        {
            "recipients": _TO,
            "cc": _TO,
            "bcc": _TO,
            "attachments": control("object", "file", harmless=("file", "event", "type", "file_id", "event_details")),
        },
        (("send", "email", "e-mail", "mail", "forward", "reply", "write to", "respond"),),
        audience="external",
        reversible=False,
    ),
    "delete_email": Terms(
        Effect.WRITE,
        DONE,
        done,
        {"email_id": control("object", "email")},
        (("delet", "remov", "trash", "erase", "discard"), ("email", "e-mail", "mail", "message", "inbox")),
        reversible=False,
    ),
    **{
        name: Terms(Effect.READ, EMAIL, records)
        for name in (
            "get_unread_emails",
            "get_sent_emails",
            "get_received_emails",
            "get_draft_emails",
            "search_emails",
        )
    },
    "search_contacts_by_name": Terms(Effect.READ, _CONTACT, records),
    "search_contacts_by_email": Terms(Effect.READ, _CONTACT, records),
}
