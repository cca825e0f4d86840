"""log puts a seal over each record: over all it says, its parent and its place included."""

import pytest

from state.canonical import canonical_json
from state.record import DecisionRecord, under_seal
from state.work import Answer, LapOutcome
from tests.fakes import NOW, FakeSeal
from tests.nodes.filing import ACCEPTED, SEEN, logged, record
from tests.nodes.parts import Parts


def sealed(parts: Parts) -> DecisionRecord:
    head = parts.filed()
    return record(parts, logged(parts, Answer(text="x"), verdicts=(ACCEPTED,), head=head))


def test_a_filed_record_has_a_seal_that_holds(parts: Parts) -> None:
    found = sealed(parts)
    assert found.seal is not None
    assert parts.seal.verify(under_seal(canonical_json(found)), found.seal)
    assert not FakeSeal(b"another key").verify(under_seal(canonical_json(found)), found.seal)


@pytest.mark.parametrize("name", sorted(DecisionRecord.model_fields.keys() - {"seal"}))
def test_whatever_of_it_is_changed_the_seal_holds_no_more(parts: Parts, name: str) -> None:
    found = sealed(parts)
    assert found.seal is not None
    others = {
        "parent": None,
        "index": 7,
        "at": NOW.replace(year=2030),
        "turn_index": 7,
        "decision": None,
        "attempts": (),
        "verdicts": (),
        "observations": (SEEN,),
        "outcome": LapOutcome.ESCALATED,
        "status": None,
        "edited": True,
    }
    changed = found.model_copy(update={name: others.get(name, "another")})
    assert not parts.seal.verify(under_seal(canonical_json(changed)), found.seal)


def test_the_name_of_a_record_covers_its_seal(parts: Parts) -> None:
    found = sealed(parts)
    assert found.model_copy(update={"seal": None}).hash() != found.hash()


def test_it_is_the_filed_bytes_that_the_seal_is_over(parts: Parts) -> None:
    """A later release may read them with more fields than they have."""
    found = sealed(parts)
    (filed,) = parts.log.bodies("t1", "T", [found.hash()]).values()
    assert found.seal is not None
    assert parts.seal.verify(under_seal(filed), found.seal)
    assert not parts.seal.verify(under_seal(filed.replace(b'"edited":false,', b"")), found.seal)
    with pytest.raises(ValueError, match="a JSON object"):
        under_seal(b"[]")
