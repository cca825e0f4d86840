"""What a model's cosines say, as measured."""

from collections.abc import Sequence

import pytest

from retrieval.cosine_range import ASKED, measured_range
from retrieval.embed import MiniLM
from state.search import CosineRange


class Blind:
    """An embedder to which all texts are one."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0, 0.0] for _ in texts]

    embed_queries = embed


def test_the_measured_range_of_the_default_model_is_the_declared_one() -> None:
    found = measured_range(MiniLM())
    assert found.unrelated == pytest.approx(MiniLM.cosine_range.unrelated, abs=0.02)
    assert found.same == pytest.approx(MiniLM.cosine_range.same, abs=0.02)


def test_a_model_that_tells_nothing_apart_gets_the_cosines_as_they_are() -> None:
    assert measured_range(Blind()) == CosineRange(unrelated=0.0, same=1.0)


def test_every_question_has_an_answer_of_its_own() -> None:
    assert len({answer for _, answer in ASKED}) == len({question for question, _ in ASKED}) == len(ASKED) == 8
