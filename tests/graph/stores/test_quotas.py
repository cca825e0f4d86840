"""The contract of the port Quotas (X8): what calls took together never passes a bound, also across processes."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest

from graph.stores.engine import Database
from graph.stores.quotas import SqlQuotas
from state.checks.rates import bounds
from state.contract import Rate
from state.ports import Bound, Quotas
from state.run import Principal, RequestContext, Scope
from tests.desk import POLICY, Desk
from tests.fakes import NOW, FakeQuotas

HOUR = timedelta(hours=1)


def bound(name: str = "looks", most: float = 2, amount: float = 1, **changes: object) -> Bound:
    return Bound.model_validate({"name": name, "policy_key": "k", "most": most, "amount": amount, **changes})


@pytest.fixture
def quotas(place: Database | None) -> Quotas:
    return FakeQuotas() if place is None else SqlQuotas(place.everyday)


def test_a_bound_is_taken_until_nothing_is_left(quotas: Quotas) -> None:
    assert [quotas.take(f"c{n}", [bound()], NOW) for n in range(3)] == [None, None, bound()]
    assert quotas.used(bound()) == 2


def test_the_same_call_takes_once(quotas: Quotas) -> None:
    assert [quotas.take("c1", [bound(most=1)], NOW) for _ in range(3)] == [None] * 3
    assert quotas.used(bound()) == 1


def test_of_several_bounds_all_are_taken_or_none(quotas: Quotas) -> None:
    tight = bound("tight", most=0)
    assert quotas.take("c1", [bound("wide", most=9), tight], NOW) == tight
    assert quotas.used(bound("wide")) == 0


def test_what_was_taken_before_the_window_does_not_count(quotas: Quotas) -> None:
    assert quotas.take("c1", [bound(most=1, since=NOW - HOUR)], NOW) is None
    assert quotas.take("c2", [bound(most=1, since=NOW - HOUR)], NOW) is not None
    assert quotas.take("c3", [bound(most=1, since=NOW)], NOW + HOUR) is None


def test_costs_add_up(quotas: Quotas) -> None:
    costly = bound(most=1.0, amount=0.4)
    assert [quotas.take(f"c{n}", [costly], NOW) is None for n in range(3)] == [True, True, False]


def test_what_was_used_after_all_is_entered_beyond_the_bound(quotas: Quotas) -> None:
    assert quotas.take("c1", [bound()], NOW) is None
    for _ in range(2):
        quotas.enter("c1/back", [bound(amount=5)], NOW)
    assert quotas.used(bound()) == 6
    quotas.enter("c2/back", [bound(amount=-1)], NOW)
    assert quotas.used(bound()) == 5
    assert quotas.take("c2", [bound()], NOW) == bound()


def test_calls_at_once_do_not_share_the_rest(database: Database) -> None:
    quotas = SqlQuotas(database.everyday)
    both = [bound("a", most=5), bound("b", most=50)]
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda n: quotas.take(f"c{n}", both if n % 2 else both[::-1], NOW), range(24)))
    assert (taken.count(None), quotas.used(both[0]), quotas.used(both[1])) == (5, 5, 5)


def bounds_of(at: datetime, tenant: str = "t1", name: str = "mia@t1", thread: str = "T") -> dict[int, Bound]:
    """The bounds of a tool with two rates of one value over two windows, each by its window."""
    person = Principal(name=name, tenant=tenant, roles=("agent",))
    windows = (60, 86_400)
    rates = tuple(Rate(policy_key="calls", per="actor", window_s=window) for window in windows)
    contract = Desk().contracts["lookup"].model_copy(update={"rates": rates})
    request = RequestContext(
        request_id="r", now=at, locale="en", message_id="m", turn_ref="ref", turn_index=1, parent=None
    )
    policy = POLICY.model_copy(update={"values": {"calls": 5}})
    made = bounds(contract, {}, Scope(principal=person, actor=person, thread=thread), request, policy, request.now)
    return dict(zip(windows, made, strict=True))


def test_a_short_window_forgets_nothing_that_a_long_one_of_the_same_value_counts(quotas: Quotas) -> None:
    moments = [NOW + timedelta(minutes=2 * number) for number in range(20)]
    taken = [quotas.take(f"c{at}", tuple(bounds_of(at).values()), at) is None for at in moments]
    assert taken == [True] * 5 + [False] * 15
    assert quotas.used(bounds_of(moments[-1])[86_400]) == 5


def test_a_name_of_a_bound_is_read_in_one_way_only() -> None:
    one, other = bounds_of(NOW, tenant="a", name="b/c")[60], bounds_of(NOW, tenant="a/b", name="c")[60]
    assert one.name != other.name
