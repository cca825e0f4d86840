"""What an effect wrote untrusted is untrusted when it comes back, however long ago it was written (S7)."""

import json

import pytest

from state.checks.kept import let_go
from state.context import Trust
from state.contract import Effect
from state.labels import Argument, Label, Traced
from state.verdict import Allowed, NeedsApproval
from tests.desk import POLICY, SCOPE
from tests.fakes import NOW, FakeDecisionLog
from tests.nodes.parts import QUESTION, Parts, observation
from tests.nodes.validating import Validating

LAND = "land-0001"
VENDOR = {"vendor": Argument(role="target", kind="vendor"), "amount": Argument(role="amount")}


class Counting(FakeDecisionLog):
    """A log that counts the records whose bodies were asked for."""

    read = 0

    def bodies(self, tenant: str, thread: str, records: object) -> dict[str, bytes]:
        found = super().bodies(tenant, thread, records)  # type: ignore[arg-type]  # handed on as it came
        self.read += len(found)
        return found


@pytest.fixture
def wrote(parts: Parts) -> tuple[Parts, str]:
    """A thread that wrote a vendor's name of untrusted origin, and the head many laps later."""
    parts.log = Counting()
    parts.desk.replace("pay", parts.desk.tools["pay"].run, arguments=VENDOR)
    trace = (Traced(argument="text", label=Label.UNTRUSTED),)
    note = Allowed(call_id="c0", rule="write_opened", policy_version="desk-1", bound="b", trace=trace)
    head = parts.filed(
        proposal_ref=parts.act(("c0", "send_note", {"order": "A1", "text": LAND})),
        verdicts=(note,),
        observations=(observation("c0", "send_note", effect=Effect.EGRESS),),
    )
    for index in range(1, 2 * POLICY.max_decisions + 4):
        head = parts.filed(parent=head, index=index)
    return parts, head


def label(parts: Parts, head: str, validating: Validating) -> str:
    """Where the vendor of a payment comes from, whom a trusted field shows."""
    row = json.dumps({"tool": "get_invoice", "invoice": LAND, "artifact_ref": "toolrun://r/1"})
    shown = parts.manifest(("objective", Trust.USER, "turn://1", QUESTION), ("r", Trust.SYSTEM, "toolrun://r/1", row))
    calls = parts.act(("c1", "pay", {"vendor": LAND, "amount": 120}))
    planned = parts.planned("pay", parent=head)
    (verdict,) = validating.run(calls, manifest=shown, request=parts.request(parent=planned, now=NOW), scope=SCOPE)
    assert isinstance(verdict, NeedsApproval)
    return next(one.label for one in verdict.trace if one.argument == "vendor")


def test_it_is_untrusted_long_after_the_records_that_a_lap_looks_at(wrote: tuple[Parts, str]) -> None:
    parts, head = wrote
    assert label(parts, head, Validating(parts)) != Label.SERVER


def test_what_was_not_written_here_keeps_its_label(wrote: tuple[Parts, str]) -> None:
    parts, _ = wrote
    parts.log = FakeDecisionLog()
    assert label(parts, parts.filed(), Validating(parts)) == Label.SERVER


def test_each_record_is_read_once_in_a_process_and_anew_after_forgetting(wrote: tuple[Parts, str]) -> None:
    parts, head = wrote
    log, validating = parts.log, Validating(parts)
    assert isinstance(log, Counting)
    label(parts, head, validating)
    read = log.read
    label(parts, parts.filed(parent=head, index=99), validating)
    assert log.read - read == 2  # the two records that were filed since
    let_go()
    assert label(parts, head, validating) != Label.SERVER
