"""The policy in force: the newest version that has begun."""

from datetime import UTC, datetime, timedelta

import pytest

from state.policy import Policy, PolicyMissing, effective


def version(name: str, month: int) -> Policy:
    return Policy(version=name, effective_from=datetime(2026, month, 1, tzinfo=UTC), approver_roles=("lead",))


JANUARY, MARCH, MAY = version("january", 1), version("march", 3), version("may", 5)
BEGINS = MARCH.effective_from
TICK = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        pytest.param(BEGINS - TICK, JANUARY, id="until the next one begins"),
        pytest.param(BEGINS, MARCH, id="at its first moment"),
        pytest.param(BEGINS + TICK, MARCH, id="after it"),
        pytest.param(BEGINS.replace(year=2031), MAY, id="the newest holds on"),
    ],
)
@pytest.mark.parametrize("policies", [(JANUARY, MARCH, MAY), (MAY, MARCH, JANUARY), (MARCH, MAY, JANUARY)])
def test_the_newest_that_has_begun_is_in_force(policies: tuple[Policy, ...], now: datetime, expected: Policy) -> None:
    assert effective(policies, now) is expected


@pytest.mark.parametrize("policies", [(), (MAY,)])
def test_without_a_policy_in_force_nothing_goes_on(policies: tuple[Policy, ...]) -> None:
    with pytest.raises(PolicyMissing, match=r"2026-03-01T00:00:00\+00:00; add one"):
        effective(policies, BEGINS)
