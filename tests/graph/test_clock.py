"""Clocks and identifiers: the system's and the tests'."""

import re
from datetime import timedelta

import pytest

from graph.clock import RandomIds, SystemClock
from state.ports import Clock, Ids
from tests.fakes import FakeClock, SequentialIds


@pytest.mark.parametrize("clock", [SystemClock(), FakeClock()], ids=["system", "fake"])
def test_the_time_is_in_utc_and_never_runs_back(clock: Clock) -> None:
    first = clock.now()
    assert first.utcoffset() == timedelta(0)
    assert clock.now() >= first


def test_a_fake_clock_moves_when_told() -> None:
    clock = FakeClock()
    before = clock.now()
    assert clock.now() == before
    clock.advance(1.5)
    assert clock.now() - before == timedelta(seconds=1.5)


@pytest.mark.parametrize("ids", [RandomIds(), SequentialIds()], ids=["random", "sequential"])
def test_identifiers_are_fresh_and_name_their_kind(ids: Ids) -> None:
    made = [ids.new("req") for _ in range(1_000)]
    assert len(set(made)) == 1_000
    assert all(re.fullmatch(r"req-[0-9a-f]+", one) for one in made)
