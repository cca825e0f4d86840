"""Labels survive projection, cutting, splitting into blocks, writing and reading again, pages of a result, and the
handover of a turn that goes out of sight (S7): random pipelines."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from graph.result_reader import READ_RESULT, ResultReader, pages, readable
from nodes.execute.project import project
from nodes.pack.compact import compacted
from nodes.pack.drafts import Drafts
from nodes.pack.history import Handovers
from nodes.pack.trails import Trails
from nodes.resolve.handover import left_by
from nodes.validate.echoes import echoes_of
from nodes.validate.provenance import past_of, rows_of
from state.checks.known import Row, leaves, still_trusted
from state.checks.meaning import plain
from state.checks.origin import Shown
from state.checks.sources import Sources
from state.checks.trace import traced
from state.context import Trust
from state.contract import Effect, OutputField, ToolContract
from state.labels import Argument, Label
from state.verdict import Allowed
from state.work import Answer, LapOutcome, Status
from tests.fakes import NOW, CharCounter
from tests.nodes.parts import QUESTION, Parts, observation

TEXT: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"key": {"type": "string"}, "text": {"type": "string"}},
    "additionalProperties": False,
}
OUTPUT = (
    OutputField(name="key", trust="system", identifies="thing"),
    OutputField(name="held", trust="directory"),
    OutputField(name="note"),
)


def contract(name: str, effect: Effect, most_bytes: int) -> ToolContract:
    return ToolContract(
        name=name,
        description=name,
        effect=effect,
        parameters=TEXT,
        roles=("agent",),
        output=OUTPUT,
        arguments={"key": Argument(role="object")},
        max_bytes=most_bytes,
    )


SHARE_TOKENS = 2_000  # of characters, as they are counted here: older results are summarised, then named


class Pipeline:
    """Calls one after the other: each result is projected, filed, and shown in the request of the next."""

    def __init__(self, most_bytes: int) -> None:
        self.parts, self._index = Parts(), 0
        self._head: str | None = None
        self.contracts = {
            "look": contract("look", Effect.READ, most_bytes),
            "write": contract("write", Effect.WRITE, most_bytes),
            READ_RESULT: ResultReader(self.parts.artifacts, self.parts.log, {}).tool(("agent",)).contract,
        }
        self.bodies: list[tuple[str, str]] = []
        self.stored: list[str] = ["good-0-server"]

    def shown(self) -> tuple[Shown, ...]:
        parts = self.parts
        drafts = Drafts(parts.artifacts, CharCounter(), parts.scope.tenant, NOW)
        task = parts.task(laps_in_turn=self._index)
        request = parts.request(parent=self._head)
        traces = Trails(parts.artifacts, parts.log, self.contracts).this_turn(drafts, parts.scope, request, task)
        made = compacted(traces, drafts, SHARE_TOKENS).drafts
        said = Shown("objective", Trust.USER, QUESTION, "turn://1")
        return (said, *(Shown(one.item.item_id, one.item.trust, one.text, one.item.source) for one in made))

    def rows(self) -> tuple[Row, ...]:
        parts = self.parts
        chain = parts.log.chain(parts.scope.tenant, parts.scope.thread, self._head) if self._head else ()
        read = lambda ref: parts.artifacts.get(parts.scope.tenant, ref)  # noqa: E731 - a port's method, bound to a tenant
        echoes = frozenset[str]().union(*(echoes_of(record, read) for record in chain))
        return rows_of(
            self.shown(), self.contracts, parts.scope.principal, past_of(chain, 1, self.contracts, read, echoes)
        )

    def call(self, tool: str, arguments: dict[str, JsonValue], result: list[dict[str, Any]]) -> None:
        terms, parts = self.contracts[tool], self.parts
        trace = traced(terms, arguments, Sources(self.shown(), self.rows(), NOW.date()))
        projected = project(terms, list(result))
        call_id, name = f"c{self._index}", f"toolrun://r/{self._index}"
        body = json.dumps({"tool": tool, **projected.fields, "artifact_ref": name})
        self.bodies.append((name, body))
        seen = observation(
            call_id,
            tool,
            parts.put(body),
            artifact_ref=name,
            effect=terms.effect,
            trusted_fields=still_trusted(terms, (projected.whole, projected.fields), arguments, trace),
        )
        allowed = Allowed(call_id=call_id, rule="r", policy_version="desk-1", bound=call_id, trace=trace)
        self._head = parts.filed(
            parent=self._head,
            index=self._index,
            proposal_ref=parts.act((call_id, tool, arguments)),
            verdicts=(allowed,),
            observations=(seen,),
        )
        self._index += 1

    def read_on(self, which: int) -> None:
        """A page of a result that an earlier call brought."""
        name, body = self.bodies[which % len(self.bodies)]
        whole = readable(body)
        cut = pages(whole, 60)
        page = which % len(cut)
        shown = {"page": page + 1, "pages": len(cut), "whole_bytes": len(whole.encode()), "text": cut[page]}
        self.call(READ_RESULT, {"artifact_ref": name, "page": page + 1}, [shown])

    def handed_over(self, answer: str) -> tuple[Shown, ...]:
        """What the next turn is shown of this one, which ended with this answer and went out of sight."""
        parts = self.parts
        done = parts.proposal(Answer(text=answer))
        ended = {"proposal_ref": done, "observations": (), "outcome": LapOutcome.ANSWERED, "status": Status.ANSWERED}
        self._head = parts.filed(parent=self._head, index=self._index, **ended)
        laps = parts.log.chain(parts.scope.tenant, parts.scope.thread, self._head)
        kept = left_by(1, laps, (), parts.get)
        drafts = Drafts(parts.artifacts, CharCounter(), parts.scope.tenant, NOW)
        task = parts.task(handover_ref=parts.put(kept.model_dump_json()))
        made = Handovers(parts.artifacts, self.contracts).drafts(drafts, parts.scope, task)
        return tuple(Shown(one.item.item_id, one.item.trust, one.text, one.item.source) for one in made)


STEPS = st.lists(
    st.tuples(st.sampled_from(["look", "write", "read on"]), st.integers(0, 9), st.integers(0, 9), st.integers(0, 40)),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(steps=STEPS, most_bytes=st.sampled_from([120, 200, 8_000]))
def test_what_came_in_untrusted_is_never_read_as_trusted(
    steps: list[tuple[str, int, int, int]], most_bytes: int
) -> None:
    line, foreign = Pipeline(most_bytes), ["evil-0-text"]
    for number, (tool, which, other, padding) in enumerate(steps, 1):
        if tool == "look":
            # The server's rows hold whatever was written before, in fields that are trusted as such.
            stored = line.stored[which % len(line.stored)]
            note = f"evil-{number}-text"
            rows = [{"key": f"good-{number}-id", "held": f"{'x' * padding} {stored}", "note": note}]
            line.call("look", {}, rows)
            foreign.append(note)
        elif tool == "read on":
            if line.bodies:
                line.read_on(which)
        else:
            value = foreign[which % len(foreign)] if other % 2 else line.stored[which % len(line.stored)]
            # A note or a file under a key of its own, or a row that the value is the key of.
            key = f"good-{number}-note" if padding % 2 else value
            line.call("write", {"key": key, "text": value}, [{"key": key, "held": f"done: {value}", "note": ""}])
            line.stored.append(value)
    trusted = [cell for row in line.rows() for cell in row.cells if cell.label is not Label.UNTRUSTED]
    texts = [plain(str(leaf)) for cell in trusted for leaf in leaves(cell.value)]
    assert [text for text in texts if "evil-" in text] == []
    shown = (*line.shown()[:1], *line.handed_over(f"It says: {foreign[-1]}"))
    after = Sources(shown, (), NOW.date())
    labels = {traced(line.contracts["write"], {"key": value}, after)[0].label for value in foreign}
    assert labels <= {Label.UNTRUSTED, Label.NOWHERE}


@settings(max_examples=30, deadline=None)
@given(names=st.lists(st.from_regex(r"good-[a-z]{3,8}", fullmatch=True), min_size=1, max_size=5, unique=True))
def test_what_the_server_made_keeps_its_label(names: list[str]) -> None:
    line = Pipeline(8_000)
    line.call("look", {}, [{"key": name, "held": f"of {name}", "note": "anybody"} for name in names])
    found = [(cell.field.name, cell.label) for row in line.rows() for cell in row.cells]
    each = [("key", Label.SERVER), ("held", Label.DIRECTORY), ("note", Label.UNTRUSTED)]
    name_of_it = [("artifact_ref", Label.SERVER)]  # the engine's own
    assert sorted(found) == sorted([*each * len(names), *name_of_it])
