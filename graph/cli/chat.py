"""`agent chat`: a conversation in the terminal, one line per turn, approvals where they come up.

Standard input may be a pipe: then each line is a turn or an answer, and is repeated in the account.
"""

from collections.abc import Callable
from shlex import quote
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from graph.cli.account import heading, what_came
from graph.cli.approving import asked_for
from graph.cli.ending import answered, approver_of, pending_calls
from graph.cli.exits import FAILED, OK, WRONG_USE
from graph.cli.layout import Hanging
from graph.cli.opening import opened
from graph.cli.screen import Screen
from graph.cli.showing import decision_in_full
from graph.cli.spoken import Spoken
from graph.cli.turns import DECIDING, EXIT_CODES, going_on
from graph.faults import explained
from graph.result import DecisionShown, RunResult
from graph.stores.ownership import UnknownThread
from state.checks.hidden import visible

if TYPE_CHECKING:
    from graph.app import App
    from graph.conversation import Answer, OnDecision
    from graph.progress import OnProgress

_HELP = "/show: what the last turn was given and why. /quit or Ctrl-D: end. Ctrl-C: stop, also in a turn."
_FOR_OTHERS = "This is for somebody else to answer. Your next line is a new question, and gives what waits up."
_LEFT_WAITING = "Left waiting. A new question on this thread gives the call up; answer it before that."


def chat(screen: Screen, *, as_: str, thread: str | None, model: str | None) -> int:
    """Talk until the input ends. Gives the exit code of the last turn, or of what still waits.

    Raises UnknownPrincipal and what opening raises; what goes wrong in a turn is told, and the talk goes on.
    """
    with opened(screen, model) as app:
        app.identity.principal(as_)
        named = app.ports.ids.new("thread") if thread is None else thread
        talk = _Talk(screen, app, named, as_, model)
        try:
            return talk.until_the_end()
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"stopped; this goes on: {talk.command}") from None


class _Talk:
    """One conversation on one thread."""

    def __init__(self, screen: Screen, app: "App", thread: str, as_: str, model: str | None) -> None:
        self._screen, self._app, self._thread, self._as, self._model = screen, app, thread, as_, model
        self._lines = Spoken(screen)
        said = f" --model {model}" if model else ""
        self.command = f"agent chat --as {quote(as_)} --thread {quote(thread)}{said}"

    def until_the_end(self) -> int:
        """Turn after turn. Gives the exit code."""
        told = f"thread {self._thread} · {self._as} · model {self._app.ports.model.name}"
        self._say(Text(told, style="dim"), Hanging(Text(_HELP, style="dim"), indent=0), Text())
        code = self._what_waits()
        while (line := self._lines.next("> ")) is not None and line != "/quit":
            if line == "/show":
                self._show()
            elif line.startswith("/") and line[1:].isalpha():
                self._say(Hanging(_HELP, indent=0), Text())
            elif line:
                code = self._asked(line)
        self._say(Text(self.command, style="cyan", no_wrap=True, overflow="ignore"))
        return code

    def _what_waits(self) -> int:
        """A thread that was left with a pending call begins with it."""
        try:
            found = self._app.result(self._thread, as_=self._as)
        except UnknownThread:  # a new one; somebody else's is refused with the first question
            return OK
        return self._ended(found) if found.pending else OK

    def _asked(self, question: str) -> int:
        return self._turn(
            lambda told, now: self._app.ask(
                question, as_=self._as, thread=self._thread, on_decision=told, on_progress=now
            )
        )

    def _turn(self, run: "Callable[[OnDecision | None, OnProgress], RunResult]") -> int:
        try:
            with self._screen.following(DECIDING) as now:
                result = run(None if self._screen.json_wanted else self._tell, lambda event: now(going_on(event)))
        except Exception as error:
            fault = explained(error)
            if fault is None:
                raise
            self._screen.error(fault.message)
            return WRONG_USE if fault.wrong_use else FAILED
        return self._ended(result)

    def _ended(self, result: RunResult) -> int:
        """Tell how a turn ended, and ask for what it needs. Gives the exit code."""
        if self._screen.json_wanted:
            self._screen.text(result.model_dump_json())
        else:
            self._say(answered(result.answer, result.status))
            if result.error:
                self._say(Hanging(visible(result.error)), Text())
        answers = self._answers(result) if result.pending else {}
        if not answers:
            return EXIT_CODES[result.status]
        return self._turn(
            lambda told, now: self._app.resume(
                self._thread, as_=self._as, answers=answers, on_decision=told, on_progress=now
            )
        )

    def _answers(self, result: RunResult) -> "dict[str, Answer]":
        """What is said to the pending calls, here or by whoever may."""
        own = [call for call in result.pending if approver_of(self._app, result, call, self._as) == self._as]
        if not own:
            told = Hanging(Text(_FOR_OTHERS, style="yellow"), indent=0)
            self._say(pending_calls(self._app, result, self._as, self._model), told, Text())
            return {}
        answers = asked_for(self._screen, self._app, result, own, self._lines)
        if len(answers) < len(result.pending):
            self._say(Hanging(_LEFT_WAITING, indent=0), pending_calls(self._app, result, self._as, self._model))
        return answers

    def _show(self) -> None:
        try:
            found = self._app.result(self._thread, as_=self._as)
        except UnknownThread:
            self._say(Text("Nothing was asked yet."), Text())
            return
        self._say(*map(decision_in_full, found.decisions))

    def _tell(self, decision: DecisionShown) -> None:
        self._say(Group(heading(decision), *what_came(decision), Text()))

    def _say(self, *parts: RenderableType) -> None:
        if not self._screen.json_wanted:
            self._screen.out.print(*parts, sep="\n")
