"""LangSmith, where it is turned on, is sent names, times and nesting, and no text of anybody (X7)."""

import subprocess
import sys
from pathlib import Path

import pytest

from graph.build import ORDER
from tests.graph.dev_server import ROOT
from tests.graph.trace_endpoint import TraceEndpoint

# A question, a name that fails, and what a client may add to a run, each with a person in it.
ASKING = """
import sys
from contextlib import nullcontext
from pathlib import Path
from langchain_core.messages import HumanMessage
from langchain_core.tracers.langchain import wait_for_all_tracers
from langsmith import tracing_context
from graph.app import open_app
from graph.settings import Settings


def ask(thread, words, principal):
    config = {
        "configurable": {"thread_id": thread, "note": "PERSON-IN-NOTE"},
        "metadata": {"owner": "PERSON-IN-METADATA", "graph_id": {"x": "PERSON-IN-MAPPING"}},
    }
    return app.graph.invoke({"messages": [HumanMessage(words, id="m")]}, config, context={"principal": principal})


class Broken:
    name = "broken"

    def reply(self, request):
        raise RuntimeError("of PERSON-IN-ERROR")


settings = Settings.load(home=Path(sys.argv[1]), model="offline")
with tracing_context(enabled=True) if sys.argv[2] == "later" else nullcontext():
    with open_app(settings) as app:
        done = ask("t-1", "Why is my API key not working? I am PERSON-IN-QUESTION.", "ana@acme")
        print(done["task"]["status"])
    with open_app(settings, model=Broken()) as app:
        try:
            ask("t-2", "Who is it?", "ana@acme")
        except RuntimeError as error:
            print(error)
wait_for_all_tracers()
"""


@pytest.mark.parametrize("when", ["from the start", "later"])
def test_a_run_is_traced_by_name_and_no_text_of_it_arrives(
    trace_endpoint: TraceEndpoint, home: Path, when: str
) -> None:
    settings = trace_endpoint.settings | ({"LANGSMITH_TRACING": "false"} if when == "later" else {})
    done = subprocess.run(
        [sys.executable, "-c", ASKING, str(home), when],
        cwd=ROOT,
        env={**settings, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.startswith("answered\nof PERSON-IN-ERROR")
    sent, runs = trace_endpoint.sent(), trace_endpoint.runs()
    told = [word for word in ("PERSON", "working", "Who is it", "revoked", "runbook", "<section") if word in sent]
    assert told == []
    assert '"RuntimeError"' in sent, "of an error its kind"
    assert {run["run_type"] for run in runs} == {"chain"}, "no call of a model"
    roots = {run["id"] for run in runs if run["name"] == "expediente"}
    nodes = [run for run in runs if run["name"] in ORDER]
    assert {run["name"] for run in nodes} == set(ORDER)
    assert {run["parent_run_id"] for run in nodes} == roots
