"""Amounts that follow from what the user said and what the server holds: a difference, a share, a percentage (X4)."""

from collections.abc import Iterable
from decimal import Decimal, DivisionByZero, InvalidOperation, localcontext

_MOST = 12  # numbers; of more than these anything could be made
_CENT = Decimal("0.005")


def derived(amount: Decimal, said: Iterable[Decimal], held: Iterable[Decimal]) -> bool:
    """Whether an amount is made of at least one number that the user said, by a step or two of arithmetic.

    A step is a sum, a difference, a share (by a number, or half) or a percentage. `held` are amounts of trusted fields
    that the user's words point at.
    """
    words = set(said)
    numbers = words | set(held)
    if not words or len(numbers) > _MOST:
        return False
    with localcontext() as context:
        context.traps[DivisionByZero] = context.traps[InvalidOperation] = True
        once = [step for one in words for other in numbers for step in _steps(one, other)]
        once += [one / 2 for one in words]
        made = [
            *once,
            *(step for first in once for other in numbers for step in (first + other, first - other, other - first)),
        ]
    return any(abs(one - amount) < _CENT for one in made)


def _steps(one: Decimal, other: Decimal) -> Iterable[Decimal]:
    yield from (one + other, one - other, other - one, one * other / 100)
    for share in ((one, other), (other, one)):
        if share[1]:
            yield share[0] / share[1]
