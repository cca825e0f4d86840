"""How parts add up: best chunk of a document, what stands above the background, best parts summed."""

import numpy as np
import pytest

from retrieval.sums import Columns, above, summed, typical


def test_of_each_document_the_best_chunk_counts() -> None:
    columns = Columns(np.asarray([0, 1, 0]), 2)
    assert columns.best(np.asarray([[0.1, 0.5, 0.3], [0.0, 0.2, 0.1]])).tolist() == [[0.3, 0.5], [0.1, 0.2]]


def test_what_all_documents_have_in_common_says_nothing() -> None:
    table = np.asarray([[5.0, 5.0, 5.0, 5.0], [9.0, 2.0, 2.0, 1.0]])
    assert above(table, 3).tolist() == [[0.0] * 4, [7.0, 0.0, 0.0, 0.0]]


def test_where_there_are_few_documents_nothing_is_taken_off() -> None:
    assert above(np.asarray([[1.0, 2.0]]), 20).tolist() == [[1.0, 2.0]]


def test_only_the_best_parts_of_a_document_are_summed() -> None:
    table = np.asarray([[1.0, 3.0], [1.0, 0.0], [1.0, 0.0]])
    assert (summed(table, 2) * 2.5).tolist() == pytest.approx([2.0, 3.0])


def test_nothing_found_sums_to_nothing() -> None:
    assert typical(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]
