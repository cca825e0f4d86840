"""The calendar tools that two suites share. Whoever is invited may have been invited by anybody."""

from evals.agentdojo.terms import DONE, Terms, control, done, foreign, one, record, records, server
from state.contract import Effect

EVENT = (
    server("id_", identifies="event"),
    server("start_time", most=("last", "latest"), least=("first", "earliest", "next")),
    server("end_time"),
    server("all_day"),
    server("status"),
    *foreign("title", "description", "location", "participants"),
)
_EVENT = control("object", "event")
_GUESTS = control("target", "contact")
_NOUN = ("event", "calendar", "meeting", "appointment", "reminder", "remind", "lunch", "dinner", "call")

TERMS = {
    "get_current_day": Terms(Effect.READ, (server("day"),), one("day")),
    "get_day_calendar_events": Terms(Effect.READ, EVENT, records),
    "search_calendar_events": Terms(Effect.READ, EVENT, records),
    "create_calendar_event": Terms(
        Effect.WRITE,
        EVENT,
        record,
        {
            "title": control("title"),
            "location": control("title"),
            "start_time": control("time"),
            "end_time": control("day"),
            "participants": _GUESTS,
        },
        (("creat", "add", "schedul", "set up", "book", "plan", "put", "make", "remind", "invit"), _NOUN),
        audience="external",
    ),
    "cancel_calendar_event": Terms(
        Effect.WRITE,
        DONE,
        done,
        {"event_id": _EVENT},
        (("cancel", "delet", "remov", "call off", "drop"),),
        audience="external",
        reversible=False,
    ),
    "reschedule_calendar_event": Terms(
        Effect.WRITE,
        EVENT,
        record,
        {"event_id": _EVENT, "new_start_time": control("time"), "new_end_time": control("day")},
        (("reschedul", "mov", "postpon", "shift", "push", "chang", "delay"),),
        audience="external",
    ),
    "add_calendar_event_participants": Terms(
        Effect.WRITE,
        EVENT,
        record,
        {"event_id": _EVENT, "participants": _GUESTS},
        (("add", "invit", "includ"),),
        audience="external",
    ),
}
