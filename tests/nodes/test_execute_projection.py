"""What of a result is kept (S7, H19): the contract's fields, capped in rows and bytes, always text that can be sent."""

import json
import math
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.execute.project import NotText, Projected, project
from state.contract import Effect, OutputField, ToolContract

TEXT = "text"


def contract(*fields: str, **caps: int) -> ToolContract:
    output = tuple(OutputField(name=name) for name in fields or ("status", "detail", TEXT))
    made = ToolContract(
        name="look",
        description="d",
        effect=Effect.READ,
        parameters={"type": "object", "additionalProperties": False},
        roles=(),
        output=output,
    )
    return made.model_copy(update=caps)


def size(fields: Any) -> int:
    return len(json.dumps(fields, ensure_ascii=False).encode())


@pytest.mark.parametrize(
    ("result", "fields", "empty"),
    [
        pytest.param({"status": "ok", "secret": "x"}, {"status": "ok"}, False, id="a field the contract does not name"),
        pytest.param({"detail": 1, "status": 2}, {"status": 2, "detail": 1}, False, id="in the contract's order"),
        pytest.param([], {"rows": [], "total_rows": 0}, True, id="no rows"),
        pytest.param([{}], {"rows": [{}], "total_rows": 1}, False, id="an empty row"),
        pytest.param({}, {}, True, id="no fields"),
        pytest.param(None, {}, True, id="nothing"),
        pytest.param("", {}, True, id="an empty text"),
        pytest.param({"status": None, "detail": 0}, {"status": None, "detail": 0}, False, id="null and zero"),
        pytest.param({TEXT: "a line with Error: in it"}, {TEXT: "a line with Error: in it"}, False, id="only a word"),
        pytest.param({TEXT: b"\xff\x00"}, {TEXT: "\ufffd\x00"}, False, id="bytes"),
        pytest.param({TEXT: "a\ud83db"}, {TEXT: "a\ufffdb"}, False, id="half a character"),
        pytest.param({TEXT: "\ud83d\udc69"}, {TEXT: "👩"}, False, id="two halves"),
        pytest.param({TEXT: "up\u200bdate"}, {TEXT: "up\u200bdate"}, False, id="hidden ones stay, to be flagged"),
        pytest.param({TEXT: math.nan}, {TEXT: "nan"}, False, id="NaN"),
        pytest.param({TEXT: [math.inf, {"a": -math.inf}]}, {TEXT: ["inf", {"a": "-inf"}]}, False, id="Infinity"),
        pytest.param({TEXT: {1: ("a", b"b", "\ud83d")}}, {TEXT: {"1": ["a", "b", "\ufffd"]}}, False, id="nested"),
        pytest.param({TEXT: {"\ud83d": 1}}, {TEXT: {"\ufffd": 1}}, False, id="half a character in a key"),
        pytest.param(
            {TEXT: [datetime(2026, 1, 1, tzinfo=UTC), Decimal("10.10")]},
            {TEXT: ["2026-01-01 00:00:00+00:00", "10.10"]},
            False,
            id="other types as text",
        ),
    ],
)
def test_a_result_becomes_the_contracts_fields(result: Any, fields: dict[str, Any], empty: bool) -> None:
    projected = project(contract(), result)._replace(left_out=())
    assert projected == Projected(fields, empty, size(fields), False, fields)
    assert list(projected.fields) == list(fields)


@pytest.mark.parametrize(
    ("result", "left_out"),
    [
        pytest.param({"status": "ok"}, (), id="none"),
        pytest.param(None, (), id="nothing came"),
        pytest.param("text alone", (), id="text"),
        pytest.param({"status": "ok", "debug": 1, "cost": 2}, ("cost", "debug"), id="of an object"),
        pytest.param([{"status": 1, "b": 0}, {"c": 0}], ("b", "c"), id="of any row"),
        pytest.param({1: 1}, ("1",), id="a name that is no text"),
        pytest.param({"status": {"inner": 1}}, (), id="what a declared field holds is not looked at"),
    ],
)
def test_what_the_contract_does_not_have_is_named(result: Any, left_out: tuple[str, ...]) -> None:
    assert project(contract(), result).left_out == left_out


