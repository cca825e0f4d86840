"""A sample of the kill trials on each engine, and what the judgement makes of what it is shown."""

from pathlib import Path
from typing import Any

import pytest

from evals.trials.drawing import OPENING, drawn
from evals.trials.judging import judged
from evals.trials.outcomes import counted, keep, kept
from evals.trials.process import Life
from evals.trials.protocol import Ended, Event
from evals.trials.script import Errand, Script, load_script
from evals.trials.trial import Outcome, Theatre
from graph.inspection.fault import Fault
from graph.inspection.verify import Verification
from state.work import Status

SCRIPT = load_script()
ERRANDS = {errand.name: errand for errand in SCRIPT.errands}
SOUND = Verification(thread="trial", records=1, branches=1, bodies=3, attempts=1, faults=())
CALM = Ended(
    status=Status.ANSWERED,
    path=("act/it observed", "answer/report answered"),
    steps=("asked",),
    writes=160,
    chain=("r1", "r2"),
    filed=("r1", "r2"),
    claims=(("k1", "done"),),
    unknown=False,
    verification=SOUND,
)
LEASE_S = 0.5


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_three_trials(engine: str, library: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    server = request.getfixturevalue("postgres_url") if engine == "postgresql" else None
    script = Script(file=SCRIPT.file, errands=(ERRANDS["rotation"],))
    theatre = Theatre(script, "domain", library, LEASE_S, server)
    draws = [drawn(3, engine, number, script.errands) for number in range(20)]
    # Opening takes long, and so does a second kill: `make kills` has both.
    sample = [draw for draw in draws if len(draw.strokes) == 1 and draw.strokes[0].during != OPENING][:3]
    outcomes = [theatre.run(draw, "sample", "", tmp_path / "failed") for draw in sample]
    assert [outcome.faults for outcome in outcomes] == [()] * 3
    assert sum(outcome.kills for outcome in outcomes) >= 2


def test_the_same_seed_draws_the_same_trials() -> None:
    draws = [drawn(1, "sqlite", number, SCRIPT.errands) for number in range(50)]
    assert draws == [drawn(1, "sqlite", number, SCRIPT.errands) for number in range(50)]
    assert draws != [drawn(2, "sqlite", number, SCRIPT.errands) for number in range(50)]
    assert {draw.errand for draw in draws} == set(ERRANDS)
    assert {(draw.goes_on, len(draw.strokes)) for draw in draws} == {(g, n) for g in (True, False) for n in (1, 2)}


def ends(**changed: Any) -> tuple[Life, ...]:
    """A life that was killed in its run after it had told of r1, and one that comes to the calm end, or another."""
    first = (event("began", 0), event("running", 1), Event(at="filed", when=2, record="r1", done=True))
    last = (event("began", 3), event("running", 4), Event(at="ended", when=5, ended=CALM.model_copy(update=changed)))
    return Life(events=first, ended_at=2.5, killed=True), Life(events=last, ended_at=6, killed=False)


def event(at: Any, when: float) -> Event:
    return Event(at=at, when=when)


def kinds(lives: tuple[Life, ...], effects: tuple[str, ...] = ("k1",), errand: Errand = ERRANDS["credit"]) -> set[str]:
    return {fault.kind for fault in judged(lives, errand, CALM, effects, LEASE_S)}


def test_a_calm_end_has_no_fault() -> None:
    assert kinds(ends()) == set()


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"status": Status.PARTIAL}, "ends otherwise"),
        ({"path": ("answer/report answered",)}, "ends otherwise"),
        ({"chain": ("r2",)}, "acknowledged and off the chain"),
        ({"chain": (), "filed": ()}, "acknowledged and lost"),
        ({"claims": ()}, "effect unclaimed"),
        ({"verification": SOUND.model_copy(update={"erased": ("decision 0: the manifest",)})}, "artifact missing"),
        ({"verification": SOUND.model_copy(update={"branches": 2})}, "branched"),
        (
            {"verification": SOUND.model_copy(update={"faults": (Fault(record="r", index=0, what="w", how="h"),)})},
            "not sound",
        ),
    ],
)
def test_another_end_is_a_fault(changed: dict[str, Any], fault: str) -> None:
    assert kinds(ends(**changed)) == {fault}


def test_effects_are_counted_in_the_world() -> None:
    assert kinds(ends(), effects=("k1", "k1/2")) == {"effect twice"}
    assert kinds(ends(), effects=()) == {"effect missing"}
    # Where nobody can know, a tool that would do it again is not run again, and the record says so.
    forgetful = ERRANDS["credit without a key"]
    assert kinds(ends(unknown=True, status=Status.ESCALATED), effects=(), errand=forgetful) == set()
    assert kinds(ends(unknown=True, status=Status.PARTIAL), effects=(), errand=forgetful) == {"ends otherwise"}


def test_whoever_asked_what_became_of_it_has_another_last_turn() -> None:
    other = ("gather/look observed", "answer/explain answered")
    assert kinds(ends(path=other)) == {"ends otherwise"}
    assert kinds(ends(path=other, steps=("asked what became of it",))) == set()
    # Also where the worker that saw it through was killed after its last word, and nothing was left to do.
    _, ended = ends(path=other, steps=("asked", "reject by over_limit"))
    _, last = ends(path=other, steps=())
    assert kinds((last,)) == {"ends otherwise"}
    assert kinds((ended, last)) == set()


@pytest.mark.parametrize(("busy_until", "found"), [(3.4, set()), (4.1, {"lease held"})])
def test_a_lease_holds_a_thread_for_its_time_and_no_longer(busy_until: float, found: set[str]) -> None:
    killed, calm = ends()
    waited = calm.model_copy(update={"events": (event("busy", busy_until), *calm.events)})
    assert kinds((killed, waited)) == found


def test_a_worker_that_failed_or_hung_is_a_fault() -> None:
    killed, calm = ends()
    assert kinds((killed, calm.model_copy(update={"events": (), "error": "LeaseLost: …"}))) == {"worker failed"}
    assert kinds((killed, calm.model_copy(update={"events": (), "hung": True}))) == {"hung"}
    assert kinds((killed, calm.model_copy(update={"events": (event("began", 3),)}))) == {"no end"}


def test_what_was_interrupted_goes_on_where_it_stopped(tmp_path: Path) -> None:
    file = tmp_path / "kills.jsonl"
    outcome = Outcome(
        key="0/sqlite/1",
        engine="sqlite",
        code="",
        draw=drawn(0, "sqlite", 0, SCRIPT.errands),
        lives=("killed after running", "ended after ended"),
        kills=1,
        steps=("asked", "approve by needs_confirmation"),
        effects=1,
        seconds=9.5,
        faults=(),
    )
    keep(file, outcome)
    with file.open("a", encoding="utf-8") as out:
        out.write('{"key": "0/sqlite/1", "engine": "sq')  # cut off
    assert kept(file, "0/sqlite/1") == {0: outcome}
    assert kept(file, "1/sqlite/1") == {}
    assert list(counted([outcome])) == [("asked, approve", {"sqlite": 1})]
