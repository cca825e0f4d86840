"""The scope of a run, derived from the runtime: who acts, on whose thread, within which bound (L1, L9)."""

from typing import Any

import pytest

from graph.scope import BadBound
from graph.stores.ownership import UnknownThread
from tests.graph.conftest import OpenApp, on_both_engines

QUESTION = "Why is my API key not working?"
THREAD = {"thread_id": "t"}


def test_a_user_whom_the_server_authenticated_is_who_acts(start: OpenApp) -> None:
    user = {**THREAD, "langgraph_auth_user": {"identity": "bea@acme"}}
    assert start().identity.scope(user, None).actor.name == "bea@acme"


def test_without_authentication_the_context_names_who_acts(start: OpenApp) -> None:
    identity = start().identity
    assert identity.scope(THREAD, {"principal": "bea@acme"}).actor.name == "bea@acme"


def test_a_bound_in_the_context_is_part_of_the_scope(start: OpenApp) -> None:
    identity = start().identity
    assert identity.scope(THREAD, None).max_decisions is None
    assert identity.scope(THREAD, {"max_decisions": 3}).max_decisions == 3


@pytest.mark.parametrize("bound", [0, -1, "3", 2.5, True])
def test_a_bound_that_is_none_is_refused(start: OpenApp, bound: object) -> None:
    with pytest.raises(BadBound, match="allowed: a whole number of at least 1"):
        start().identity.scope(THREAD, {"max_decisions": bound})


def test_a_bound_above_the_policys_changes_nothing(start: OpenApp) -> None:
    graph: Any = start().drawing.compile()
    given = {"messages": [{"role": "user", "content": QUESTION}]}
    plain = graph.invoke(given, {"configurable": THREAD})["task"]
    wide = graph.invoke(given, {"configurable": {"thread_id": "u"}}, context={"max_decisions": 1_000})["task"]
    assert (wide["laps_in_turn"], wide["status"]) == (plain["laps_in_turn"], "answered")


@on_both_engines
def test_someone_elses_thread_and_an_unknown_one_look_the_same(start: OpenApp) -> None:
    app = start()
    app.ask("Why is my API key not working?", as_="ana@acme", thread="mine")
    for principal in ("omar@globex", "ines@globex"):
        with pytest.raises(UnknownThread) as foreign:
            app.records("mine", as_=principal)
        with pytest.raises(UnknownThread) as unknown:
            app.records("none", as_=principal)
        assert str(foreign.value).replace("mine", "none") == str(unknown.value)
