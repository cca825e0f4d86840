"""execute by the terms of a contract: time, tries, failures, looking afterwards, rates, the last result (L7, S7)."""

import threading
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest

from state.contract import Failed, FailureMode, OutputField, Rate
from state.tools import Tool, ToolError
from tests.desk import POLICY
from tests.fakes import NOW
from tests.nodes.executing import REFUND, allowed, body, executed
from tests.nodes.parts import Parts

LOOK: dict[str, Any] = {"order": "A1"}
STATES = (OutputField(name="order", trust="system"), OutputField(name="state", trust="system"))


class Line:
    """A tool that ends each call as the next of its script says."""

    def __init__(self, *ends: Any) -> None:
        self.ends, self.keys = list(ends), []  # type: ignore[var-annotated]  # of the contexts it was given

    def __call__(self, context: Any, **arguments: Any) -> Any:
        self.keys.append(context.idempotency_key)
        end = self.ends.pop(0)
        if isinstance(end, Exception):
            raise end
        return end


def looking(parts: Parts, run: Callable[..., Any], **terms: Any) -> Any:
    """The observation of a read with these terms."""
    parts.desk.replace("lookup", run, **{"output": STATES, **terms})
    (seen,) = executed(parts, parts.act(("c1", "lookup", LOOK)), allowed(parts, "lookup", LOOK))
    return seen


def doing(parts: Parts, run: Callable[..., Any], back: Callable[..., Any] | None = None, **terms: Any) -> Any:
    """The observation of a write with these terms."""
    parts.desk.replace("refund", run, **{"reads_back": back is not None, **terms})
    tool = parts.desk.tools["refund"]
    parts.desk.tools["refund"] = Tool(tool.contract, tool.run, back)
    (seen,) = executed(parts, parts.act(("c1", "refund", REFUND)), allowed(parts, "refund", REFUND))
    return seen


BUSY = (FailureMode(code="busy", passing=True),)
SHIPPED = {"order": "A1", "state": "shipped"}


def test_a_passing_failure_is_tried_again_with_growing_pauses(parts: Parts) -> None:
    line = Line(ToolError("busy"), ToolError("busy"), SHIPPED)
    seen = looking(parts, line, failures=BUSY, retries=2)
    assert (seen.outcome, seen.tries, parts.slept) == ("ok", 3, [0.2, 0.4])


@pytest.mark.parametrize(
    ("error", "terms"),
    [
        pytest.param(ToolError("busy"), {"failures": BUSY, "retries": 0}, id="no retries"),
        pytest.param(ToolError("gone"), {"failures": BUSY, "retries": 2}, id="another failure"),
        pytest.param(ToolError("busy"), {"retries": 2}, id="an undeclared failure"),
        pytest.param(OSError("disk"), {"failures": BUSY, "retries": 2}, id="an exception"),
    ],
)
def test_what_will_not_pass_is_not_tried_again(parts: Parts, error: Exception, terms: dict[str, Any]) -> None:
    seen = looking(parts, Line(error, SHIPPED), **terms)
    assert (seen.outcome, seen.tries, parts.slept) == ("error", 1, [])


def test_a_write_is_tried_again_only_if_idempotent_and_with_one_key(parts: Parts) -> None:
    again = Line(ToolError("busy"), {"order": "A1", "amount": 50})
    seen = doing(parts, again, idempotent=True, failures=BUSY, retries=1)
    assert (seen.outcome, seen.tries, len(again.keys), len(set(again.keys))) == ("ok", 2, 2, 1)
    once = Line(ToolError("busy"), {"order": "A1", "amount": 50})
    assert doing(Parts(), once, failures=BUSY, retries=1).outcome == "error"
    assert len(once.keys) == 1


def test_a_failure_that_leaves_the_effect_open_is_unknown(parts: Parts) -> None:
    lost = (FailureMode(code="lost", undecided=True),)
    assert doing(parts, Line(ToolError("lost")), failures=lost).outcome == "unknown"
    assert looking(Parts(), Line(ToolError("lost")), failures=lost).outcome == "error"


class Hangs:
    """A tool that comes back only when it is let go."""

    def __init__(self) -> None:
        self.go, self.ended = threading.Event(), threading.Event()

    def __call__(self, context: Any, **arguments: Any) -> Any:
        self.go.wait(30)
        self.ended.set()
        return SHIPPED


@pytest.mark.parametrize(("call", "outcome"), [(looking, "error"), (doing, "unknown")], ids=["read", "write"])
def test_a_call_that_runs_out_of_time_is_left_alone(parts: Parts, call: Callable[..., Any], outcome: str) -> None:
    hangs = Hangs()
    seen = call(parts, hangs, timeout_s=0.05)
    assert (seen.outcome, seen.code, hangs.ended.is_set()) == (outcome, "timed_out", False)
    hangs.go.set()
    assert hangs.ended.wait(10)


