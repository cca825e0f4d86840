"""Works out the credit that is due after an outage and writes it as one line of JSON."""

import argparse
import json
import math
from decimal import Decimal, InvalidOperation

TIMES_THE_HOUR = {"starter": 5, "pro": 10, "enterprise": 20}
HOURS_OF_A_MONTH = 720
FREE_HOURS = 1


def amount_of(text: str) -> Decimal:
    """A number that is not negative. Raises ArgumentTypeError."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise argparse.ArgumentTypeError(f"got {text!r}; allowed: a number such as 49 or 2.5") from None
    if not value.is_finite() or not 0 <= value <= 1_000_000:
        raise argparse.ArgumentTypeError(f"got {text!r}; allowed: 0 to 1000000")
    return value


def credit(plan: str, fee: Decimal, hours: Decimal) -> dict[str, object]:
    """Whether a credit is due for these hours, its amount in whole units, and why."""
    if hours <= FREE_HOURS:
        return {"due": False, "amount": 0, "why": f"{hours} h is not more than {FREE_HOURS} h in the month"}
    exact = fee / HOURS_OF_A_MONTH * TIMES_THE_HOUR[plan] * hours
    amount = min(math.ceil(exact), math.floor(fee))
    return {
        "due": amount > 0,
        "amount": amount,
        "why": f"{TIMES_THE_HOUR[plan]} x {fee}/{HOURS_OF_A_MONTH} x {hours} h",
    }


def main() -> None:
    """Read the command line and write the credit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plan", required=True, choices=sorted(TIMES_THE_HOUR))
    parser.add_argument("--fee", required=True, type=amount_of, help="The monthly fee.")
    parser.add_argument("--hours", required=True, type=amount_of, help="Hours of downtime in one month.")
    given = parser.parse_args()
    print(json.dumps(credit(given.plan, given.fee, given.hours)))  # noqa: T201  # what a script writes is its result


if __name__ == "__main__":
    main()
