"""`agent eval` as a user calls it: the real program on case files, its exit codes, and the files it writes."""

import json
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from tests.evals.conftest import CASES
from tests.graph.cli.conftest import Done, Program, SameProgram

pytestmark = pytest.mark.usefixtures("library_at_hand")

WORKED = "api_key_not_working.yaml"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Program:
    """The program within the test's process: its imports are paid once."""
    return SameProgram(Program(tmp_path / "home", tmp_path), monkeypatch, capfd)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the worked example's case."""
    made = tmp_path / "cases"
    made.mkdir()
    (made / WORKED).write_text((CASES / WORKED).read_text(encoding="utf-8"), encoding="utf-8")
    return made


def spoiled(folder: Path) -> None:
    """Make the case ask for an ending that does not come."""
    file = folder / WORKED
    file.write_text(file.read_text(encoding="utf-8") + "ends: [escalated]\n", encoding="utf-8")


def evaluated(program: Program, *arguments: object) -> Done:
    return program("eval", *map(str, arguments), "--jobs", "1")


def test_a_suite_that_holds_exits_0_and_says_what_was_measured(tmp_path: Path, folder: Path) -> None:
    done = evaluated(Program(tmp_path / "home", tmp_path), folder)  # as a process
    assert (done.code, done.err) == (0, "")
    assert "normal" in done.out
    assert "1/1" in done.out
    assert "not an LLM" in " ".join(done.out.split())
    assert max(map(len, done.out.splitlines())) <= 80
    (ruled,) = (line.split() for line in done.out.splitlines() if line.startswith("read_in_scope"))
    assert ruled == ["read_in_scope", "1", "–", "–", "–", "–"]


def test_a_failing_case_is_named_with_its_reason_and_exits_1(program: Program, folder: Path) -> None:
    spoiled(folder)
    done = evaluated(program, folder)
    assert done.code == 1
    assert "failed        api_key_not_working" in done.out
    assert "ends answered, not escalated" in " ".join(done.out.split())
    assert done.err == "agent: 1 of 1 cases fail\n"


def test_a_loss_against_the_baseline_exits_1_and_names_the_case(program: Program, folder: Path) -> None:
    before = evaluated(program, folder, "--json")
    assert before.code == 0
    baseline = folder.parent / "before.json"
    baseline.write_text(before.out, encoding="utf-8")
    same = evaluated(program, folder, "--baseline", baseline)
    assert (same.code, same.err) == (0, "")
    spoiled(folder)
    lost = evaluated(program, folder, "--baseline", baseline)
    assert lost.code == 1
    assert lost.err == "agent: lost against the baseline: api_key_not_working\n"
    later = folder.parent / "later.json"
    later.write_text(evaluated(program, folder, "--json").out, encoding="utf-8")
    known = evaluated(program, folder, "--baseline", later)
    assert known.code == 0  # it failed before as well


def test_an_ablation_is_compared_in_pairs_and_written_as_page_json_and_junit(program: Program, folder: Path) -> None:
    html, xml = folder.parent / "page.html", folder.parent / "junit.xml"
    done = evaluated(program, folder, "--ablate", "memory,keywords", "--html", html, "--junit", xml, "--json")
    assert done.code == 0
    stored = json.loads(done.out)
    assert [run["plan"]["ablated"] for run, _ in stored["ablations"]] == ["memory", "keywords"]
    tokens = next(d for d in stored["ablations"][0][1]["differences"] if d["measure"] == "efficiency")
    assert tokens["difference"] < 0  # one item less
    page = html.read_text(encoding="utf-8")
    assert "<svg" in page
    said = stored["rules"]
    assert said == stored["run"]["results"][0]["judged"]["rules"]
    assert said["allowed read_in_scope"] == 1
    assert "<h2>Verdicts by rule</h2>" in page
    assert '<tr><td>read_in_scope</td><td class="n">1</td><td class="n">–</td>' in page
    assert "without memory" in page
    assert "http" not in page  # nothing is fetched
    suite = fromstring(xml.read_text(encoding="utf-8"))
    assert (suite.get("tests"), suite.get("failures")) == ("1", "0")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--ablate", "gates"], "got --ablate gates; allowed: dense, diversity, events, evidence"),
        (["--model", "gpt"], "got --model 'gpt'; allowed: offline, hijacked, openai, replay"),
        (["absent"], "got absent, which holds no case; give a .yaml file, or a folder with some"),
        (["--baseline", "absent.json"], "got absent.json (No such file or directory)"),
    ],
    ids=["an unknown part", "an unknown model", "no cases", "no baseline"],
)
def test_wrong_use_is_one_line_and_exits_2(program: Program, arguments: list[str], said: str) -> None:
    done = evaluated(program, *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert len(done.err.splitlines()) == 1


def test_a_case_that_does_not_fit_the_domain_is_told_before_anything_is_judged(program: Program, folder: Path) -> None:
    file = folder / WORKED
    file.write_text(file.read_text(encoding="utf-8").replace("plan: pro", "plan: gold"), encoding="utf-8")
    done = evaluated(program, folder)
    assert done.code == 2
    assert "api_key_not_working: actor.plan: got 'gold'; the domain holds 'pro'" in done.err
