"""What a running process worked out of texts is gone with them (X7): no cache of the checks holds a word of it."""

import gc
import sys
from collections.abc import Iterator
from functools import _lru_cache_wrapper
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.desk import AGENT, Desk
from tests.fakes import FakeClock
from tests.graph.conftest import NOW
from tests.graph.order_desk import ENDS, message, order_desk


def checks() -> Iterator[ModuleType]:
    yield from (module for name, module in sys.modules.items() if name.startswith(("state.checks.", "nodes.validate")))


def held() -> Iterator[str]:
    """Every text that is reached from what the modules keep: their containers and the caches of their functions."""
    kept = [value for module in checks() for value in vars(module).values()]
    stack: list[Any] = [value for value in kept if isinstance(value, dict | list | set | _lru_cache_wrapper)]
    seen: set[int] = set()
    while stack:
        one = stack.pop()
        if id(one) in seen or isinstance(one, type | ModuleType) or one is sys.modules:
            continue
        seen.add(id(one))
        if isinstance(one, str):
            yield one
        elif not callable(one) or isinstance(one, _lru_cache_wrapper):
            stack += gc.get_referents(one)


def test_no_cache_holds_what_was_forgotten(tmp_path: Path) -> None:
    desk = Desk()
    desk.replace("get_invoice", lambda context, **given: {"invoice": "INV-9", "total": 40, "memo": "lighthouse-7 said"})
    reads = message(("c1", "get_invoice", {"id": "INV-9"}))
    pays = message(("c2", "refund", {"order": "A1", "amount": 50}))
    with order_desk(tmp_path, desk, (reads, pays, ENDS), FakeClock(NOW)) as app:
        app.ask("Nightingale-3 asks: what of INV-9, and of A1?", as_=AGENT.name, thread="T")
        before = {word for text in held() for word in ("lighthouse-7", "nightingale-3") if word in text.casefold()}
        app.forgetting.subject(AGENT.name)
        after = {word for text in held() for word in ("lighthouse-7", "nightingale-3") if word in text.casefold()}
    assert (before, after) == ({"lighthouse-7", "nightingale-3"}, set())