@pytest.mark.parametrize("result", [7, ["A1"], [{"status": 1}, None]])
def test_what_is_no_object_is_refused(result: Any) -> None:
    with pytest.raises(TypeError, match="a tool returns an object, a list of objects, text, or None"):
        project(contract(), result)


def test_text_needs_a_field_to_stand_in() -> None:
    assert project(contract(), "Error: none").fields == {TEXT: "Error: none"}
    assert project(contract(), "añil".encode()).fields == {TEXT: "añil"}
    assert (project(contract(), "").empty, project(contract(), b"").empty) == (True, True)
    with pytest.raises(TypeError, match="the contract of a tool that returns text has the output field 'text'"):
        project(contract("status"), "done")


def test_bytes_that_are_no_text_are_never_dressed_as_text() -> None:
    with pytest.raises(NotText):
        project(contract(), b"\xff\x00")


def test_a_result_that_was_cut_is_kept_whole_beside_it() -> None:
    rows: list[Any] = [{TEXT: f"{n}" * 100} for n in range(9)]
    assert project(contract(max_bytes=400), rows).whole == {"rows": rows, "total_rows": 9}


def test_rows_are_capped_and_counted() -> None:
    rows: list[Any] = [{"status": n} for n in range(9)]
    projected = project(contract(max_rows=4), rows)
    whole: dict[str, Any] = {"rows": rows, "total_rows": 9}
    assert projected == Projected({"rows": rows[:4], "total_rows": 9}, False, size(whole), True, whole)
    assert project(contract(max_rows=9), rows).truncated is False


def test_rows_go_before_texts_do() -> None:
    rows: list[Any] = [{TEXT: f"{n}" * 100} for n in range(9)]
    projected = project(contract(max_bytes=400), rows)
    assert projected.fields == {"rows": rows[:3], "total_rows": 9}
    assert size(projected.fields) <= 400
    assert projected.truncated is True


def test_a_long_log_keeps_head_and_tail() -> None:
    log = "START\n" + "👩\u200d💻 step\n" * 180_000 + "FATAL: disk full"
    projected = project(contract(max_bytes=8_000), {"status": "ok", TEXT: log})
    shown = projected.fields[TEXT]
    assert isinstance(shown, str)
    assert shown.startswith("START\n")
    assert shown.endswith("FATAL: disk full")
    assert " [...] " in shown
    assert projected.fields["status"] == "ok"
    assert 2_000 < size(projected.fields) <= 8_000
    assert (projected.total_bytes, projected.truncated) == (size({"status": "ok", TEXT: log}), True)
    assert projected.total_bytes > 3_000_000


def test_a_text_within_a_row_is_cut_as_well() -> None:
    rows: Any = project(contract(max_bytes=100), [{TEXT: "x" * 999}]).fields["rows"]
    assert " [...] " in rows[0][TEXT]


def test_the_longest_text_is_cut_first() -> None:
    projected = project(contract(max_bytes=200), {"status": "s" * 60, TEXT: "t" * 600})
    assert projected.fields["status"] == "s" * 60


@pytest.mark.parametrize(
    "result",
    [{TEXT: [["x" * 50] * 9]}, {"status": 10**300}],
    ids=["nested", "number"],
)
def test_what_cannot_be_cut_is_left_out_and_says_so(result: Any) -> None:
    projected = project(contract(max_bytes=100), result)
    assert (projected.fields, projected.truncated, projected.empty) == ({"truncated": True}, True, False)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)) | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec=None)), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from(["status", "detail", TEXT, "secret"]), VALUES)


@settings(max_examples=200, deadline=None)
@given(result=OBJECTS | st.lists(OBJECTS, max_size=5), most=st.integers(min_value=40, max_value=400))
def test_whatever_comes_back_fits_and_can_be_stored(result: Any, most: int) -> None:
    projected = project(contract(max_bytes=most, max_rows=3), result)
    body = json.dumps(projected.fields, ensure_ascii=False, allow_nan=False)
    assert len(body.encode()) <= most
    assert "secret" not in str(projected.fields.keys())
    assert json.loads(body) == projected.fields
    assert projected.truncated is (projected.total_bytes != size(projected.fields))
