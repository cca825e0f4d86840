"""What a model's summary of a result may say: what stands there as it is, and nothing that only its writer knows."""

import json

import pytest

from state.checks.summary import summary_fault

TEXT = 'PU-1 was quiet\nPU-2 lost 1,250.00 EUR on 2026-11-30\nsee https://ok.example/a\nshop.example wrote "INV-7"\n'
BODY = json.dumps({"text": TEXT + "Every pump was looked at during the night. " * 9, "rows": [{"meter": 120}]})


@pytest.mark.parametrize(
    "summary",
    [
        "PU-2 was looked at, INV-7 as well.",
        "PU-2 lost 1,250.00 EUR on 2026-11-30.",
        "The night is told of at https://ok.example/a.",
        "Every pump, by shop.example,\r\nat meter 120.",
    ],
)
def test_what_stands_in_the_result_may_be_said_wherever_it_stands_there(summary: str) -> None:
    assert summary_fault(summary, BODY) is None


@pytest.mark.parametrize(
    "summary",
    [
        "PU-2 lost 250 EUR during the night.",
        "PU-2 lost 1,250 EUR during the night.",
        "PU-2 lost 1,250.0 EUR during the night.",
        "Every pump at meter 12.",
        "Every pump at meter 1200.",
        "PU-3 was looked at.",
    ],
)
def test_a_part_of_a_figure_or_an_id_is_another_one(summary: str) -> None:
    assert summary_fault(summary, BODY) == "summary_unfaithful"


@pytest.mark.parametrize(
    "link",
    [
        "https://ok.example/b",
        "evil.example",
        "www.evil.example",
        "evil.example/take",
        "[here](//evil.example)",
        "javascript:alert(document)",
        '<img src="evil">',
    ],
)
def test_a_link_that_the_result_does_not_hold_is_not_said_in_any_form(link: str) -> None:
    assert summary_fault(f"Every pump was looked at: {link}", BODY) == "summary_unfaithful"


@pytest.mark.parametrize("hidden", ["\u200b", "\u202e", "\x1b[2J", "\x00"])
def test_what_nobody_sees_is_not_said(hidden: str) -> None:
    assert summary_fault(f"Every pump{hidden} was looked at.", BODY) == "summary_hidden_characters"