H19: dict[str, tuple[Any, str, str | None]] = {
    "a failed status": ({"status": "failed", "detail": "card declined"}, "error", "declined"),
    "no error": ({"error": None, "rows": [1], "state": "shipped"}, "ok", None),
    "an error": ({"error": {"no": 7}, "state": "shipped"}, "error", "failed"),
    "no rows": ([], "empty", None),
    "no text": ("", "empty", None),
    "a text with the word": ("a.py:3: Error: none", "ok", None),
    "bytes": (b"\xff\x00", "error", "result_not_text"),
    "half a character": ("a\ud83db", "ok", None),
}


@pytest.mark.parametrize("name", H19)
def test_h19_results_are_told_apart_by_the_contracts_fields(parts: Parts, name: str) -> None:
    result, outcome, code = H19[name]
    output = (*STATES, OutputField(name="status"), OutputField(name="text"))
    failed = (Failed(field="status", values=("failed",), code="declined"), Failed(field="error"))
    seen = looking(parts, Line(result), output=output, failed=failed)
    assert (seen.outcome, seen.code) == (outcome, code)
    text = parts.get(seen.ref)
    assert "declined" not in text or code == "declined"
    assert "xff" not in text
    text.encode()


def test_h19_a_huge_log_keeps_its_end_and_says_where_all_of_it_is(parts: Parts) -> None:
    log = "👩\u200d💻 step\n" * 180_000 + "FATAL: disk full"
    seen = looking(parts, Line(log), output=(OutputField(name="text"),))
    assert (seen.outcome, seen.truncated) == ("ok", True)
    assert seen.total_bytes > 3_000_000
    assert body(parts, seen)["text"].endswith("FATAL: disk full")
    assert len(parts.get(seen.ref).encode()) < 8_300
    whole = parts.artifacts.named("t1", f"{seen.artifact_ref}/whole")
    assert whole is not None
    assert log.splitlines()[0] in parts.get(whole)


CHECKED = (
    OutputField(name="order", json_schema={"type": "string"}, required=True),
    OutputField(name="state", json_schema={"enum": ["shipped", "open"]}),
)


@pytest.mark.parametrize("result", [{"state": "shipped"}, {"order": 7}, [{"order": "A1"}, {"state": "open"}]])
def test_a_result_that_is_not_what_the_contract_says_is_no_result(parts: Parts, result: Any) -> None:
    seen = looking(parts, Line(result), output=CHECKED)
    assert (seen.outcome, seen.code, body(parts, seen).keys()) == (
        "error",
        "result_invalid",
        {"tool", "error", "artifact_ref"},
    )


def finds(result: Mapping[str, Any] | Exception | None) -> Callable[..., Any]:
    def back(context: Any, **arguments: Any) -> Any:
        if isinstance(result, Exception):
            raise result
        return result

    return back


DONE = {"order": "A1", "amount": 50}


@pytest.mark.parametrize(
    ("end", "back", "outcome", "code"),
    [
        pytest.param(DONE, finds(DONE), "ok", None, id="done and found"),
        pytest.param(DONE, finds(None), "unknown", "not_found_afterwards", id="done and not found"),
        pytest.param(DONE, finds(ToolError("down")), "ok", None, id="done, and nobody can look"),
        pytest.param(OSError(), finds(DONE), "ok", "found_afterwards", id="broke and was done"),
        pytest.param(OSError(), finds(None), "error", "tool_failed:OSError", id="broke and was not done"),
        pytest.param(OSError(), finds(OSError()), "unknown", "tool_failed:OSError", id="broke, and nobody can look"),
        pytest.param(ToolError("no"), finds(DONE), "error", "no", id="refused: there is nothing to look for"),
    ],
)
def test_a_write_is_looked_for_afterwards(
    parts: Parts, end: Any, back: Callable[..., Any], outcome: str, code: str | None
) -> None:
    seen = doing(parts, Line(end), back)
    assert (seen.outcome, seen.code) == (outcome, code)
    (row,) = parts.ledger.held.values()
    assert row.state == ("unknown" if outcome == "unknown" else "done")


