"""Diff (M5): what changed between two requests, of one thread and across threads."""

from dataclasses import replace
from pathlib import Path

import pytest

from graph.domain_loading import load_domain
from graph.inspection.diff import Difference, Section, diff
from graph.inspection.finding import NoSuchDecision
from tests.fakes import FakeClock
from tests.graph.conftest import NOW, OpenApp

QUESTION = "Why is my API key not working?"


def section(found: Difference, name: str) -> Section:
    return next(each for each in found.sections if each.name == name)


def test_the_second_decision_has_the_result_and_no_tools(start: OpenApp) -> None:
    app = start()
    app.ask(QUESTION, as_="ana@acme", thread="t")
    found = diff(app, ("t", 0), ("t", 1), as_="ana@acme")
    tools = section(found, "tools")
    assert {"tool://check_api_key_status", "tool://search_incidents"} <= set(tools.removed)
    assert not tools.added
    assert len(section(found, "tool").added) == 2  # the observation's own fields, and the foreign ones
    assert not section(found, "evidence").differs
    assert section(found, "evidence").same == 2
    assert not found.prefix_same  # another decision kind


def test_a_decision_differs_from_itself_in_nothing(start: OpenApp) -> None:
    app = start()
    app.ask(QUESTION, as_="ana@acme", thread="t")
    found = diff(app, ("t", 0), ("t", 0), as_="ana@acme")
    assert found.prefix_same
    assert not any(each.differs for each in found.sections)


def test_across_threads_a_newer_instruction_and_a_newer_document_are_named(start: OpenApp, home: Path) -> None:
    start().ask(QUESTION, as_="ana@acme", thread="before")
    domain = load_domain("domain", home / "domain", FakeClock(NOW))
    corpus = home / "newer"
    corpus.mkdir()
    for page in domain.corpus.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        if "\nid: runbook/api-keys\n" in text and "\nversion: v7\n" in text:
            text = text.replace("version: v7", "version: v7.1")
        (corpus / page.name).write_text(text, encoding="utf-8")
    sections = tuple(
        each.model_copy(update={"version": "99", "text": f"{each.text} Be brief."}) if each.name == "role" else each
        for each in domain.instructions
    )
    app = start(domain=replace(domain, corpus=corpus, instructions=sections))
    app.ask(QUESTION, as_="ana@acme", thread="after")
    found = diff(app, ("before", 0), ("after", 0), as_="ana@acme")
    (role,) = section(found, "instructions").changed
    assert (role.item_id, role.after) == ("role", "99")
    assert {(one.before, one.after) for one in section(found, "evidence").changed} == {("v7", "v7.1")}
    assert not found.prefix_same
    assert "role" in found._repr_html_()


def test_a_thread_of_somebody_else_cannot_be_compared(start: OpenApp) -> None:
    app = start()
    app.ask(QUESTION, as_="ana@acme", thread="anas")
    app.ask(QUESTION, as_="bea@acme", thread="beas")
    with pytest.raises(NoSuchDecision, match="none that you may see"):
        diff(app, ("beas", 0), ("anas", 0), as_="bea@acme")
