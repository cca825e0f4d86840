"""`agent tools`: the contracts in a terminal of 80 columns, as JSON, and one of them alone."""

from tests.graph.cli.conftest import SameProgram, one_line_error


def test_every_contract_is_told_within_80_columns(same: SameProgram) -> None:
    done = same("tools")
    assert (done.code, done.err) == (0, "")
    assert max(len(line) for line in done.out.splitlines()) <= 80
    for told in ("rotate_api_key", "roles     admin", "amount at most credit_limit, else a person is asked"):
        assert told in done.out


def test_one_contract_alone_as_json_has_all_terms(same: SameProgram) -> None:
    found = same("tools", "issue_credit", "--json").json()
    (told,) = found["tools"]
    assert told["contract"]["name"] == "issue_credit"
    assert told["limits"][0] == {
        "rule": "amount at most credit_limit, else a person is asked",
        "policy_key": "credit_limit",
        "value": 50,
    }
    assert told["decisions"] == ["act/credit"]


def test_an_unknown_name_says_which_there_are(same: SameProgram) -> None:
    said = one_line_error(same("tools", "no_such_tool"), 2)
    assert "got the tool 'no_such_tool'; allowed: check_api_key_status, " in said
