"""retrieve (L3): what may enter, as addresses and scores; the filter stands before the search, nothing is repeated."""

from typing import Any

import pytest

from nodes.retrieve import Writes
from state.context import Classification, DropReason, Kind, Trust
from state.knowledge import Candidate, NotChosen, Snapshot
from state.memory import MemoryRecord, MemorySource
from state.run import Fact, Principal
from state.search import AccessUnknown
from state.task import Retrieved
from state.work import Route
from tests.desk import AGENT
from tests.fakes import NOW
from tests.nodes.parts import QUESTION, Parts
from tests.nodes.retrieving import CHUNKS, DAY, REFUNDS, Library, chunk, memory


def test_a_document_becomes_a_candidate_with_its_provenance(parts: Parts) -> None:
    found = Library(parts, memories=()).snapshot()
    (candidate,) = found.candidates
    assert candidate.relevance > 0
    assert candidate.scores["fused"] == 1.0
    assert candidate == Candidate(
        item_id="refunds@v2#top",
        kind=Kind.EVIDENCE,
        source="refunds@v2#top",
        trust=Trust.UNTRUSTED,
        ref=parts.put(REFUNDS.text),
        version="v2",
        retrieved_at=NOW,
        tenant="t1",
        scope="desk",
        classification=Classification.INTERNAL,
        span=REFUNDS.span,
        effective_from=NOW - DAY,
        effective_to=None,
        relevance=candidate.relevance,
        authority=0.9,
        scores=candidate.scores,
    )
    assert [parts.get(ref) for ref in found.queries] == [QUESTION]
    assert found.excluded == (
        NotChosen(
            item_id="refunds@v1",
            kind=Kind.EVIDENCE,
            source="refunds@v1",
            version="v1",
            reason=DropReason.SUPERSEDED,
        ),
        NotChosen(
            item_id="refunds@v3",
            kind=Kind.EVIDENCE,
            source="refunds@v3",
            version="v3",
            reason=DropReason.NOT_YET_EFFECTIVE,
        ),
    )


@pytest.mark.parametrize(
    ("record", "trust", "text", "relevance", "authority"),
    [
        pytest.param(
            memory("ma"), Trust.USER, "ma says hello (source: turn://1, since 2026-07-14)", 0.4, 0.8, id="user"
        ),
        pytest.param(
            memory("mb", MemorySource.SYSTEM_RECORD),
            Trust.SYSTEM,
            "mb says hello (source: turn://1, since 2026-07-14)",
            0.4,
            1.0,
            id="record",
        ),
        pytest.param(
            memory("mc", MemorySource.MODEL_INFERRED),
            Trust.UNTRUSTED,
            "hypothesis, inferred by a model: mc says hello (source: turn://1, since 2026-07-14)",
            0.25,
            0.5,
            id="hypothesis",
        ),
    ],
)
def test_a_memory_becomes_a_candidate_with_who_says_so(
    parts: Parts, record: MemoryRecord, trust: Trust, text: str, relevance: float, authority: float
) -> None:
    found = Library(parts, chunks=(), memories=(record,)).snapshot()
    assert found.candidates == (
        Candidate(
            item_id=record.memory_id,
            kind=Kind.MEMORY,
            source=f"memory://{record.memory_id}",
            trust=trust,
            ref=parts.put(text),
            version="2026-07-14T09:30:00+00:00",
            retrieved_at=NOW,
            tenant="t1",
            scope="mia@t1",
            classification=Classification.PERSONAL,
            effective_from=NOW - DAY,
            effective_to=NOW + DAY,
            relevance=relevance,
            authority=authority,
        ),
    )


def test_a_memory_that_shares_words_with_the_question_is_more_relevant(parts: Parts) -> None:
    told = (memory("m1", text="Prefers tea."), memory("m2", text="Order A1 is a gift."))
    found = Library(parts, chunks=(), memories=told).snapshot()
    assert [(one.item_id, one.relevance) for one in found.candidates] == [("m2", 0.7), ("m1", 0.4)]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        pytest.param(memory("m", expires_at=NOW), DropReason.EXPIRED, id="expired"),
        pytest.param(memory("m", purpose="marketing"), DropReason.OTHER_PURPOSE, id="another purpose"),
        pytest.param(memory("m", MemorySource.UNKNOWN), DropReason.UNKNOWN_SOURCE, id="unknown source"),
        pytest.param(memory("m", tenant="t2"), None, id="another tenant's appears nowhere"),
        pytest.param(memory("m", subject="kim@t1"), None, id="another subject's appears nowhere"),
    ],
)
def test_a_memory_that_fails_a_check_stays_out(parts: Parts, record: MemoryRecord, reason: DropReason | None) -> None:
    found = Library(parts, chunks=(), memories=(record,)).snapshot()
    assert found.candidates == ()
    expected = NotChosen(item_id="m", kind=Kind.MEMORY, source="memory://m", reason=reason) if reason else None
    assert found.excluded == ((expected,) if expected else ())
    assert "says hello" not in "".join(parts.artifacts.bodies.values())


