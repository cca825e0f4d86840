"""A question that names a document as code has the name: the offline reader answers from it, and calls no tool."""

import json

import pytest

from graph.models.registry import open_model
from graph.models.words import code_names
from state.work import DecisionKind
from tests.graph.models.library import READS
from tests.graph.models.rendered import Working

READER = open_model("offline")
NAMED = "manuals/alerts/shelfNoScanner@1a2b3c4d#meaning"
SCANNER = "# shelfNoScanner\n\n## Meaning\n\nNothing was heard for a minute.\n"


def call(turn: str, source: str = NAMED) -> tuple[str, dict[str, object]]:
    case = Working(turn, kind=DecisionKind.GATHER, tools=READS)
    case.document("leaflet/loans@v3#late-books", "A book that is late costs ten cents a day.\n")
    case.document(source, SCANNER)
    (proposed,) = READER.reply(case.request()).calls
    return proposed.name, json.loads(proposed.arguments)


def test_a_named_document_answers_also_where_it_does_not_repeat_its_name() -> None:
    name, arguments = call("What does shelfNoScanner mean and how do I fix it?")
    assert name == "answer"
    assert arguments["text"] == f"Nothing was heard for a minute. [{NAMED}]"


def test_a_name_that_no_shown_document_has_changes_nothing() -> None:
    assert "Nothing was heard" not in json.dumps(call("What does shelfOnFire mean?"))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("What does etcdNoLeader mean?", {"etcdnoleader"}),
        ("KubePodCrashLooping and max_connections", {"kubepodcrashlooping", "max_connections"}),
        ("Why is my API key K-1007 not working on OpenSSL?", {"openssl"}),
        ("ALERT: Nothing works, see E-4012", set()),
    ],
)
def test_a_name_in_code_has_a_capital_or_an_underscore_inside(text: str, names: set[str]) -> None:
    assert code_names(text) == names
