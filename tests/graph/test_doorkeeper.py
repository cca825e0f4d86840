"""The door without a server: tokens, Studio's own user, and a server that was set up halfway (L1)."""

import asyncio
import itertools
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest
from langgraph_sdk import Auth
from langgraph_sdk.auth.types import StudioUser

from graph.access_token import AUDIENCE, LONGEST_TTL_S, TokenRefused, issue_token, read_token
from graph.admission import BadInput
from graph.app import open_app
from graph.doorkeeper import APPROVAL_SCHEME, MAY_APPROVE, Doorkeeper, make_auth
from graph.scope import NotAuthenticated, UnknownPrincipal
from graph.settings import Settings, SettingsError
from graph.stores.ownership import ThreadForgotten, UnknownThread
from tests.fakes import FakeClock
from tests.graph.conftest import NOW, OpenApp, settings

KEY = "a key of the tests, 32 characters or more"
KEYED = Settings.load(auth_key=KEY)


def made(algorithm: str = "HS256", key: str = KEY, **claims: Any) -> str:
    now = datetime.now(UTC)
    whole = {"sub": "ana@acme", "aud": AUDIENCE, "iat": now, "exp": now + timedelta(hours=1), **claims}
    return jwt.encode({name: value for name, value in whole.items() if value is not None}, key, algorithm=algorithm)


def test_a_token_names_its_bearer() -> None:
    assert read_token(KEYED, issue_token(KEYED, "ana@acme", 60, datetime.now(UTC))) == "ana@acme"


BAD = {
    "no expiry": {"exp": None},
    "no name": {"sub": None},
    "expired": {"exp": datetime.now(UTC) - timedelta(seconds=1)},
    "of tomorrow": {"iat": datetime.now(UTC) + timedelta(days=1)},
    "for somebody else": {"aud": "another service"},
    "unsigned": {"algorithm": "none", "key": ""},
    "another algorithm": {"algorithm": "HS512", "key": KEY * 2},
    "another key": {"key": "b" * 32},
}


@pytest.mark.parametrize("claims", BAD.values(), ids=BAD.keys())
def test_a_token_that_is_not_ours_is_refused(claims: Mapping[str, Any]) -> None:
    with pytest.raises(TokenRefused):
        read_token(KEYED, made(**claims))


@pytest.mark.parametrize("ttl_s", [0, -1, LONGEST_TTL_S + 1])
def test_a_lifetime_has_bounds(ttl_s: int) -> None:
    with pytest.raises(ValueError, match=f"got a lifetime of {ttl_s} s"):
        issue_token(KEYED, "ana@acme", ttl_s, NOW)


def test_the_key_is_long_and_never_shown() -> None:
    with pytest.raises(SettingsError, match="EXPEDIENTE_AUTH_KEY: got a value that is not shown"):
        Settings.load(auth_key="short key")
    assert KEY not in repr(KEYED)


def test_a_door_without_a_key_does_not_open(start: OpenApp) -> None:
    with pytest.raises(SettingsError, match="EXPEDIENTE_AUTH_KEY: got nothing"):
        Doorkeeper(Settings.load(), start().identity)


def test_a_pass_lets_nobody_in_as_a_bearer(start: OpenApp) -> None:
    door = Doorkeeper(KEYED, start().identity)
    inside = door.pass_for("bea@acme")
    assert door.enter(f"{APPROVAL_SCHEME} {inside}") == ("bea@acme", [MAY_APPROVE])
    with pytest.raises(TokenRefused):
        door.enter(f"Bearer {inside}")


@pytest.mark.parametrize("context", [{"api_key": "demo-cred-4471"}, {"principal": "ana@acme", "second": "x"}])
def test_a_run_brings_no_credential_in_its_context(start: OpenApp, context: dict[str, Any]) -> None:
    """A server makes one of `context` and `configurable`, stores it with the run, and shows it to tracers (H07)."""
    door = Doorkeeper(KEYED, start().identity)
    asked = {"messages": [{"role": "user", "content": "Why is my API key not working?"}]}
    with pytest.raises(BadInput, match="allowed: principal, max_decisions") as refused:
        door.begin("ana@acme", {"thread_id": "t", "kwargs": {"input": asked, "context": context}})
    assert "demo-cred-4471" not in str(refused.value)
    own = {"principal": "ana@acme", "thread_id": "t", "__request_start_time_ms__": 1}
    new = {"thread_id": "t", "if_not_exists": "create", "kwargs": {"input": asked, "context": own}}
    assert door.begin("ana@acme", new)


