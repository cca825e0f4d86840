"""Travel: directories of hotels, restaurants, car rentals and flights, whose reviews anybody writes."""

from collections.abc import Mapping
from typing import Any

from evals.agentdojo.suites import calendar, mail
from evals.agentdojo.terms import DONE, Result, Terms, by_name, control, directory, done, foreign, lines, own, server
from state.contract import Effect, OutputField

_BEST = {"most": ("highest", "best", "top"), "least": ("lowest", "worst")}
_PRICE = {"most": ("priciest", "most expensive", "expensive"), "least": ("cheapest", "lowest price")}
_RESERVE = ("reserv", "book")


def _rated(name: str) -> Any:
    def typed(result: Any, arguments: Mapping[str, Any]) -> Result:
        rows: list[Mapping[str, Any]] = []
        for key, text in result.items():
            rating, _, reviews = text.removeprefix("Rating: ").partition("\nReviews: ")
            rows.append({name: key, "rating": float(rating), "reviews": reviews})
        return rows

    return typed


def _priced(result: Any, arguments: Mapping[str, Any]) -> Result:
    rows: list[Mapping[str, Any]] = []
    for key, text in result.items():
        low, _, high = text.removeprefix("Price range: ").partition(" - ")
        rows.append({"hotel": key, "price_min": float(low), "price_max": float(high)})
    return rows


def _flights(result: Any, arguments: Mapping[str, Any]) -> Result:
    rows: list[Mapping[str, Any]] = []
    for line in str(result).splitlines():
        parts = dict(part.split(": ", 1) for part in line.split(", ") if ": " in part)
        rows.append({name.lower().replace(" ", "_"): value for name, value in parts.items()})
    return rows


def _user(result: Any, arguments: Mapping[str, Any]) -> Result:
    return {name.lower().replace(" ", "_"): value for name, value in result.items()}


def _thing(kind: str, *fields: OutputField) -> tuple[OutputField, ...]:
    return (directory(kind, identifies=kind), *fields)


def _of(kind: str, city: str, each: Mapping[str, str], rated: str) -> dict[str, Terms]:
    """The reads on one kind of thing: all in a city, one fact about each, ratings with reviews."""
    rating = _thing(kind, server("rating", **_BEST), *foreign("reviews"))
    return {
        city: Terms(Effect.READ, _thing(kind, directory("city")), lines(kind, city="city")),
        rated: Terms(Effect.READ, rating, _rated(kind)),
        **{
            tool: Terms(
                Effect.READ,
                _thing(kind, server(name, **_PRICE) if name.startswith("price") else directory(name)),
                by_name(kind, name),
            )
            for tool, name in each.items()
        },
    }


TERMS = {
    "get_user_information": Terms(
        Effect.READ,
        (
            *(own(name) for name in ("first_name", "last_name", "email", "phone_number", "address")),
            *(
                own(name, private=True)
                for name in ("id_number", "passport_number", "bank_account_number", "credit_card_number")
            ),
        ),
        _user,
    ),
    **_of(
        "hotel",
        "get_all_hotels_in_city",
        {"get_hotels_address": "address"},
        "get_rating_reviews_for_hotels",
    ),
    "get_hotels_prices": Terms(
        Effect.READ, _thing("hotel", server("price_min", **_PRICE), server("price_max", **_PRICE)), _priced
    ),
    **_of(
        "restaurant",
        "get_all_restaurants_in_city",
        {
            "get_cuisine_type_for_restaurants": "cuisine",
            "get_restaurants_address": "address",
            "get_dietary_restrictions_for_all_restaurants": "dietary",
            "get_contact_information_for_restaurants": "contact",
            "get_price_for_restaurants": "price",
            "check_restaurant_opening_hours": "hours",
        },
        "get_rating_reviews_for_restaurants",
    ),
    **_of(
        "company",
        "get_all_car_rental_companies_in_city",
        {
            "get_car_types_available": "types",
            "get_car_fuel_options": "fuel",
            "get_car_rental_address": "address",
            "get_car_price_per_day": "price",
        },
        "get_rating_reviews_for_car_rental",
    ),
    "get_flight_information": Terms(
        Effect.READ,
        (
            directory("flight_number", identifies="flight"),
            *(directory(name) for name in ("airline", "departure_time", "arrival_time", "contact_information")),
            server("price", **_PRICE),
        ),
        _flights,
    ),
    "reserve_hotel": Terms(
        Effect.WRITE,
        DONE,
        done,
        {"hotel": control("target", "hotel"), "start_day": control("day"), "end_day": control("day")},
        (_RESERVE,),
    ),
    "reserve_restaurant": Terms(
        Effect.WRITE,
        DONE,
        done,
        {"restaurant": control("target", "restaurant"), "start_time": control("time")},
        (_RESERVE,),
    ),
    "reserve_car_rental": Terms(
        Effect.WRITE,
        DONE,
        done,
        {"company": control("target", "company"), "start_time": control("time"), "end_time": control("time")},
        (("reserv", "book", "rent"),),
    ),
    **calendar.TERMS,
    "send_email": mail.TERMS["send_email"],
}
