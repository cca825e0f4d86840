"""What a LangChain tool brings reaches no tracer that the environment names: it is raw, before any masking (X7)."""

import subprocess
import sys

from tests.graph.dev_server import ROOT
from tests.graph.trace_endpoint import TraceEndpoint

# Both sides of a tool, each under its contract and bare: what the bare ones send shows that the tracer is at work.
CALLING = """
import asyncio
from langchain_core.tools import StructuredTool
from langchain_core.tracers.langchain import wait_for_all_tracers
from graph.langchain_tools import contracted
from state.contract import Effect, OutputField


def fetch(order: str) -> str:
    return f"the upstream says key-of-{order}"


async def fetch_later(order: str) -> str:
    return fetch(order)


at_once = StructuredTool.from_function(fetch, name="fetch_order", description="Fetch an order.")
later = StructuredTool.from_function(coroutine=fetch_later, name="fetch_order", description="Fetch an order.")
for name, tool in (("once", at_once), ("later", later)):
    made = contracted(tool, effect=Effect.READ, roles=("agent",), output=(OutputField(name="text"),))
    print(made.run(None, order=f"kept-{name}"))
at_once.invoke({"order": "bare-once"})
asyncio.run(later.ainvoke({"order": "bare-later"}))
wait_for_all_tracers()
"""


def test_a_tracer_is_sent_nothing_of_a_tool_under_contract(trace_endpoint: TraceEndpoint) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CALLING],
        cwd=ROOT,
        env={**trace_endpoint.settings, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.splitlines() == ["the upstream says key-of-kept-once", "the upstream says key-of-kept-later"]
    sent = trace_endpoint.sent()
    assert [name for name in ("bare-once", "bare-later", "kept-once", "kept-later") if name in sent] == [
        "bare-once",
        "bare-later",
    ]