@pytest.mark.parametrize(
    ("principal", "found"),
    [
        pytest.param(AGENT, ["refunds@v2#top"], id="own group"),
        pytest.param(AGENT.model_copy(update={"groups": ()}), [], id="no group"),
        pytest.param(
            AGENT.model_copy(update={"groups": ("hr", "desk")}), ["refunds@v2#top", "salaries@v1#top"], id="two"
        ),
        pytest.param(AGENT.model_copy(update={"tenant": "t2"}), ["theirs@v1#top"], id="another tenant"),
    ],
)
def test_only_what_the_principal_may_read_is_found(parts: Parts, principal: Principal, found: list[str]) -> None:
    library = Library(parts, memories=())
    request = parts.request(turn_ref=parts.artifacts.put(principal.tenant, QUESTION))
    wrote = library.run(principal=principal, request=request)
    body = parts.artifacts.get(principal.tenant, wrote.candidates)
    assert sorted(one.item_id for one in Snapshot.model_validate_json(body).candidates) == found
    assert not [body for (tenant, _), body in parts.artifacts.bodies.items() if tenant == "t1" and "ZX-881" in body]


def test_an_unknown_identity_searches_nothing(parts: Parts) -> None:
    library = Library(parts)
    with pytest.raises(AccessUnknown):
        library.run(principal=AGENT.model_copy(update={"groups": None}))
    assert library.index.searched == 0


def test_a_decision_that_needs_nothing_looks_nowhere(parts: Parts) -> None:
    library = Library(parts)
    assert library.run(route=Route.NONE, memory_limit=0) == Writes(candidates=None)
    assert library.index.searched == 0


@pytest.mark.parametrize(
    ("changes", "found", "searches"),
    [
        pytest.param({"route": Route.NONE}, ["m"], 0, id="only memory"),
        pytest.param({"memory_limit": 0}, ["refunds@v2#top"], 2, id="only documents"),
        pytest.param({}, ["m", "refunds@v2#top"], 2, id="both, one query in two branches"),
    ],
)
def test_the_route_says_where_to_look(parts: Parts, changes: dict[str, Any], found: list[str], searches: int) -> None:
    library = Library(parts)
    assert sorted(one.item_id for one in library.snapshot(**changes).candidates) == found
    assert library.index.searched == searches


def test_the_queries_are_the_turn_the_searches_and_what_records_say(parts: Parts) -> None:
    facts = (
        Fact(name="ticket", value="parcel lost", source="ticket://1", seeks=True),
        Fact(name="plan", value="pro", source="account://1"),
    )
    library = Library(parts, memories=())
    task = parts.task(query_refs=(parts.put("parcel"), parts.put(QUESTION)))
    found = library.snapshot(principal=AGENT.model_copy(update={"facts": facts}), task=task)
    assert sorted(parts.get(ref) for ref in found.queries) == sorted([QUESTION, "parcel", "parcel lost"])
    assert library.index.searched == 6
    assert {one.item_id for one in found.candidates} == {"refunds@v2#top", "tickets@v1#top"}


def test_the_number_of_candidates_is_bounded(parts: Parts) -> None:
    chunks = [chunk(f"d{n}@v1", f"refund order A1 of {n}") for n in range(9)]
    assert len(Library(parts, chunks, ()).snapshot(candidates_limit=4).candidates) == 4


def test_an_unchanged_retrieval_is_not_repeated(parts: Parts) -> None:
    library = Library(parts)
    first = library.run()
    done = Retrieved(key=library.snapshot().key, snapshot_ref=first.candidates)
    searched = library.index.searched
    assert library.run(task=parts.task(retrieved=(done,))) == Writes(candidates=done.snapshot_ref)
    assert library.index.searched == searched


@pytest.mark.parametrize("change", ["query", "corpus", "groups", "limit", "memory added", "memory expired"])
def test_a_changed_retrieval_is_done_anew(parts: Parts, change: str) -> None:
    library = Library(parts)
    first = library.run()
    done = Retrieved(key=library.snapshot().key, snapshot_ref=first.candidates)
    given: dict[str, Any] = {"task": parts.task(retrieved=(done,))}
    match change:
        case "query":
            given["task"] = parts.task(retrieved=(done,), query_refs=(parts.put("parcel"),))
        case "corpus":
            library = Library(parts, [*CHUNKS, chunk("other@v1", "no word in common")])
        case "groups":
            given["principal"] = AGENT.model_copy(update={"groups": ("desk", "hr")})
        case "limit":
            given["candidates_limit"] = 3
        case "memory added":
            library.memory.add(memory("m0"))
        case "memory expired":
            given["request"] = parts.request(now=NOW + DAY)
    assert library.run(**given).candidates != done.snapshot_ref
