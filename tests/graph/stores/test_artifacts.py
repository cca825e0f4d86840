"""The contract of the port Artifacts, and what the SQL adapter promises beyond it."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import update

from graph.stores.artifacts import SqlArtifacts, encoded
from graph.stores.engine import Database
from graph.stores.schema import artifacts
from state.ports import ArtifactGone, Artifacts, NameTaken, RecordDamaged, StoredBody
from tests.fakes import FakeArtifacts

SECRET = b"a master secret of thirty-two by"


@pytest.fixture
def store(place: Database | None) -> Artifacts:
    return FakeArtifacts() if place is None else SqlArtifacts(place.everyday, (SECRET,))


def test_a_text_comes_back_from_its_address(store: Artifacts) -> None:
    ref = store.put("acme", "¿Por qué? \x00\r\n\t 🗝")
    assert store.get("acme", ref) == "¿Por qué? \x00\r\n\t 🗝"
    assert ref.startswith("art-")
    assert store.get("acme", store.put("acme", "")) == ""


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
@given(text=st.text())
def test_every_text_comes_back(store: Artifacts, text: str) -> None:
    assert store.get("acme", store.put("acme", text)) == text


def test_a_stored_body_is_intact_and_an_erased_one_is_left_out(store: Artifacts) -> None:
    ref, other = store.put("acme", "text"), store.put("acme", "")
    asked = [ref, "art-" + "0" * 64, "", "x" * 10**6, "art-\ud800", other, ref]
    assert store.examined("acme", asked) == {
        ref: StoredBody(text="text", intact=True),
        other: StoredBody(text="", intact=True),
    }
    assert store.examined("globex", [ref]) == store.examined("acme", []) == {}


def test_many_bodies_are_examined_together(store: Artifacts) -> None:
    refs = store.put_all("acme", map(str, range(1_200)))
    assert {body.text for body in store.examined("acme", refs).values()} == set(map(str, range(1_200)))


def test_names_are_resolved_together_and_what_stands_for_nothing_is_left_out(store: Artifacts) -> None:
    ref = store.put("acme", "text")
    names = {f"toolrun://req-{n}/step-1": ref for n in range(600)}
    for name in names:
        store.name("acme", name, ref)
    assert store.resolved("acme", [*names, "toolrun://nobody", "\x00", "\ud800"]) == names
    assert store.resolved("globex", names) == store.resolved("acme", []) == {}


def test_the_same_text_has_one_address_per_tenant(store: Artifacts) -> None:
    ref = store.put("acme", "text")
    assert store.put("acme", "text") == ref
    assert store.put("acme", "other text") != ref
    assert store.put("globex", "text") != ref


def test_another_tenants_address_is_gone_in_the_words_of_one_that_never_was(store: Artifacts) -> None:
    foreign = store.put("globex", "secret plan")
    never = "art-" + "0" * 64
    with pytest.raises(ArtifactGone) as of_foreign:
        store.get("acme", foreign)
    with pytest.raises(ArtifactGone) as of_never:
        store.get("acme", never)
    assert str(of_foreign.value).replace(foreign, never) == str(of_never.value)
    with pytest.raises(ArtifactGone):
        store.name("acme", "toolrun://req-1/step-1", foreign)


@pytest.mark.parametrize("ref", ["", "art-", "\x00", "\ud800", "art-\ud800", "art-" + "g" * 64, "x" * 10**6])
def test_what_cannot_be_an_address_is_gone(store: Artifacts, ref: str) -> None:
    with pytest.raises(ArtifactGone) as gone:
        store.get("acme", ref)
    assert len(str(gone.value)) < 600
    with pytest.raises(ArtifactGone):
        store.named("acme", ref)
    with pytest.raises(ArtifactGone):
        store.name("acme", "toolrun://req-1/step-1", ref)


@pytest.mark.parametrize(("text", "kept"), [("a\ud800b", "a\ufffdb"), ("\udc00\ud83d\udd11", "\ufffd🔑")])
def test_lone_surrogates_are_replaced(store: Artifacts, text: str, kept: str) -> None:
    ref = store.put("acme", text)
    assert store.get("acme", ref) == kept
    assert store.put("acme", kept) == ref


def test_a_name_is_given_once(store: Artifacts) -> None:
    name = "toolrun://req-42/step-3"
    first, second = store.put("acme", "first"), store.put("acme", "second")
    store.name("acme", name, first)
    store.name("acme", name, first)
    with pytest.raises(NameTaken, match="req-42"):
        store.name("acme", name, second)
    assert store.named("acme", name) == first


def test_names_belong_to_a_tenant(store: Artifacts) -> None:
    name = "toolrun://req-42/step-3"
    ours, theirs = store.put("acme", "ours"), store.put("globex", "theirs")
    store.name("globex", name, theirs)
    with pytest.raises(ArtifactGone):
        store.named("acme", name)
    store.name("acme", name, ours)
    assert (store.named("acme", name), store.named("globex", name)) == (ours, theirs)


def test_a_name_without_its_body_is_refused(store: Artifacts) -> None:
    with pytest.raises(ArtifactGone):
        store.name("acme", "toolrun://req-42/step-3", "art-" + "0" * 64)
    with pytest.raises(ArtifactGone):
        store.named("acme", "toolrun://req-42/step-3")
    with pytest.raises(ValueError, match="printable"):
        store.name("acme", "toolrun://\x00", store.put("acme", "text"))


def test_an_address_is_keyed_by_master_secret_and_tenant(database: Database) -> None:
    """Without the secret nobody can confirm a guessed text; with another one the old address stays readable."""
    before, after = SqlArtifacts(database.everyday, (SECRET,)), SqlArtifacts(database.everyday, (b"another secret",))
    ref = before.put("acme", "guess me")
    assert after.put("acme", "guess me") != ref
    assert after.get("acme", ref) == "guess me"


def test_utf8_is_left_alone() -> None:
    assert encoded("ñ🔑") == "ñ🔑".encode()


def test_a_changed_body_is_told_also_after_the_secret_was_changed(database: Database) -> None:
    before = SqlArtifacts(database.everyday, (SECRET,))
    ref, other = before.put("acme", "as it was stored"), before.put("acme", "left alone")
    with database.everyday.begin() as connection:
        changed = update(artifacts).where(artifacts.c.ref == ref).values(body=b"As it was stored")
        connection.execute(changed)
    rotated = SqlArtifacts(database.everyday, (b"another secret", SECRET))
    for store in (before, rotated):
        found = store.examined("acme", [ref, other])
        assert [(found[one].intact, found[one].text) for one in (ref, other)] == [
            (False, "As it was stored"),
            (True, "left alone"),
        ]


def test_bytes_that_are_no_text_are_an_error_to_read_and_no_intact_body(database: Database) -> None:
    """Decoded leniently they would be the very text that was put there."""
    store = SqlArtifacts(database.everyday, (SECRET,))
    ref = store.put("acme", "half a character: \ud800")
    with database.everyday.begin() as connection:
        changed = update(artifacts).where(artifacts.c.ref == ref).values(body=b"half a character: \xff")
        connection.execute(changed)
    assert store.examined("acme", [ref]) == {ref: StoredBody(text=None, intact=False)}
    for read in (lambda: store.get("acme", ref), lambda: store.get_all("acme", [ref])):
        with pytest.raises(
            RecordDamaged, match=f"the body at {ref} was changed after it was stored: .* `agent verify`"
        ):
            read()
