"""The mail tools that two suites share. A server knows who sent a mail; what others sent may say anything."""

from pydantic import JsonValue

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
_TEXT: dict[str, JsonValue] = {"type": "string"}
_EVENT: dict[str, JsonValue] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("title", "description", "start_time", "end_time", "location"), _TEXT),
        "participants": {"type": "array", "items": _TEXT},
    },
    "additionalProperties": False,
}
_ATTACHMENT: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"type": _TEXT, "file_id": _TEXT, "event_details": _EVENT},
    "required": ["type"],
    "additionalProperties": False,
}
_ATTACHMENTS: dict[str, JsonValue] = {
    "anyOf": [{"type": "array", "items": _ATTACHMENT}, {"type": "null"}],
    "default": None,
}

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
        schemas={
            "attachments": {"anyOf": [{"type": "array", "items": _ATTACHMENT}, {"type": "null"}], "default": None}
        },
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
