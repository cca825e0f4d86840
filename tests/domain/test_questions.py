"""The domain's own labelled questions: what answers is among the first five, and two branches lose nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import domain
from evals.retrieval_bench.corpora import NOW, LabelledSet, domain_set
from evals.retrieval_bench.labelled import read_labelled
from evals.retrieval_bench.prepare import prepare
from evals.retrieval_bench.stages import Measured, measured
from retrieval.embed import MiniLM

QUESTIONS = Path(domain.__file__).parent / "questions.jsonl"


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelledSet]:
    folder = tmp_path_factory.mktemp("questions")
    support = domain.load(folder, NOW)
    with domain_set(support, QUESTIONS, folder, MiniLM()) as opened:
        yield opened


@pytest.fixture(scope="module")
def stages(labelled: LabelledSet) -> Measured:
    return measured(labelled, prepare(labelled, None))


def test_there_are_sixty_questions_and_a_third_is_spanish() -> None:
    questions = read_labelled(QUESTIONS)
    spanish = [one for one in questions if one.language == "es"]
    assert len(questions) >= 60
    assert len(spanish) * 3 >= len(questions)


def test_every_label_names_a_document_that_its_asker_may_read(labelled: LabelledSet) -> None:
    missing = [
        (one.question, name)
        for one, access in labelled.questions
        for name in one.relevant
        if name not in {entry.document_id for entry in labelled.library.catalogue.admitted(access)}
    ]
    assert missing == []


def test_the_document_that_answers_is_among_the_first_five(stages: Measured) -> None:
    both = next(stage for stage in stages.stages if stage.name == "both")
    assert both.scored.recall_5 >= 0.95


def test_both_branches_together_are_not_worse_than_the_better_one(stages: Measured) -> None:
    both = next(stage for stage in stages.stages if stage.name == "both")
    assert not both.against_better_arm.costs
