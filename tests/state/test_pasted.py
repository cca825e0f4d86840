"""What a user's turn repeats of others is taken out of it, however long it is."""

import time

import pytest

from state.checks.pasted import without_pasted, without_quoted


@pytest.mark.parametrize(
    "part",
    ["> a\n", "```", "on a wrote", "on a wrote:\n", "From: x\n", '"a ', "“a b", "„a b", "«a b", "-- original ", "'''"],
)
def test_a_long_turn_is_read_in_a_moment(part: str) -> None:
    started = time.process_time()
    without_quoted(without_pasted(part * 20_000))
    assert time.process_time() - started < 2.0


@pytest.mark.parametrize(
    "text", ["Move it to 5 > 3.", "On Monday write to Ana.", "From: Rome. To: Oslo", "Pay `Bob`", "-- Ana"]
)
def test_a_turn_of_the_users_own_stays_whole(text: str) -> None:
    assert without_pasted(text) == text
