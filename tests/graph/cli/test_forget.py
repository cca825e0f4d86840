"""`agent forget` as whoever runs the machine calls it."""

from pathlib import Path

import pytest

from tests.graph.cli.conftest import QUESTION, ROTATE, SameProgram, one_line_error

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


@pytest.mark.parametrize("more", [(), ("--dry-run",)], ids=["done", "dry run"])
@pytest.mark.parametrize(
    ("subject", "tenant"),
    [("anna@acme", ()), ("A-99999", ()), ("", ()), ("ana@acme", ("--tenant", "globex"))],
    ids=["a principal", "an account", "nothing", "another tenant's"],
)
def test_a_name_of_which_nothing_is_known_is_told_and_nothing_else(
    same: SameProgram, subject: str, tenant: tuple[str, ...], more: tuple[str, ...]
) -> None:
    done = same("forget", "--subject", subject, *tenant, *more)
    told = one_line_error(done, 1)
    where = " in tenant 'globex'" if tenant else ""
    assert f"got subject {subject!r}, of whom nothing is known{where}; allowed: a principal or an account" in told
    assert done.out == ""
    assert "acme" not in told.replace(subject, "")
    assert same("replay", "first", "0", *AS).code == 0
    assert same("forget", "--subject", subject, *tenant, *more, "--json").json()["status"] == "failed"


def test_whoever_the_domain_knows_is_known_though_nothing_is_kept(same: SameProgram) -> None:
    for subject in ("omar@globex", "vera@acme"):
        same("forget", "--subject", subject)
        assert same("forget", "--subject", subject).code == 0
    assert "Nothing is kept of it" in same("forget", "--subject", "vera@acme").out


def test_a_call_that_waits_is_told_before_and_when_its_thread_is_forgotten(same: SameProgram) -> None:
    assert same("ask", ROTATE, "--as", "bea@acme", "--thread", "waits").code == 3
    bea = ("forget", "--subject", "bea@acme")
    assert same(*bea, "--dry-run", "--json").json()["waiting"] == {"waits": 1}
    would, done = same(*bea, "--dry-run"), same(*bea)
    assert (would.code, done.code) == (0, 0)
    assert "waiting   1 approval waits on thread waits and would never be answered" in would.out
    assert "waiting   1 approval waits on thread waits and will never be answered" in done.out
    assert "waiting" not in same(*bea).out


def test_a_recording_is_named_since_nothing_in_it_says_whose_it_is(same: SameProgram, tmp_path: Path) -> None:
    recording = tmp_path / "replies.jsonl"
    recording.write_text("")
    assert same("forget", "--subject", "omar@globex", "--json").json()["left"] == []
    told = same("forget", "--subject", "ana@acme", "--json", EXPEDIENTE_RECORDING=str(recording))
    assert told.code == 4
    (left,) = told.json()["left"]
    assert left.startswith(f"{recording}: a recording of model replies, which names nobody and is not searched; delete")


def test_an_event_does_not_wait_on_a_thread_that_was_forgotten(same: SameProgram) -> None:
    same("notify", "incident_began", "INC-302", "--tenant", "acme")
    same("forget", "--subject", "ana@acme")
    told = " ".join(same("events", "first", *AS).out.split())
    assert told.endswith("incident_began INC-302: is not told here (any more): the thread was forgotten")
