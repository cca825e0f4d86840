"""Folders from outside: what their files are without front matter, and that a file narrows and never widens."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from retrieval.faults import BrokenDocument
from retrieval.intake import Intake, folder_of, id_of, tenant_of
from retrieval.library import Library
from tests.retrieval.conftest import NOW, access, both, document

ACME = Intake(tenant="acme")
OPS = Intake(tenant="acme", acl=("ops", "hr"))
PUBLIC = Intake(tenant="acme", public=True)


def read(text: str, intake: Intake = ACME, file: str = "alerts/etcd/noLeader.md") -> object:
    return intake.document(file, text.encode(), "runbooks").front


def test_a_file_that_says_nothing_gets_its_id_from_its_place_and_its_version_from_its_content() -> None:
    one = ACME.document("alerts/etcd/noLeader.md", b"# No leader\n\ntext\n", "runbooks")
    other = ACME.document("alerts/etcd/noLeader.md", b"# No leader\n\nother text\n", "runbooks")
    assert (one.front.id, one.front.tenant, one.front.acl) == ("runbooks/alerts/etcd/noLeader", "acme", ())
    assert len(one.front.version) == 8
    assert one.front.version != other.front.version


def test_front_matter_may_say_the_rest_and_keep_its_own_words() -> None:
    front = ACME.document("a.md", b"---\nid: mine\nversion: 7\nacl: [hr]\nproduct: api\n---\ntext\n", "docs").front
    assert (front.id, front.version, front.acl, front.product) == ("mine", "7", ("hr",), "api")


@pytest.mark.parametrize(
    ("intake", "front", "reason"),
    [
        (ACME, "tenant: globex\n", "tenant: the file says 'globex', and the folder is read for 'acme'; correct"),
        (ACME, "tenant: public\n", "tenant: the file says 'public'"),
        (ACME, "tenant: [acme]\n", "tenant: the file says"),
        (OPS, "acl: [sales]\n", r"acl: the file says \['sales'\], and only \['ops', 'hr'\] may read"),
        (OPS, "acl: [ops, sales]\n", "acl: the file says"),
        (OPS, "acl: []\n", "acl: the file says"),
        (ACME, "acls: [hr]\n", "acls: unknown key"),
        (ACME, "tags: [a]\n", "tags: unknown key"),
        (ACME, "id: [unclosed\n", "not valid YAML"),
    ],
)
def test_a_file_cannot_widen_what_the_options_say(intake: Intake, front: str, reason: str) -> None:
    with pytest.raises(BrokenDocument, match=reason):
        read(f"---\n{front}---\ntext\n", intake)


def test_a_file_may_narrow_readers_and_a_public_folder_may_hold_documents_of_its_tenant() -> None:
    narrowed = OPS.document("a.md", b"---\nacl: [hr]\n---\ntext\n", "docs").front
    own = PUBLIC.document("a.md", b"---\ntenant: acme\n---\ntext\n", "docs").front
    assert (narrowed.acl, own.tenant) == (("hr",), "acme")
    assert PUBLIC.document("a.md", b"text\n", "docs").front.tenant == "public"


def test_keys_that_are_passed_over_by_name_break_nothing() -> None:
    intake = Intake(tenant="acme", passed_over=("tags", "date"))
    assert read("---\ntags: [a]\ndate: soon\n---\ntext\n", intake)


@pytest.mark.parametrize("text", ["---\nacl: [hr]\n# Text\n", "\n---\nacl: [hr]\n---\ntext\n"])
def test_what_begins_like_front_matter_and_is_none_is_never_taken_for_text(text: str) -> None:
    with pytest.raises(BrokenDocument, match="begins like front matter"):
        read(text)


@pytest.mark.parametrize("tenant", ["", "a b", "public", "a\n"])
def test_a_tenant_that_cannot_be_is_refused(tenant: str) -> None:
    with pytest.raises(ValidationError):
        Intake(tenant=tenant)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("guía de uso.md", "kb/guia-de-uso"),
        ("políticas/Envío.txt", "kb/politicas/Envio"),
        ("v1.2_final.md", "kb/v1.2_final"),
    ],
)
def test_file_names_are_told_in_the_letters_of_an_id(file: str, expected: str) -> None:
    assert id_of(file, "kb") == expected


def test_names_that_no_letters_tell_stay_apart_and_too_long_ones_are_refused() -> None:
    assert len({id_of("退款.md", "kb"), id_of("发货.md", "kb"), id_of("∑ a.md", "kb"), id_of("∏ a.md", "kb")}) == 4
    with pytest.raises(BrokenDocument, match="makes an id of 264 characters, at most 200"):
        read("text\n", file=f"{'a' * 255}.md")


def test_an_origin_names_tenant_and_folder(tmp_path: Path) -> None:
    origin = Intake(tenant="a/b%c").origin(tmp_path)
    assert (tenant_of(origin), folder_of(origin)) == ("a/b%c", tmp_path.resolve())
    assert (tenant_of(str(tmp_path)), folder_of(str(tmp_path))) == (None, tmp_path)


def test_other_readers_by_option_make_the_same_text_another_state(library: Library, corpus: Path) -> None:
    (corpus / "a.md").write_text("# A\n\nkeys\n")
    library.ingest(corpus, NOW, intake=ACME)
    assert both(library, "keys", access(tenant="acme"))[0]
    assert library.ingest(corpus, NOW, intake=OPS).count("changed") == 1
    assert both(library, "keys", access(tenant="acme")) == (set(), set())
    assert both(library, "keys", access(("hr",), tenant="acme"))[0]


def test_readers_that_were_taken_away_do_not_come_back_by_a_broken_file(library: Library, corpus: Path) -> None:
    (corpus / "a.md").write_text("# A\n\nkeys\n")
    library.ingest(corpus, NOW, intake=ACME)
    (corpus / "a.md").write_bytes(b"\xff\xfe")
    report = library.ingest(corpus, NOW, intake=OPS)
    assert (report.count("removed"), len(report.broken)) == (1, 1)
    assert both(library, "keys", access(tenant="acme")) == (set(), set())


def test_a_folder_that_was_public_and_is_not_any_more_leaves_nothing_public(library: Library, corpus: Path) -> None:
    (corpus / "a.md").write_text("# A\n\nkeys\n")
    library.ingest(corpus, NOW, intake=PUBLIC)
    assert both(library, "keys", access(tenant="globex"))[0]
    library.ingest(corpus, NOW, intake=ACME)
    assert both(library, "keys", access(tenant="globex")) == (set(), set())
    assert both(library, "keys", access(tenant="acme"))[0]


def test_a_domains_own_document_still_needs_its_front_matter(library: Library, corpus: Path) -> None:
    (corpus / "a.md").write_text("# A\n\nkeys\n")
    document(corpus, "b.md", "# B\n\nkeys\n")
    report = library.ingest(corpus, NOW)
    assert [fault.file for fault in report.broken] == ["a.md"]
