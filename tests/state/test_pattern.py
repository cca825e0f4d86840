"""Patterns that a text can make run for long are refused at contracting; those that are used are not."""

import re

import pytest

from state.checks.pattern import PatternRefused, check_pattern


@pytest.mark.parametrize(
    "pattern",
    [
        "^A-[0-9]{3}$",
        r"^toolrun://[!-~]{1,200}$",
        "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
        r"^[^\s@]+@[^\s@]+$",
        "^[a-z][a-z0-9]*(-[a-z0-9]+)*$",
        r"^-?\d+(\.\d+)?$",
        "^(?:red|green|blue)$",
        "red|green",
        r"^\$[0-9]+\$$",
        "^[à-ï]+$",
        "",
        "^.*$",
        "[0-9]{1,3}x",
    ],
)
def test_a_pattern_with_one_way_to_match_is_taken(pattern: str) -> None:
    check_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("^(a+)+$", "several ways"),
        ("^(a|a)*$", "several ways"),
        ("^(a|ab)*$", "several ways"),
        ("^([a-z]+)*x$", "several ways"),
        (r"^(\w+\s?)*$", "several ways"),
        (r"^\d*\d*x$", "several ways"),
        ("^.*x.*y$", "several ways"),
        ("^[à-ï]+è$", "several ways"),
        (r"^\w+é$", "several ways"),
        (r"^[\u00e0-\u00ef]+\u00e8$", "several ways"),
        ("^(a?){30}a{30}$", "may be empty is repeated"),
        ("^(a{1,9}){1,9}$", "more than 10,000 steps"),
        ("^a{0,99}a{0,99}a{0,99}$", "more than 10,000 steps"),
        ("^(a{1000}){1000}$", "more than 10,000 steps"),
        ("[a-z]+x", "begin it with"),
        ("^(?=a)a$", "looks around"),
        ("^(?P<x>a)$", "names a group"),
        (r"^(a)\1$", "allowed: literals"),
        ("^a+?b$", "lazy"),
        ("^a++b$", "possessive"),
        ("^a|b$", "in a group"),
        ("^a^b$", "allowed: literals"),
        ("([", "no pattern"),
        ("a)", "no pattern"),
        (r"\p{L}", "no pattern"),
    ],
)
def test_one_that_a_text_can_slow_down_is_refused(pattern: str, why: str) -> None:
    with pytest.raises(PatternRefused, match=re.escape(why)):
        check_pattern(pattern)
