"""`agent forget` as whoever runs the machine calls it."""

from tests.graph.cli.conftest import QUESTION, SameProgram, one_line_error

AS = ("--as", "ana@acme")


def test_it_says_what_would_go_and_what_went_and_then_nothing(same: SameProgram) -> None:
    would = same("forget", "--subject", "ana@acme", "--dry-run", "--json")
    assert (would.code, would.json()["dry_run"], would.json()["threads"]) == (0, True, ["first"])
    assert same("replay", "first", "0", *AS).code == 0
    done = same("forget", "--subject", "ana@acme")
    assert done.code == 0
    assert "  removed   1 thread: first\n" in done.out
    assert "bodies: " in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    assert "Nothing is kept of it (any more)." in same("forget", "--subject", "ana@acme").out


def test_what_is_left_of_a_thread_is_shown_as_erased(same: SameProgram) -> None:
    same("forget", "--subject", "ana@acme")
    shown = same("show", "first", *AS)
    assert shown.code == 0
    assert "(erased)" in shown.out
    assert "forgotten on " in shown.out
    verified = same("verify", "first", *AS)
    assert (verified.code, verified.out.splitlines()[-1]) == (0, "nothing was changed")
    assert "erased  decision 0: the user's turn" in verified.out
    assert "gone      objective (turn://1)" in same("replay", "first", "0", *AS).out
    assert same("show", "first", "--tree", *AS).code == 0
    refused = one_line_error(same("ask", QUESTION, "--thread", "first", *AS), 2)
    assert "it takes no new question; start another thread" in refused


def test_an_account_names_whose_threads_are_not_its_own(same: SameProgram) -> None:
    done = same("forget", "--subject", "A-123", "--dry-run")
    assert "4 memories" in done.out
    assert "Threads of ana@acme" in done.out


def test_expired_says_what_the_policy_keeps(same: SameProgram) -> None:
    done = same("forget", "--expired", "--dry-run")
    assert done.code == 0
    assert "conversations 90 days" in " ".join(done.out.split())


def test_one_of_both_must_be_said(same: SameProgram) -> None:
    assert "allowed: one of them" in one_line_error(same("forget"), 2)
    assert "allowed: one of them" in one_line_error(same("forget", "--expired", "--subject", "x"), 2)
