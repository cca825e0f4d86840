"""Long runs: the reader goes by what it is shown, and the figures say what the requests held."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.packing import agent
from evals.packing.agent import UNCOMPACTED
from evals.packing.measure import Meter, Played, Probe
from evals.packing.plant import DENIED, READ, REPLACE, Plant
from evals.packing.reader import READ_RESULT, next_step
from evals.packing.recursive import retold

PAGE = {"tool": READ, "asset_id": "A-1", "state": "ok", "reading": "aa", "next_asset": "A-2"}
WORN = {**PAGE, "state": "worn"}
DONE = {"tool": REPLACE, "asset_id": "A-1", "receipt": "R-1", "next_asset": "A-2"}
LAST = {**PAGE, "asset_id": "A-9", "reading": "ff", "next_asset": "none"}
TASK = "Inspect from asset A-1 on. Report the reading of asset A-1."
ROW = {"tool": READ, "rows": [{"asset_id": "A-1", "next_asset": "A-2", "artifact_ref": "toolrun://x/1"}]}
AGAIN = {"text": "asset_id: A-1\nstate: ok\nreading: aa\nnext_asset: A-2"}


def text(*shown: object) -> str:
    return "\n".join([TASK, *(one if isinstance(one, str) else json.dumps(one) for one in shown)])


@pytest.mark.parametrize(
    ("shown", "tool", "arguments"),
    [
        pytest.param((), READ, {"asset_id": "A-1"}, id="it begins where the task says"),
        pytest.param((PAGE,), READ, {"asset_id": "A-2"}, id="it goes on where the page says"),
        pytest.param((WORN,), REPLACE, {"asset_id": "A-1"}, id="what is worn is replaced"),
        pytest.param((WORN, DONE), READ, {"asset_id": "A-2"}, id="once"),
        pytest.param((WORN, f"call x was {DENIED} y"), READ, {"asset_id": "A-2"}, id="a refusal is taken"),
        pytest.param((LAST,), READ, {"asset_id": "A-1"}, id="what is not shown any more is read again"),
        pytest.param((ROW, LAST), READ_RESULT, {"artifact_ref": "toolrun://x/1"}, id="by its name where that is shown"),
        pytest.param((PAGE, LAST), None, {}, id="with all it needs it reports"),
        pytest.param((LAST, AGAIN), None, {}, id="and with what it read again"),
        pytest.param(({**DONE, "receipt": ""}, LAST, PAGE), None, {}, id="a page after the last is looked up"),
    ],
)
def test_the_next_step_comes_from_the_text_alone(
    shown: tuple[object, ...], tool: str | None, arguments: dict[str, str]
) -> None:
    step = next_step(text(*shown))
    assert (step.tool, step.arguments) == (tool, arguments)


def test_a_report_says_what_is_shown_and_what_is_not_known() -> None:
    assert next_step(text(DONE, PAGE, LAST)).report == "A-1: R-1\nreading of A-1: aa"
    assert next_step("nothing").report == "nothing is known of the task"


def test_a_plant_judges_the_report_by_what_was_done() -> None:
    plant = Plant(seed=3, size=30, log_words=5)
    assert Plant(seed=3, size=30, log_words=5).page(plant.assets[4]) == plant.page(plant.assets[4])
    worn = [asset for asset in plant.assets if plant.state(asset) == "worn"]
    assert len(worn) == 3
    receipts = [str(plant.replace(asset)["receipt"]) for asset in worn]
    reading = str(plant.page(plant.named)["reading"])
    assert plant.is_reported(" ".join([*receipts, reading]))
    assert not plant.is_reported(" ".join(receipts))
    assert not plant.is_reported(" ".join([*receipts[1:], reading]))
    plant.replace(plant.assets[1])  # nobody asked for that
    assert not plant.is_reported(" ".join([*plant.done.values(), reading]))
    assert not plant.is_free(plant.assets[0])
    assert [plant.state(asset) for asset in plant.assets].count("sealed") == 1


def test_the_meter_counts_what_a_request_shares_with_the_one_before_of_its_kind() -> None:
    meter = Meter()
    probes = [Probe(name="a", values=("x",), times=2), Probe(name="a", values=("x", "z"))]
    for kind, rest in (("k", b"abcd"), ("other", b"____"), ("k", b"abxx")):
        meter.take(kind=kind, tokens=1, stable=b"S", rest=rest, text=rest.decode(), probes=probes)
    first, _, third = meter.asked
    assert (first.shared_bytes, first.stable_shared_bytes, first.kept) == (0, 1, {})
    assert (third.shared_bytes, third.stable_shared_bytes, third.size_bytes) == (3, 1, 5)
    assert third.kept == {"a": 2}
    assert first.lost == ("a: x", "a: x")


def test_a_retold_summary_keeps_what_matters_then_the_newest() -> None:
    lines = [f"{number} {'!' if number == 1 else ''}" for number in range(6)]
    assert retold(lines, 11, lambda line: "!" in line) == ["1 !", "4 ", "5 "]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Played]:
    names = (UNCOMPACTED, "utility", "sliding_window")
    folder = tmp_path_factory.mktemp("packing")
    # So fast that each result is still fresh at the end: what is out of sight may be read again all the same.
    return {name: agent.played(Plant(1, 14, 400), name, 2_560, folder / name, decision_s=2) for name in names}


def test_the_default_finishes_what_the_uncompacted_run_finishes_in_fewer_tokens(runs: dict[str, Played]) -> None:
    whole, default = runs[UNCOMPACTED], runs["utility"]
    assert (whole.finished, default.finished) == (True, True)
    assert default.kept("changed") == 1.0
    assert default.kept() == 1.0
    assert (default.over, default.reread) == (0, 1)  # the one reading that the report needs
    assert default.tokens < whole.tokens / 2
    assert whole.most_tokens > default.budget_tokens


def test_a_window_without_an_index_loses_what_was_changed(runs: dict[str, Played]) -> None:
    lost = runs["sliding_window"]
    kept = lost.kept("changed")
    assert kept is not None
    assert kept < 1.0
    assert not lost.finished
    assert any(one.startswith("changed: R-") for asked in lost.asked for one in asked.lost)
    assert lost.over == 0


def test_the_stable_block_is_the_same_in_every_request(runs: dict[str, Played]) -> None:
    assert {name: one.stable_share for name, one in runs.items()} == dict.fromkeys(runs, 1.0)


def test_a_peer_runs_the_same_task_at_the_same_budget() -> None:
    pytest.importorskip("langchain", reason="langchain is not installed: run `make evals`")
    from evals.packing import peers

    plant = Plant(1, 14, 400)
    summed = peers.played(plant, "peer: SummarizationMiddleware", 2_560, agent.RESERVED_TOKENS)
    assert set(plant.done) == {asset for place, asset in enumerate(plant.assets) if place == 8}
    assert summed.decisions >= 15
    assert summed.kept("changed") is not None
    assert max(one.tokens for one in summed.asked) == summed.most_tokens
    whole = peers.played(Plant(1, 14, 400), f"peer: {UNCOMPACTED}", 2_560, agent.RESERVED_TOKENS)
    assert whole.finished
    assert whole.over > 0


def test_the_command_shows_what_its_file_holds_and_runs_nothing_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from evals.packing.__main__ import main

    out = tmp_path / "out.jsonl"
    given: dict[str, Any] = {"assets": 5, "log_words": 5, "window": 4_096, "peers": False, "out": out}
    main(strategy=["utility"], **given)
    first = out.read_text()
    main(strategy=["utility"], **given)
    assert out.read_text() == first
    assert capsys.readouterr().out.count("mean tokens of a request by category") == 2
    with pytest.raises(SystemExit, match="got newest; allowed: category_shares"):
        main(strategy=["newest"], **given)
