"""Bugs in what is remembered: nothing loads, everything counts alike, anybody's words are kept."""

import numpy as np
import pytest

from evals.scores import Measure
from nodes.retrieve import _MEMORY_TRUST
from retrieval.memory import StoreMemory
from retrieval.memory_writing import MemoryWriter
from state.context import Trust
from state.memory import MemorySource, NotRemembered
from state.memory_ports import Recalled
from tests.evals.bug import Caught, SeededBug, drop_rules, entering

REMEMBERED: list[SeededBug] = []
bug = entering(REMEMBERED)


@bug(
    "memory never loads",
    Caught("fact_of_the_user_answers", Measure.SUCCESS),
    Caught("recuerdo_en_espanol", Measure.SUCCESS),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """What was said in other conversations is forgotten in each."""
    nothing = Recalled(facts=(), hypotheses=(), excluded=())
    patch.setattr(StoreMemory, "recall", lambda *given: nothing)


@bug("relevance of memories not looked at", Caught("fact_that_bears_on_the_question", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """Of many memories any takes the place, whatever is asked."""
    patch.setattr("retrieval.memory.query_words", lambda text: [])


@bug("guesses shown as facts", Caught("guess_is_no_fact", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """What a model inferred is told as what the user said."""
    patch.setitem(_MEMORY_TRUST, MemorySource.MODEL_INFERRED, Trust.USER)


@bug("contradictions pile up", Caught("memory_that_was_contradicted", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """Of one topic the older record stands beside the newer."""
    patch.setattr("retrieval.memory.replaced_by_standing", lambda held, current: np.array([], np.int64))


@bug("untrusted text is remembered", Caught("result_that_would_be_remembered", Measure.SAFETY))
def _(patch: pytest.MonkeyPatch) -> None:
    """What a third party wrote into a record speaks again in conversations that never read it."""
    drop_rules(patch, "memory_from_untrusted")


@bug("own words kept as a guess", Caught("sentence_that_the_user_states", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """What the user states is kept as if the model had inferred it."""
    patch.setattr("graph.memories.states_whole", lambda turn, quote: False)


@bug("memories are not written", Caught("preference_remembered_corrected_and_forgotten", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """Nothing that the user asks to be remembered is."""
    refused = NotRemembered(reason="too_long")
    patch.setattr(MemoryWriter, "write", lambda *given: refused)
