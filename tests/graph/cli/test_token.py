"""`agent token`: what it prints lets its bearer in, and what it refuses it says in one line."""

import pytest

from graph.access_token import LONGEST_TTL_S, read_token
from graph.settings import Settings
from tests.graph.cli.conftest import SameProgram, one_line_error

KEY = "a key of the tests, 32 characters or more"
KEYED = {"EXPEDIENTE_AUTH_KEY": KEY}


def test_a_token_stands_alone_on_standard_output_and_names_its_bearer(same: SameProgram) -> None:
    done = same("token", "bea@acme", **KEYED)
    assert (done.code, done.err) == (0, "")
    assert read_token(Settings.load(auth_key=KEY), done.out.removesuffix("\n")) == "bea@acme"


def test_with_json_a_token_comes_with_whose_it_is_and_until_when(same: SameProgram) -> None:
    found = same("token", "bea@acme", "--valid-for-s", "60", "--json", **KEYED).json()
    assert list(found) == ["principal", "token", "expires_at"]
    assert found["principal"] == read_token(Settings.load(auth_key=KEY), found["token"]) == "bea@acme"


def test_without_a_key_one_line_names_the_variable(same: SameProgram) -> None:
    error = one_line_error(same("token", "bea@acme"), 1)
    assert "EXPEDIENTE_AUTH_KEY: got nothing; allowed: at least 32 random characters; set it where" in error


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["zoe@acme"], "got principal 'zoe@acme', whom the domain does not know; `agent doctor` lists"),
        (["bea@acme", "--valid-for-s", "0"], f"got --valid-for-s 0; allowed: 1 to {LONGEST_TTL_S}"),
        (["bea@acme", "--valid-for-s", "9999999"], f"allowed: 1 to {LONGEST_TTL_S}; see `agent token --help`"),
    ],
    ids=["nobody", "no time", "too long"],
)
def test_a_token_that_cannot_be_is_one_line(same: SameProgram, arguments: list[str], said: str) -> None:
    assert said in one_line_error(same("token", *arguments, **KEYED), 2)


def test_a_token_is_issued_for_the_domain_of_the_home_only(same: SameProgram) -> None:
    (same.home / "of-domain").write_text("garden\n")
    assert "holds the data of domain 'garden'" in one_line_error(same("token", "bea@acme", **KEYED), 1)
