"""Prefix (P1, P2): each silent way to break a server's cache is found, named, and filed where it happened."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from graph.domain_loading import load_domain
from graph.inspection.prefix import Part, Where, prefixes, shared
from state.domain import Domain
from tests.fakes import FakeClock
from tests.graph.conftest import NOW, OpenApp

QUESTION, AGAIN = "Why is my API key not working?", "Why is my other API key not working?"


def parts(*given: str) -> tuple[Part, ...]:
    """Parts of a request, each as `instructions:name:text`."""
    found = []
    for one in given:
        where, name, text = one.split(":", 2)
        found.append(Part(where=_where(where), name=name, text=text, tokens=len(text)))
    return tuple(found)


def _where(given: str) -> Where:
    names: dict[str, Where] = {"i": "instructions", "t": "tools", "d": "data"}
    return names[given]


BEFORE = ("i:role:You help.", "i:policy:Be exact.", "t:look:{look}", "t:move:{move}", "d:turn-1:Hi", "d:now:10:00")
SILENT: dict[str, tuple[Sequence[str], str, bool]] = {
    "a clock in front": (("i:role:You help at 10:01.", *BEFORE[1:]), "a number or a time in role changed", True),
    "a conditional text in front": (
        ("i:role:You help.", "i:holiday:We are closed.", *BEFORE[1:]),
        "other instructions: + holiday",
        True,
    ),
    "unordered tools": ((*BEFORE[:2], BEFORE[3], BEFORE[2], *BEFORE[4:]), "another order of tools", True),
    "a changing tool list": ((*BEFORE[:3], "t:pay:{pay}", *BEFORE[3:]), "other tools: + pay", True),
    "a tool that went": ((*BEFORE[:3], *BEFORE[4:]), "other tools: - move", True),
    "a definition of other words": ((*BEFORE[:2], "t:look:{see}", *BEFORE[3:]), "look changed in its place", True),
    "a state block rotated in place": ((*BEFORE[:4], "d:turn-1:Ho", BEFORE[5]), "turn-1 changed in its place", False),
    "an old message cut from the middle": ((*BEFORE[:4], BEFORE[5]), "turn-1 was taken from the middle", False),
    "a new message at the end": ((*BEFORE[:5], "d:turn-2:And?", BEFORE[5]), "turn-2 came", False),
    "another time at the end": ((*BEFORE[:5], "d:now:10:01"), "a number or a time in now changed", False),
}


@pytest.mark.parametrize("name", SILENT)
def test_what_ends_the_shared_part_is_named(name: str) -> None:
    after, cause, broken = SILENT[name]
    first = parts("i:role:You help at 10:00.", *BEFORE[1:]) if "clock" in name else parts(*BEFORE)
    found = shared(first, parts(*after))
    assert found.ends is not None
    assert (found.ends.cause, found.broken) == (cause, broken)


def test_what_is_shared_is_counted_to_the_byte() -> None:
    found = shared(parts("i:a:one", "t:b:two", "d:c:née"), parts("i:a:one", "t:b:two", "d:c:nève"))
    assert (found.bytes, found.tokens) == (3 + 3 + 2, 6)  # é and è share their first byte of two: n and that one
    assert (found.stable_bytes, found.stable_shared, found.broken) == (6, 6, False)
    same = shared(parts(*BEFORE), parts(*BEFORE))
    assert (same.ends, same.broken) == (None, False)


def test_the_stable_part_of_a_conversation_is_shared_in_full(start: OpenApp) -> None:
    app = start()
    for question in (QUESTION, AGAIN, QUESTION):
        app.ask(question, as_="ana@acme", thread="t")
    found = prefixes(app, "t", as_="ana@acme")
    assert len(found.kinds) >= 2
    assert [kind.stable_share for kind in found.kinds] == [1.0] * len(found.kinds)
    pairs = [pair for kind in found.kinds for pair in kind.pairs]
    assert {pair.cache for pair in pairs} == {"not reported"}  # offline reports nothing: unknown, not cold
    assert all(pair.ends is not None and pair.ends.where == "data" for pair in pairs)
    assert not any(record.manifest.prefix_before for record in app.records("t", as_="ana@acme") if record.manifest)


def changed(home: Path, text: str) -> Domain:
    domain = load_domain("domain", home / "domain", FakeClock(NOW))
    sections = tuple(
        one.model_copy(update={"text": one.text + text}) if one.name == "role" else one for one in domain.instructions
    )
    return replace(domain, instructions=sections)


def test_a_break_is_a_warning_in_the_manifest_of_the_request_that_lost_the_cache(start: OpenApp, home: Path) -> None:
    start(domain=changed(home, "")).ask(QUESTION, as_="ana@acme", thread="t")
    app = start(domain=changed(home, " It is 10:00."))
    app.ask(AGAIN, as_="ana@acme", thread="t")
    manifests = [record.manifest for record in app.records("t", as_="ana@acme") if record.manifest]
    first = {one.decision_kind: one.prefix_hash for one in reversed(manifests) if one.prefix_before is None}
    broken = [one for one in manifests if one.prefix_before is not None]
    assert broken
    assert all(one.prefix_before == first[one.decision_kind] != one.prefix_hash for one in broken)
    kinds = prefixes(app, "t", as_="ana@acme").kinds
    causes = {pair.ends.cause for kind in kinds for pair in kind.pairs if pair.broken and pair.ends}
    assert causes == {"role changed in its place"}
    app.ask(QUESTION, as_="ana@acme", thread="t")
    latest = [record.manifest for record in app.records("t", as_="ana@acme") if record.manifest][-1]
    assert latest.prefix_before is None  # told once, where it happened


def test_a_thread_without_a_request_has_no_prefix_and_an_erased_body_is_told(start: OpenApp) -> None:
    app = start()
    app.ask(QUESTION, as_="ana@acme", thread="t")
    ref = next(item.ref for item in app.records("t", as_="ana@acme")[0].manifest.items if item.item_id == "objective")  # type: ignore[union-attr]  # there is one
    app.ports.artifacts.erase("acme", [ref])  # type: ignore[attr-defined]  # the store's own
    assert 0 in prefixes(app, "t", as_="ana@acme").unreadable