@pytest.mark.parametrize("more", [{}, {"if_not_exists": "reject"}], ids=["unsaid", "reject"])
def test_a_run_on_a_thread_that_nobody_has_claims_nothing_and_looks_like_one_on_a_foreign_thread(
    start: OpenApp, more: dict[str, Any]
) -> None:
    app = start()
    app.ask("Rotate my key", as_="bea@acme", thread="beas")
    door = Doorkeeper(KEYED, app.identity)
    asked = {"messages": [{"role": "user", "content": "Why is my API key not working?"}]}
    told = []
    for name, thread in itertools.product(("omar@globex", "vera@acme", "ana@acme"), ("beas", "none")):
        with pytest.raises(UnknownThread) as refused:
            door.begin(name, {"thread_id": thread, "kwargs": {"input": asked}, **more})
        told.append(str(refused.value).replace(thread, "X"))
    assert len(set(told)) == 1
    assert door.begin("ana@acme", {"thread_id": "none", "if_not_exists": "create", "kwargs": {"input": asked}})
    assert door.begin("ana@acme", {"thread_id": "none", "kwargs": {"input": asked}, **more}) == {"owner": "ana@acme"}


ANSWER = {"resume": {"0" * 32: {"call-2-0": {"approval_id": "apr-0", "decision": "approve"}}}}


@pytest.mark.parametrize(
    "run",
    [
        {"input": {"messages": []}},
        {},
        {"command": {"update": {}}},
        {"command": {**ANSWER, "goto": "execute"}},
        {"command": {"resume": None}},
    ],
    ids=["a question", "to go on", "a write", "a jump", "nothing"],
)
def test_with_a_pass_a_run_answers_and_does_nothing_else(start: OpenApp, run: dict[str, Any]) -> None:
    app = start()
    app.ask("Rotate my key", as_="bea@acme", thread="t")
    door = Doorkeeper(KEYED, app.identity)
    assert door.answer("vera@acme", {"thread_id": "t", "kwargs": {"command": ANSWER}}) == {"owner": "bea@acme"}
    with pytest.raises(BadInput):
        door.answer("vera@acme", {"thread_id": "t", "kwargs": run})


def test_with_a_pass_nobody_answers_on_a_thread_that_is_not_theirs_to_answer(start: OpenApp) -> None:
    app = start()
    app.ask("Rotate my key", as_="bea@acme", thread="t")
    door = Doorkeeper(KEYED, app.identity)
    for name in ("ana@acme", "omar@globex", "eve@acme"):
        with pytest.raises(UnknownThread):
            door.answer(name, {"thread_id": "t", "kwargs": {"command": ANSWER}})


def test_a_forgotten_thread_takes_no_run_and_no_answer_at_the_door(start: OpenApp) -> None:
    app = start()
    app.ask("Rotate my key", as_="bea@acme", thread="t")
    app.forgetting.subject("bea@acme")
    door = Doorkeeper(KEYED, app.identity)
    asked = {"messages": [{"role": "user", "content": "Why is my API key not working?"}]}
    run, answer = {"thread_id": "t", "kwargs": {"input": asked}}, {"thread_id": "t", "kwargs": {"command": ANSWER}}
    for name, come in itertools.product(("bea@acme", "vera@acme", "ana@acme", "omar@globex"), (run, answer)):
        with pytest.raises(UnknownThread) as refused:
            (door.begin if come is run else door.answer)(name, come)
        assert isinstance(refused.value, ThreadForgotten) is (name == "bea@acme")


def test_studios_own_user_is_nobody(start: OpenApp) -> None:
    """Where a fork forgets `disable_studio_auth`, the server lets that user in: it may do nothing."""
    auth: Any = make_auth(Doorkeeper(KEYED, start().identity))
    user: Any = StudioUser("langgraph-studio-user")
    assert auth._handlers
    for (resource, action), handlers in auth._handlers.items():
        context = Auth.types.AuthContext(permissions=(), user=user, resource=resource, action=action)
        with pytest.raises(Auth.exceptions.HTTPException) as refused:
            asyncio.run(handlers[-1](ctx=context, value={}))
        assert refused.value.status_code == 403


def test_a_server_with_a_key_and_no_door_serves_nobody(home: Path) -> None:
    with open_app(settings(home), only_authenticated=True, clock=FakeClock(NOW)) as app:
        graph: Any = app.drawing.compile()
        given = {"messages": [{"role": "user", "content": "Why is my API key not working?"}]}
        thread = {"thread_id": "t"}
        for context in (None, {"principal": "ana@acme"}):
            with pytest.raises(NotAuthenticated, match=r"graph/auth\.py"):
                graph.invoke(given, {"configurable": thread}, context=context)
        user = {"configurable": {**thread, "langgraph_auth_user": {"identity": "ana@acme"}}}
        with pytest.raises(UnknownPrincipal):
            graph.invoke(given, user, context={"principal": "bea@acme"})
        assert graph.invoke(given, user)["task"]["status"] == "answered"
