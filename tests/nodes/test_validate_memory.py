"""A memory that a decision was made from is looked at again when the decision is carried out (S6)."""

from datetime import timedelta
from typing import Any

import pytest

from state.context import Kind, Trust
from state.verdict import Allowed, Denied
from tests.desk import AGENT
from tests.fakes import NOW
from tests.nodes.parts import Parts
from tests.nodes.retrieving import memory as remembered
from tests.nodes.test_validate_approval import Waiting


@pytest.mark.parametrize("became", ["current", "ended", "replaced", "forgotten"])
def test_s6_what_was_decided_by_a_memory_is_not_done_once_it_is_not_current(parts: Parts, became: str) -> None:
    told = remembered("m-1", expires_at=NOW + timedelta(minutes=5))
    parts.memory.add(told)
    shown = parts.manifest(("m-1", Trust.USER, "memory://m-1", told.shown()), kind=Kind.MEMORY)
    lap: dict[str, Any] = {"manifest": shown, "decided": {"memory_purpose": "desk"}}
    waiting = Waiting(parts, **lap)
    match became:
        case "ended":
            parts.clock.advance(300)
        case "replaced":
            parts.memory.add(told.model_copy(update={"superseded_by": "m-2"}))
        case "forgotten":
            parts.memory.remove("t1", AGENT.name, ["m-1"])
    verdict = waiting.answered(waiting.say("approve"), **lap)
    if became == "current":
        assert isinstance(verdict, Allowed)
    else:
        assert isinstance(verdict, Denied)
        assert verdict.rule == "memory_lapsed"
