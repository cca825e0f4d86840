"""What lies of a subject as the checks see it: read anew where it changed, and one record of each topic."""

from datetime import timedelta

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.memory_reading import subject_of
from retrieval.memory_relevance import replaced_by_standing
from tests.retrieval.test_memory import NOW, record

SAID_BY = ["system_record", "user_stated", "model_inferred"]


def test_what_is_as_it_was_is_not_read_anew_and_what_changed_is() -> None:
    stored = [
        (f"m{number}", record(f"m{number}", f"word{number} stands").model_dump(mode="json")) for number in range(30)
    ]
    before = subject_of(stored)
    changed = record("m7", "other words").model_dump(mode="json")
    now = [(key, changed if key == "m7" else dict(value)) for key, value in stored if key != "m3"]
    after = subject_of(now, before)
    plain = subject_of(now)
    assert (after.ids, after.records, after.words) == (plain.ids, plain.records, plain.words)
    assert {word: held.tolist() for word, held in after.places.items()} == {
        word: held.tolist() for word, held in plain.places.items()
    }
    kept = {id(one) for one in before.records}
    assert [key for key, one in zip(after.ids, after.records, strict=True) if id(one) not in kept] == ["m7"]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["", "a", "b"]), st.sampled_from(SAID_BY), st.integers(0, 3)), max_size=8))
def test_of_each_topic_the_first_by_authority_date_and_name_stands(given: list[tuple[str, str, int]]) -> None:
    held = [
        record(f"m{number}", about=about, source=source, created_at=NOW - timedelta(days=days))
        for number, (about, source, days) in enumerate(given)
    ]
    subject = subject_of((one.memory_id, one.model_dump(mode="json")) for one in held)
    replaced = {subject.ids[place] for place in replaced_by_standing(subject, np.arange(len(held)))}
    best = {
        about: min(
            (one for one in held if one.about == about),
            key=lambda one: (-one.authority, -one.created_at.timestamp(), one.memory_id),
        ).memory_id
        for about in {one.about for one in held} - {""}
    }
    assert replaced == {one.memory_id for one in held if one.about and best[one.about] != one.memory_id}
