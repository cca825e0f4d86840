"""Writing memories: H15, masking, merging, superseding, confirming, consolidating."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore

from retrieval.memory import StoreMemory
from retrieval.memory_writing import MemoryWriter
from state.context import DropReason
from state.memory import MemoryNote, MemoryRecord, MemorySource, MemoryTerms, MemoryTopic, NotRemembered, Remembered
from state.run import Principal, Scope

NOW = datetime(2026, 10, 2, tzinfo=UTC)
DAY = timedelta(days=1)
U1 = Principal(name="u1", tenant="t1", roles=(), subjects=("u1",))
SCOPE = Scope(principal=U1, actor=U1, thread="T")
TERMS = MemoryTerms(
    topics={
        "contact": MemoryTopic(
            purpose="support", serves="gather/desk", basis="asked for", fact_days=180, hypothesis_days=30
        ),
        "window": MemoryTopic(
            purpose="support", serves="gather/desk", basis="contract", fact_days=90, hypothesis_days=9, review_days=60
        ),
        "setup": MemoryTopic(
            purpose="support", serves="gather/desk", basis="contract", fact_days=90, hypothesis_days=9, several=True
        ),
    }
)
STATED, RECORD, INFERRED = MemorySource.USER_STATED, MemorySource.SYSTEM_RECORD, MemorySource.MODEL_INFERRED


class Desk:
    """A store and its writer; keys count up."""

    def __init__(self) -> None:
        self.memory = StoreMemory(InMemoryStore())
        self.writer = MemoryWriter(self.memory, lambda text: text.replace("sk-demo-1234", "[secret]"))
        self.written = 0

    def note(self, text: str, source: MemorySource = STATED, **given: Any) -> MemoryNote:
        self.written += 1
        fields = {"tenant": "t1", "subject": "u1", "about": "contact", "source_ref": f"turn://{self.written}"}
        return MemoryNote(text=text, source=source, **{**fields, "key": f"k{self.written}", **given})

    def write(self, text: str, source: MemorySource = STATED, now: datetime = NOW, **given: Any) -> Any:
        return self.writer.write(self.note(text, source, **given), TERMS, now)

    def facts(self, now: datetime = NOW) -> list[str]:
        return [one.text for one in self.memory.recall(SCOPE, "support", now).facts]

    def hypotheses(self) -> list[str]:
        return [one.text for one in self.memory.recall(SCOPE, "support", NOW).hypotheses]

    def held(self) -> dict[str, MemoryRecord]:
        return {one.text: one for _, one in self.memory.of("t1", "u1") if one}


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_h15_of_a_contradiction_the_newer_stands_and_the_older_says_which(desk: Desk) -> None:
    mail = desk.write("Contact me by email.")
    again = [
        desk.write(text, now=NOW + n * DAY)
        for n, text in enumerate(["contact me by email", "Contact me by EMAIL!"] * 2)
    ]
    assert {(one.did, one.record.memory_id) for one in again} == {("merged", mail.record.memory_id)}
    phone = desk.write("From now on by phone.", now=NOW + 5 * DAY)
    assert phone.did == "superseded"
    recalled = desk.memory.recall(SCOPE, "support", NOW + 5 * DAY)
    assert [one.text for one in recalled.facts] == ["From now on by phone."]
    assert recalled.excluded == ((mail.record.memory_id, DropReason.SUPERSEDED),)
    old = desk.held()["Contact me by email."]
    assert (old.superseded_by, phone.record.supersedes) == (phone.record.memory_id, (old.memory_id,))
    assert old.sources == ("turn://1", "turn://2", "turn://3", "turn://4", "turn://5")
    desk.memory.remove("t1", "u1", [old.memory_id])  # deleting the old one loses nothing of the new one
    assert desk.facts(NOW + 5 * DAY) == ["From now on by phone."]


def test_a_topic_that_holds_several_loses_none_and_replaces_what_speaks_of_the_same(desk: Desk) -> None:
    first = desk.write("Our exports run every night at two.", about="setup")
    olga = desk.write("The contact of the warehouse is Olga.", about="setup")
    assert (first.did, olga.did) == ("new", "new")
    assert set(desk.facts()) == {first.record.text, olga.record.text}
    later = desk.write("Our exports run every night at five.", about="setup", now=NOW + DAY)
    assert (later.did, later.record.supersedes) == ("superseded", (first.record.memory_id,))
    assert set(desk.facts(NOW + DAY)) == {later.record.text, olga.record.text}
    # What a record of authority says does not keep the user from saying something else.
    desk.write("The plan of the account is Pro.", RECORD, about="setup")
    assert desk.write("Reports are read on Mondays.", about="setup").did == "new"
    assert desk.write("The plan of the account is Free.", about="setup").reason == "weaker_source"


def test_a_record_has_all_that_its_topic_says(desk: Desk) -> None:
    written = desk.write("Exports run at two.", RECORD, about="window", source_ref="db://7")
    assert written.record == MemoryRecord(
        memory_id=written.record.memory_id,
        subject="u1",
        tenant="t1",
        purpose="support",
        text="Exports run at two.",
        source=RECORD,
        source_ref="db://7",
        basis="contract",
        created_at=NOW,
        expires_at=NOW + 90 * DAY,
        about="window",
        serves="gather/desk",
        review_at=NOW + 60 * DAY,
    )
    assert written.record.deletion_path == f"memory/t1/u1/{written.record.memory_id}"
    assert desk.write("Perhaps at three.", INFERRED, about="contact").record.expires_at == NOW + 30 * DAY


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        pytest.param({"about": "refunds"}, "unknown_topic", id="a topic that the policy does not name"),
        pytest.param({"source": MemorySource.UNKNOWN}, "unknown_source", id="nobody says it"),
        pytest.param({"source_ref": " "}, "unknown_source", id="nobody knows where"),
        pytest.param({"text": " \n "}, "nothing_to_remember", id="blank"),
        pytest.param({"text": "x" * 401}, "too_long", id="a transcript"),
    ],
)
def test_what_is_not_allowed_is_refused_and_nothing_written(desk: Desk, given: dict[str, Any], reason: str) -> None:
    assert desk.write(**{"text": "By phone.", **given}) == NotRemembered.model_validate({"reason": reason})
    assert desk.held() == {}


def test_h14_a_naive_time_is_refused(desk: Desk) -> None:
    with pytest.raises(ValueError, match="aware"):
        desk.write("By phone.", now=datetime(2026, 10, 2))  # noqa: DTZ001 - the naive time is the point
    assert desk.held() == {}


def test_x7_secrets_and_personal_data_are_masked_before_anything_is_stored(desk: Desk) -> None:
    desk.write("Call +34 612 345 678, mail ana@example.com, key sk-demo-1234, from 10.0.0.8")
    assert list(desk.held()) == ["Call [phone], mail [email], key [secret], from [ip]"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Card 5555\u200b 5555 5555 4444", "Card [card]"),
        ("Mail jo\u200bse@x.example", "Mail [email]"),
        ("Key sk-de\u2060mo-1234", "Key [secret]"),
        ("Call\x00 me\x1b[2J \ud800after\u202e ten\U000e0067", "Call me[2J after ten"),
        ("\u200b\x00", None),
    ],
)
def test_x7_what_nobody_sees_hides_nothing_from_the_masks_and_is_not_kept(
    desk: Desk, text: str, kept: str | None
) -> None:
    done = desk.write(text)
    assert (done.record.text if isinstance(done, Remembered) else None) == kept


def test_what_a_model_infers_replaces_no_fact_and_lends_none_a_longer_life(desk: Desk) -> None:
    told = desk.write("By phone.").record
    assert desk.write("By email.", INFERRED) == NotRemembered(reason="weaker_source")
    merged = desk.write("by phone", INFERRED, now=NOW + DAY)
    assert (merged.did, merged.record.expires_at, merged.record.source) == ("merged", told.expires_at, STATED)
    assert desk.write("By fax.", RECORD).did == "superseded"
    assert desk.write("By phone.", STATED) == NotRemembered(reason="weaker_source")


def test_a_hypothesis_becomes_a_fact_by_a_source_of_authority_alone(desk: Desk) -> None:
    guess = desk.write("Prefers short answers.", INFERRED).record
    assert desk.write("prefers short answers", INFERRED).did == "merged"
    assert (desk.facts(), desk.hypotheses()) == ([], ["Prefers short answers."])
    refused = desk.writer.confirm(guess, desk.note("", INFERRED), TERMS, NOW)
    assert refused == NotRemembered(reason="nothing_to_confirm")
    said = desk.writer.confirm(desk.held()[guess.text], desk.note("whatever"), TERMS, NOW)
    assert isinstance(said, Remembered)
    assert (said.did, said.record.text, said.record.source) == ("confirmed", guess.text, STATED)
    assert said.record.sources == ("turn://4", "turn://1", "turn://2")
    assert (desk.facts(), desk.hypotheses()) == ([guess.text], [])


def test_the_user_confirms_by_saying_the_same(desk: Desk) -> None:
    guess = desk.write("Prefers short answers.", INFERRED).record
    said = desk.write("prefers short answers")
    assert (said.did, said.record.supersedes, said.record.source) == ("confirmed", (guess.memory_id,), STATED)


def test_a_consolidation_keeps_the_lowest_trust_all_sources_and_the_first_end(desk: Desk) -> None:
    one = desk.write("Exports run at two.", about="window").record
    other = desk.write("They take an hour.", INFERRED, about="contact").record.model_copy(update={"about": "window"})
    both = desk.writer.consolidate((one, other), "Exports run from two to three, ask ana@example.com.", "k")
    assert isinstance(both, Remembered)
    assert both.record.text == "Exports run from two to three, ask [email]."
    assert (both.record.source, both.record.sources) == (INFERRED, ("turn://2", "turn://1"))
    assert (both.record.expires_at, both.record.review_at) == (other.expires_at, one.review_at)
    assert both.record.supersedes == (one.memory_id, other.memory_id)
    with pytest.raises(ValueError, match="of one"):
        desk.writer.consolidate((one, one.model_copy(update={"subject": "u2"})), "text", "k")


def test_the_same_writing_done_again_writes_the_same_record(desk: Desk) -> None:
    first = desk.write("By phone.", key="effect-1")
    desk.write("By email.")
    assert desk.write("By phone.", key="effect-1").record.memory_id == first.record.memory_id
    assert (len(desk.memory.of("t1", "u1")), desk.facts()) == (2, ["By email."])
