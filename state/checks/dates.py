"""Days, hours and spans of time as people write them, in English and Spanish: what a text says of time, as values."""

import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

_MONTHS = (
    ("january", "jan", "enero"),
    ("february", "feb", "febrero"),
    ("march", "mar", "marzo"),
    ("april", "apr", "abril"),
    ("may", "mayo"),
    ("june", "jun", "junio"),
    ("july", "jul", "julio"),
    ("august", "aug", "agosto"),
    ("september", "sept", "sep", "septiembre"),
    ("october", "oct", "octubre"),
    ("november", "nov", "noviembre"),
    ("december", "dec", "diciembre"),
)
_MONTH_OF = {name: number for number, names in enumerate(_MONTHS, 1) for name in names}
_WEEKDAYS = (
    ("monday", "lunes"),
    ("tuesday", "martes"),
    ("wednesday", "miércoles"),
    ("thursday", "jueves"),
    ("friday", "viernes"),
    ("saturday", "sábado"),
    ("sunday", "domingo"),
)
_WEEKDAY_OF = {name: number for number, names in enumerate(_WEEKDAYS) for name in names}
_DAYS_AHEAD = {"today": 0, "tonight": 0, "hoy": 0, "tomorrow": 1, "mañana": 1, "yesterday": -1, "ayer": -1}
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "una": 1, "dos": 2, "half an": 0.5}

_M = "(?P<month>" + "|".join(sorted(_MONTH_OF, key=len, reverse=True)) + r")\b\.?"
_D = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_Y = r"(?:,? (?:of |de )?(?P<year>\d{4}))?"
_DATES = (
    re.compile(r"(?P<year>\d{4})[-/](?P<month>\d{1,2})[-/](?P<day>\d{1,2})(?!\d)"),
    re.compile(rf"\b{_M} (?:the )?{_D}(?![\d:]){_Y}"),
    re.compile(rf"(?<![\d:.]){_D} (?:of |de )?{_M}{_Y}"),
    re.compile(r"(?<![\d/.])(?P<first>\d{1,2})[/.](?P<second>\d{1,2})[/.](?P<year>\d{4})(?!\d)"),
)
_ORDINAL = re.compile(r"\b(?P<day>\d{1,2})(?:st|nd|rd|th)\b")
_HOUR = re.compile(
    r"(?<![\d:-])(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?(?::\d{2})? ?(?P<half>[ap])\.?m\b\.?"
    r"|(?<![\d:-])(?P<hour24>\d{1,2}):(?P<minute24>\d{2})(?!\d)"
    r"|\b(?P<named>noon|midday|midnight|mediodía|medianoche)\b"
)
_SPAN = re.compile(
    r"\b(?P<count>\d+(?:\.\d+)?|half an|an?|one|two|three|four|una|dos)[ -]"
    r"(?P<unit>hours?|hrs?|minutes?|mins?|horas?|minutos?)\b"
)


class Said(NamedTuple):
    """What a text says of time: days (year, month, day; None where it leaves one open), weekdays, hours, spans."""

    days: frozenset[tuple[int | None, int, int]]
    weekdays: frozenset[int]
    hours: frozenset[time]
    spans: frozenset[timedelta]

    def says_day(self, day: date) -> bool:
        """Whether a day is one that the text names."""
        named = {(day.year, day.month, day.day), (None, day.month, day.day)}
        return bool(named & self.days) or day.weekday() in self.weekdays

    def says_hour(self, hour: time) -> bool:
        """Whether an hour is named, ends a span that begins at a named one, or is left open by the text."""
        if not self.hours or hour in self.hours:
            return True
        return any(
            (datetime.combine(date.min, begin) + span).time() == hour for begin in self.hours for span in self.spans
        )


def said(text: str, today: date) -> Said:
    """What a text says of time, words like `tomorrow` counted from `today`."""
    text = " ".join(text.casefold().split())
    found = list(_days(text))
    months = [(place, day) for place, day in found]
    days = {day for _, day in found}
    for match in _ORDINAL.finditer(text):
        # `from the 13th to the 17th of May`: a bare day is of the month that is named nearest to it.
        near = min(months, key=lambda one: abs(one[0] - match.start()), default=None)
        if near is not None:
            days.add((near[1][0], near[1][1], int(match["day"])))
    words = set(re.findall(r"[^\W\d_]+", text))
    for word in words & _DAYS_AHEAD.keys():
        day = today + timedelta(days=_DAYS_AHEAD[word])
        days.add((day.year, day.month, day.day))
    weekdays = {
        _WEEKDAY_OF[word.removesuffix("s") if word not in _WEEKDAY_OF else word] for word in _weekday_words(words)
    }
    return Said(frozenset(days), frozenset(weekdays), frozenset(_hours(text)), frozenset(_spans(text)))


def moment(value: str) -> tuple[date, time | None] | None:
    """A typed value as a day and, where it has one, an hour; None where it is no date."""
    value = value.strip()
    if not re.match(r"\d{4}-\d{2}-\d{2}", value):
        return None
    try:
        if len(value) == 10:
            return date.fromisoformat(value), None
        read = datetime.fromisoformat(value)
    except ValueError:
        return None
    return read.date(), read.time().replace(second=0, microsecond=0, tzinfo=None)


def _weekday_words(words: set[str]) -> set[str]:
    return {word for word in words if word in _WEEKDAY_OF or word.removesuffix("s") in _WEEKDAY_OF}


def _days(text: str) -> Iterator[tuple[int, tuple[int | None, int, int]]]:
    for pattern in _DATES:
        for match in pattern.finditer(text):
            given = match.groupdict()
            year = int(given["year"]) if given["year"] else None
            if "first" in given:  # day or month first: both are said
                pairs = {(given["first"], given["second"]), (given["second"], given["first"])}
            else:
                pairs = {(str(_MONTH_OF.get(given["month"], given["month"])), given["day"])}
            for month, day in pairs:
                if 1 <= int(month) <= 12 and 1 <= int(day) <= 31:
                    yield match.start(), (year, int(month), int(day))


def _hours(text: str) -> Iterator[time]:
    for match in _HOUR.finditer(text):
        if match["named"]:
            yield time(0 if match["named"] in ("midnight", "medianoche") else 12)
            continue
        hour = int(match["hour"] or match["hour24"])
        if match["half"]:
            if not 1 <= hour <= 12:
                continue
            hour = hour % 12 + (12 if match["half"] == "p" else 0)
        minute = int(match["minute"] or match["minute24"] or 0)
        if hour < 24 and minute < 60:
            yield time(hour, minute)


def _spans(text: str) -> Iterator[timedelta]:
    for match in _SPAN.finditer(text):
        count = float(_NUMBERS.get(match["count"], 0) or match["count"])
        yield timedelta(hours=count) if match["unit"].startswith("h") else timedelta(minutes=count)


def without_time(text: str) -> str:
    """The text without its days and hours: the numbers in them are no amounts."""
    text = text.casefold()
    for pattern in (*_DATES, _HOUR):
        text = pattern.sub(" ", text)
    return text
