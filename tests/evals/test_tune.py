"""`agent tune`: folds, held-out gains, and a refusal of what does not pay; labelled files and their errors."""

from pathlib import Path

import pytest

from evals.retrieval_bench.labelled import LabelledWrong, read_labelled
from evals.retrieval_bench.quality import difference, judged
from evals.retrieval_bench.tune import Prepared, tune
from retrieval.fuse import Fused
from retrieval.gather import Reading
from retrieval.ranking import Ranking, RankingUnusable, RerankerName


class Fixed:
    """A reading that is never asked: the names below come from the ranking alone."""

    def ranked(self, weight: float, ranking: Ranking) -> tuple[Fused, ...]:
        raise AssertionError


def prepared(number: int, *, pays: bool) -> Prepared:
    def named(_: Reading, ranking: Ranking) -> list[str]:
        reader = ranking.reranker is not RerankerName.NONE
        good = reader if pays else number % 2 == 0
        return ["right", "wrong"] if good else ["wrong", "right"]

    return Prepared(("right",), Fixed(), Fixed(), named)


def test_what_gains_on_held_out_questions_is_kept() -> None:
    tuned = tune([prepared(n, pays=True) for n in range(20)], RerankerName.MAXSIM)
    last = tuned.steps[-1]
    assert (last.name, last.kept, last.held_out.ndcg_10) == ("reranker maxsim", True, 1.0)
    assert tuned.ranking.reranker is RerankerName.MAXSIM
    assert last.gain_ndcg.pays


def test_what_does_not_pay_is_refused() -> None:
    tuned = tune([prepared(n, pays=False) for n in range(20)], RerankerName.MAXSIM)
    assert [step.kept for step in tuned.steps] == [True, False, False, False, False]
    assert tuned.ranking == Ranking()


def test_without_a_reranker_none_is_tried() -> None:
    tuned = tune([prepared(n, pays=True) for n in range(10)], RerankerName.NONE)
    assert len(tuned.steps) == 4


def test_too_few_questions_are_refused() -> None:
    with pytest.raises(ValueError, match="got 3 labelled questions; allowed: at least 5"):
        tune([prepared(n, pays=True) for n in range(3)], RerankerName.NONE)


def test_measures_of_a_ranked_list() -> None:
    scored = judged(["x", "a", "x", "b"], ["a", "b"])
    assert scored.recall_5 == 1.0
    assert scored.reciprocal_rank == 0.5
    assert scored.ndcg_10 == pytest.approx((1 / 1.584963 + 1 / 2) / (1 + 1 / 1.584963), abs=1e-5)


def test_a_difference_within_noise_pays_nothing() -> None:
    noisy = difference([0.0, 1.0] * 10, [1.0, 0.0] * 10)
    assert (noisy.pays, noisy.costs) == (False, False)
    assert difference([1.0] * 5, [0.0] * 5).pays


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("", "got no question", id="empty"),
        pytest.param("{}", "line 1: question: Field required", id="no question"),
        pytest.param('{"question": "a", "relevant": []}', "line 1: relevant", id="no label"),
        pytest.param("\n[1]", "line 2: the line", id="no object"),
        pytest.param('{"question": "a", "relevant": ["b"], "other": 1}', "line 1: other", id="unknown key"),
    ],
)
def test_a_wrong_file_of_questions_says_which_line(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "labelled.jsonl"
    file.write_text(text, "utf-8")
    with pytest.raises(LabelledWrong, match=told):
        read_labelled(file)


def test_a_tuned_file_is_read_back_and_a_broken_one_refused(tmp_path: Path) -> None:
    file = tmp_path / "ranking.json"
    file.write_text(Ranking(lexical=2, reranker=RerankerName.MAXSIM).model_dump_json(), "utf-8")
    assert Ranking.read(file) == Ranking(lexical=2, reranker=RerankerName.MAXSIM)
    file.write_text('{"lexcal": 2}', "utf-8")
    with pytest.raises(RankingUnusable, match="allowed keys: dense, lexical"):
        Ranking.read(file)
