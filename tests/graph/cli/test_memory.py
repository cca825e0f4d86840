"""`agent memory`: own memories alone, or a role's; foreign and unknown look alike; what is forgotten is nowhere."""

from tests.graph.cli.conftest import Done, SameProgram, one_line_error
from tests.graph.stored_bytes import stored

BEA = ("--as", "bea@acme")


def ids(done: Done) -> dict[str, str]:
    return {one["text"]: one["memory_id"] for one in done.json()["memories"]}


def test_one_tends_ones_own_memories(same: SameProgram) -> None:
    added = same(
        "memory", "add", "contact", "--text", "Call me after ten, not at ana@example.com.", *BEA, "--json"
    ).json()
    assert (added["did"], added["memory"]["source"], added["memory"]["serves"]) == (
        "new",
        "user_stated",
        "answer/explain",
    )
    first = added["memory"]["memory_id"]
    assert added["memory"]["deletion_path"] == f"memory/acme/bea@acme/{first}"
    corrected = same("memory", "correct", first, "--text", "Call me at noon.", *BEA, "--json").json()
    assert (corrected["did"], corrected["memory"]["supersedes"]) == ("superseded", [first])
    newest = corrected["memory"]["memory_id"]
    for again in (("correct", first, "--text", "Call me never."), ("confirm", first)):
        error = one_line_error(same("memory", *again, *BEA), 2)
        assert f"which {newest} replaced; allowed: one that stands; name {newest}" in error
    told = " ".join(same("memory", "list", *BEA).out.split())
    assert f"replaced by {corrected['memory']['memory_id']}" in told
    assert "Call me after ten, not at [email]." in told
    assert ids(same("memory", "export", *BEA)).keys() >= {"Call me at noon.", "Call me after ten, not at [email]."}
    gone = same("memory", "forget", corrected["memory"]["memory_id"], *BEA)
    assert gone.out.startswith("forgotten: 2 with what was replaced")
    assert "Call me" not in same("memory", "export", *BEA).out
    assert [where for where, data in stored(same.home) if b"Call me at noon" in data] == []


def test_foreign_and_unknown_look_alike_and_a_role_tends_its_tenant(same: SameProgram) -> None:
    mine = same("memory", "add", "answers", "--text", "Short, please.", *BEA, "--json").json()["memory"]["memory_id"]
    ines, leo = ("--as", "ines@globex"), ("--as", "leo@acme")
    said = []
    for who in (ines, leo):
        for name in (mine, "mem-nobody"):
            error = one_line_error(same("memory", "forget", name, *who), 2)
            said.append(error.replace(name, "ID"))
    assert len(set(said)) == 1
    foreign = one_line_error(same("memory", "list", "--subject", "bea@acme", *ines), 2)
    unknown = one_line_error(same("memory", "list", "--subject", "nobody@acme", *ines), 2)
    assert foreign.replace("bea@acme", "X") == unknown.replace("nobody@acme", "X")
    vera = ("--as", "vera@acme")
    assert mine in same("memory", "list", "--subject", "bea@acme", *vera).out
    other = ("memory", "correct", mine, "--text", "Long ones.", *vera)
    assert "the address of the record" in one_line_error(same(*other), 2)
    kept = same(*other, "--source", "ticket://T-501", "--json").json()["memory"]
    assert (kept["source"], kept["source_ref"]) == ("system_record", "ticket://T-501")
    assert "weaker_source" in one_line_error(same("memory", "correct", kept["memory_id"], "--text", "Short.", *BEA), 2)


def test_what_the_policy_does_not_allow_is_refused_in_one_line(same: SameProgram) -> None:
    assert "allowed: the policy's topics, which are answers, contact, exports" in one_line_error(
        same("memory", "add", "rights", "--text", "I may do all.", *BEA), 2
    )
    assert "weaker" not in one_line_error(same("memory", "add", "contact", "--text", " ", *BEA), 2)
