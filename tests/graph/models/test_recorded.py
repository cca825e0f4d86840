"""A run recorded once and played again without its model."""

import asyncio
import json
import shutil
import stat
from pathlib import Path

import pytest

from graph.app import open_app
from graph.models.recorded import RecordingModel, ReplayModel
from graph.models.registry import ModelNotConfigured, open_model
from graph.result import RunResult
from graph.settings import Settings
from state.forms import FORMS
from state.request import AttemptOutcome, ModelError, Request
from state.work import Form
from tests.fakes import FakeClock, FakeModel, SequentialIds
from tests.graph.conftest import NOW
from tests.graph.models.rendered import Working
from tests.nodes.proposing import refund, said

QUESTION = "Why is my API key not working?"


def a_request(text: str = "Where is my book?") -> Request:
    return Working(text).request()


def test_what_was_recorded_is_played_in_order_failures_too(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    gone = ModelError(AttemptOutcome(name="unreachable", detail="why"))
    recording = RecordingModel(FakeModel(refund({"order": "B7"}), gone, said("¿Sí? 密钥")), file)
    first = recording.reply(a_request())
    with pytest.raises(ModelError):
        asyncio.run(recording.areply(a_request()))
    third = asyncio.run(recording.areply(a_request()))
    played = ReplayModel(file)
    assert played.reply(a_request("another time")) == first
    with pytest.raises(ModelError) as caught:
        asyncio.run(played.areply(a_request()))
    assert caught.value.outcome == gone.outcome
    assert asyncio.run(played.areply(a_request())) == third
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_failure_that_passes_is_played_as_one(tmp_path: Path) -> None:
    """Else the play ends where the run went on."""
    file = tmp_path / "recording.jsonl"
    busy = ModelError(AttemptOutcome(name="rate_limited"), passing=True, retry_after_s=3.0)
    with pytest.raises(ModelError):
        RecordingModel(FakeModel(busy), file).reply(a_request())
    with pytest.raises(ModelError) as caught:
        ReplayModel(file).reply(a_request())
    assert (caught.value.passing, caught.value.retry_after_s) == (True, 3.0)


def test_a_recording_holds_no_secret_and_half_a_character(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    secret = "sk-1234567890abcdef1234"
    echoed = refund({"order": f"{secret} \ud800"}, text=secret)
    RecordingModel(FakeModel(echoed), file).reply(a_request())
    assert secret not in file.read_text(encoding="utf-8")
    played = ReplayModel(file).reply(a_request())
    assert json.loads(played.calls[0].arguments) == {"order": "[secret] \ud800"}


def test_a_secret_behind_escapes_of_json_is_not_recorded(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    secret = "sk-1234567890abcdef1234"
    spelt = "".join(f"\\u{ord(sign):04x}" for sign in secret)
    RecordingModel(FakeModel(refund(f'{{"order": "{spelt}"}}', text=spelt)), file).reply(a_request())
    played = ReplayModel(file).reply(a_request())
    assert json.loads(played.calls[0].arguments) == {"order": "[secret]"}
    assert played.text == "[secret]"


def test_a_recording_that_does_not_fit_says_so(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    RecordingModel(FakeModel(said("x")), file).reply(a_request())
    other = a_request().model_copy(update={"tools": (FORMS[Form.PLAN],)})
    with pytest.raises(ModelError, match="call 1 was recorded under other instructions or tools"):
        ReplayModel(file).reply(other)
    played = ReplayModel(file)
    played.reply(a_request())
    with pytest.raises(ModelError, match="call 2 of a recording of 1"):
        played.reply(a_request())


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "No such file"),
        ("{}\n", "line 1 is no recorded call"),
        ("no JSON\n", "line 1 is no recorded call"),
    ],
)
def test_a_file_that_is_no_recording_is_named(tmp_path: Path, content: str | None, says: str) -> None:
    file = tmp_path / "recording.jsonl"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    with pytest.raises(ModelNotConfigured, match=says):
        open_model("replay", recording=file)
    with pytest.raises(ModelNotConfigured, match="EXPEDIENTE_RECORDING"):
        open_model("replay")


def test_the_worked_example_is_played_again_without_its_model(ingested_home: Path, tmp_path: Path) -> None:
    """With the ids and the time of then: the answer cites a result by the id of the request that brought it."""
    file = tmp_path / "recording.jsonl"

    def asked(model: str) -> RunResult:
        home = tmp_path / model
        shutil.copytree(ingested_home, home)
        given = Settings.load(home=home, model=model, recording=file)
        with open_app(given, clock=FakeClock(NOW), ids=SequentialIds()) as app:
            return app.ask(QUESTION, as_="ana@acme", thread="t")

    recorded, played = asked("offline"), asked("replay")
    assert len(file.read_text(encoding="utf-8").splitlines()) == len(recorded.decisions)
    assert (played.status, played.answer) == (recorded.status, recorded.answer)
    assert [decision.kind for decision in played.decisions] == [decision.kind for decision in recorded.decisions]