@pytest.mark.parametrize(("found", "outcome"), [(DONE, "ok"), (None, "unknown")])
def test_a_claim_that_was_left_open_is_looked_for_and_not_run_again(parts: Parts, found: Any, outcome: str) -> None:
    verdict = allowed(parts, "refund", REFUND)
    parts.desk.replace("refund", Line(DONE))
    assert doing(parts, Line(OSError()), finds(OSError())).outcome == "unknown"
    line = Line(DONE)
    tool = parts.desk.tools["refund"]
    parts.desk.tools["refund"] = Tool(tool.contract, line, finds(found))
    (seen,) = executed(parts, parts.act(("c1", "refund", REFUND)), verdict.model_copy(update={"bound": _bound(parts)}))
    assert (seen.outcome, line.keys) == (outcome, [])


def _bound(parts: Parts) -> str:
    return allowed(parts, "refund", REFUND).bound


RATED = (Rate(policy_key="looks", per="actor", window_s=3600),)


def test_a_rate_counts_over_all_threads_and_ends_with_its_window(parts: Parts) -> None:
    parts.policy = POLICY.model_copy(update={"values": {"looks": 2}})
    line = Line(*[SHIPPED] * 4)
    found = []
    for number, wait_s in enumerate((0, 0, 0, 3601)):
        parts.clock.advance(wait_s)
        parts.desk.replace("lookup", line, output=STATES, rates=RATED)
        request: dict[str, Any] = {"parent": f"head-{number}", "now": NOW + timedelta(seconds=wait_s)}
        verdict = allowed(parts, "lookup", LOOK, **request)
        (seen,) = executed(parts, parts.act(("c1", "lookup", LOOK)), verdict, **request)
        found.append(seen.code)
    assert found == [None, None, "rate_exceeded", None]


def test_a_call_that_runs_again_after_a_crash_counts_once(parts: Parts) -> None:
    parts.policy = POLICY.model_copy(update={"values": {"looks": 1}})
    for _ in range(2):
        assert looking(parts, Line(SHIPPED), rates=RATED).outcome == "ok"


def test_costs_are_bounded_together(parts: Parts) -> None:
    parts.policy = POLICY.model_copy(update={"values": {"spend": 1.0}})
    costly = (Rate(policy_key="spend", per="turn", counts="cost"),)
    parts.desk.replace("lookup", Line(SHIPPED, SHIPPED), output=STATES, rates=costly, cost=0.6)
    other: dict[str, Any] = {"order": "A2"}
    calls = parts.act(("c1", "lookup", LOOK), ("c2", "lookup", other))
    seen = executed(parts, calls, allowed(parts, "lookup", LOOK), allowed(parts, "lookup", other, "c2"))
    assert [one.code for one in seen] == [None, "rate_exceeded"]


def test_where_a_read_fails_the_last_good_result_is_shown_with_its_time(parts: Parts) -> None:
    good = looking(parts, Line(SHIPPED), fallback="last_result")
    head = parts.filed(observations=(good,))
    parts.clock.advance(60)
    verdict = allowed(parts, "lookup", LOOK, parent=head)
    parts.desk.replace("lookup", Line(ToolError("down")))
    verdict = allowed(parts, "lookup", LOOK, parent=head)
    (seen,) = executed(parts, parts.act(("c1", "lookup", LOOK)), verdict, parent=head)
    assert (seen.outcome, seen.code) == ("error", "down")
    shown = body(parts, seen)
    assert (shown["state"], shown["error"], shown["as_of"]) == ("shipped", "down", NOW.isoformat())


def test_reads_that_stand_together_run_beside_each_other(parts: Parts) -> None:
    both = threading.Barrier(2, timeout=10)

    def meets(context: Any, **arguments: Any) -> Any:
        both.wait()
        return {"order": arguments["order"], "state": "shipped"}

    parts.desk.replace("lookup", meets, output=STATES)
    other: dict[str, Any] = {"order": "A2"}
    calls = parts.act(("c1", "lookup", LOOK), ("c2", "lookup", other))
    seen = executed(parts, calls, allowed(parts, "lookup", LOOK), allowed(parts, "lookup", other, "c2"))
    assert [body(parts, one)["order"] for one in seen] == ["A1", "A2"]


def test_effects_run_one_at_a_time_in_the_proposals_order(parts: Parts) -> None:
    running: list[str] = []

    def alone(context: Any, **arguments: Any) -> Any:
        running.append(f"begin {arguments['amount']}")
        running.append(f"end {arguments['amount']}")
        return arguments

    parts.desk.replace("refund", alone)
    amounts = (5, 6, 7)
    calls = parts.act(*[(f"c{n}", "refund", {"order": "A1", "amount": n}) for n in amounts])
    verdicts = [allowed(parts, "refund", {"order": "A1", "amount": n}, f"c{n}") for n in amounts]
    executed(parts, calls, *verdicts)
    assert running == [f"{word} {n}" for n in amounts for word in ("begin", "end")]
