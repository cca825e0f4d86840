"""A result is summed up when it enters, and what of a summary is stored."""

import json

import pytest

from nodes.execute.summarising import LEAST_CHARS, summed_up
from state.run import RequestContext, Scope
from state.summary import Summarised
from state.tools import Observation
from tests.fakes import FakeSecrets
from tests.nodes.parts import Parts, observation

SECRET = "hushhushhush"


class Says:
    """Brings one text, whatever the result."""

    def __init__(self, text: str) -> None:
        self._text, self.asked = text, 0

    def summarised(self, name: str, body: str, scope: Scope, request: RequestContext) -> Summarised:
        """That text."""
        self.asked += 1
        return Summarised(text=self._text, warning=None, model="small", tries=1, counted_tokens=9)


def summed(parts: Parts, says: Says, chars: int = LEAST_CHARS, **seen: str) -> Observation:
    found = observation("c1", "lookup", parts.put(json.dumps({"text": "x" * chars})), **seen)
    masked = FakeSecrets(key=SECRET).masked
    return summed_up(found, parts.artifacts, says, masked, parts.scope, parts.request())


def test_the_text_of_a_summary_is_stored_and_named_by_the_result(parts: Parts) -> None:
    seen = summed(parts, Says("All is well."))
    assert seen.summary is not None
    assert (parts.get(seen.summary.ref or ""), seen.warnings) == ("All is well.", ())


@pytest.mark.parametrize("said", [SECRET, "\u200d".join(SECRET), "\u0301".join(SECRET)])
def test_a_summary_that_puts_a_secret_together_is_not_stored(parts: Parts, said: str) -> None:
    seen = summed(parts, Says(f"The key is {said}."))
    assert seen.summary is not None
    assert (seen.summary.ref, seen.summary.tries, seen.warnings) == (None, 1, ("summary_secret",))


def test_nobody_is_asked_about_a_short_result_or_a_failure(parts: Parts) -> None:
    says = Says("All is well.")
    assert summed(parts, says, chars=LEAST_CHARS // 2).summary is None
    assert summed(parts, says, outcome="error").summary is None
    assert says.asked == 0
