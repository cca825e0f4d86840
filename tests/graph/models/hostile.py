"""What the tests of a hostile model server share: an app on one, replies for it, and what may stand nowhere."""

import json
from collections.abc import Callable
from typing import Any

from langchain_core.messages import HumanMessage

from graph.app import App
from state.request import Attempt
from tests.graph.models.stub_server import Answer, Stub, completion
from tests.graph.stored_bytes import stored

QUESTION = "Why is my API key not working?"
KEY = "sk-live-4f9d2c7b1a"
LEAK = "LEAKED-PHRASE-77"

Serve = Answer | Callable[[int], Answer]
Open = Callable[..., tuple[App, Stub]]


def kept(app: App) -> bytes:
    return b"".join(data for _, data in stored(app.settings.home, but=frozenset({"library"})))


def story(attempts: tuple[Attempt, ...]) -> list[tuple[str, str]]:
    return [(attempt.mode, attempt.outcome.name) for attempt in attempts]


def calls(*made: tuple[str, dict[str, Any]]) -> str:
    return json.dumps({"calls": [{"name": name, "arguments": arguments} for name, arguments in made]})


ESCALATE = calls(("escalate", {"reason": "A person has to look."}))
TEXT = {"model_modes": ("text",), "model_retries": 0}


def written(content: str | None, finish: str | None = "stop", **rest: Any) -> Answer:
    return completion({"content": content}, finish, **rest)


async def asked_without_a_thread(app: App) -> None:
    async with app.asynchronous() as graph:
        await graph.ainvoke(
            {"messages": [HumanMessage(QUESTION, id="m")]},
            {"configurable": {"thread_id": "t"}},
            context={"principal": "ana@acme"},
        )
