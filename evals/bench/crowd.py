"""Many runs against a slow model (`python -m evals.bench.crowd [--served]`): how long beside one run.

A run waits for its model; while it does, others go on. What the ratio shows above 1 is what the runs compute, for the
most part one after the other: one process of Python computes on little more than one core.
"""

import argparse
import asyncio
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from graph.app import App, open_app
from graph.models.adapter import ChatModelAdapter
from graph.models.inprocess import ToolDefinitions
from graph.models.offline import OfflineReader
from graph.settings import Settings
from state.value import Value

QUESTION = "Why is my API key not working?"
_RUN = re.compile(r"\breq-[0-9a-f]+")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+")


class SlowReader(OfflineReader):
    """The offline reader, `delay_s` late, which reads a request once.

    A model that takes so long computes on another machine: to a request that differs only in its times and in the name
    of its run it gives the reply that it has given before, with the new name.
    """

    delay_s: float
    _given: dict[str, tuple[str, str]] = PrivateAttr(default_factory=dict)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        await asyncio.sleep(self.delay_s)
        return ChatResult(generations=[ChatGeneration(message=self.once(messages, kwargs.get("tools", [])))])

    def once(self, messages: list[BaseMessage], tools: ToolDefinitions) -> AIMessage:
        """The reply at once, read where no such request was read before."""
        text = "\n".join(message.text for message in messages)
        match = _RUN.search(text)
        run = match[0] if match else "req-none"
        request = _TIME.sub("", text.replace(run, ""))
        if request not in self._given:
            self._given[request] = (run, self.replying(messages, tools).model_dump_json())
        named, reply = self._given[request]
        return AIMessage.model_validate_json(reply.replace(named, run))


class Crowd(Value):
    """One run's time and that of many together, in seconds; `calls` is how often a run waits for the model, `all_cpu_s`
    what the many computed, on all cores together."""

    runs: int
    delay_s: float
    calls: int
    one_s: float
    all_s: float
    all_cpu_s: float

    @property
    def cpu_per_run_ms(self) -> float:
        """What one of the many computed."""
        return 1_000 * self.all_cpu_s / self.runs

    @property
    def ratio(self) -> float:
        """How much longer all take than one."""
        return self.all_s / self.one_s


def crowd(runs: int, delay_s: float, home: Path) -> Crowd:
    """Measure on a home of its own. Every run answers, or this raises."""
    model = ChatModelAdapter(SlowReader(delay_s=delay_s), "slow")
    with open_app(Settings.load(home=home, model="offline"), model=model) as app:
        return asyncio.run(_measured(app, runs, delay_s))


async def _measured(app: App, runs: int, delay_s: float) -> Crowd:
    async with app.asynchronous() as graph:
        await _asked(graph, "first")  # what is loaded once is loaded now
        begun = time.perf_counter()
        head = await _asked(graph, "one")
        one_s = time.perf_counter() - begun
        begun, computed = time.perf_counter(), time.process_time()
        await asyncio.gather(*(_asked(graph, f"many-{number}") for number in range(runs)))
        all_s, all_cpu_s = time.perf_counter() - begun, time.process_time() - computed
    record = app.ports.log.get(_tenant(app), "one", head)
    return Crowd(runs=runs, delay_s=delay_s, calls=record.index + 1, one_s=one_s, all_s=all_s, all_cpu_s=all_cpu_s)


async def _asked(graph: Any, thread: str) -> str:
    done = await graph.ainvoke(
        {"messages": [HumanMessage(QUESTION, id=f"message-{thread}")]}, {"configurable": {"thread_id": thread}}
    )
    if done["task"]["status"] != "answered":
        raise RuntimeError(f"a run ended as {done['task']['status']}; it was to be answered")
    return str(done["head"])


def _tenant(app: App) -> str:
    principal = app.ports.domain.principal(app.ports.domain.principals()[0])
    if principal is None:
        raise LookupError("the domain does not know its first principal")
    return principal.tenant


def main() -> None:
    """Print the measurement as one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--delay", type=float, default=2.0, help="how long the model takes, in seconds")
    parser.add_argument("--served", action="store_true", help="through LangGraph's dev server, the model over HTTP")
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        found = _measure(given.served)(given.runs, given.delay, Path(folder))
    sys.stdout.write(
        f"{found.runs} runs of {found.calls} calls of {found.delay_s:g} s: one alone {found.one_s:.2f} s, "
        f"all together {found.all_s:.2f} s, ratio {found.ratio:.2f}; each run computed {found.cpu_per_run_ms:.0f} ms\n"
    )


def _measure(served: bool) -> Callable[[int, float, Path], Crowd]:
    if not served:
        return crowd
    from evals.bench.served import served_crowd  # its libraries are an extra

    return served_crowd


if __name__ == "__main__":
    main()
