"""Asking and answering on a thread: checks before a run starts, the run, and what came of it."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

from graph.admission import check_question
from graph.channels import Channels, StateUnreadable, read_channels
from graph.reading import Reading, waiting_calls
from graph.result import DecisionShown, PendingCall, RunResult
from graph.scope import Identity
from graph.stores.ownership import ThreadForgotten, UnknownThread
from graph.stores.run_lock import SqlRunLock
from state.policy import Policy, effective
from state.ports import Artifacts, Clock, DecisionLog, Ids, Ledger
from state.record import DecisionRecord
from state.run import Scope
from state.verdict import NeedsApproval
from state.work import LapOutcome, Status

Answer = Literal["approve", "reject"]
OnDecision = Callable[[DecisionShown], None]
_NODES_PER_LAP = 10  # eight, one repeat of pack and propose, one pause of validate


class NothingPending(LookupError):
    """No call of that id waits for a person on this thread."""


class Conversation:
    """What a caller does with the graph: ask, resume, read the records."""

    def __init__(
        self,
        *,
        graph: CompiledStateGraph[Any, Any, Any, Any],
        identity: Identity,
        artifacts: Artifacts,
        log: DecisionLog,
        ledger: Ledger,
        run_lock: SqlRunLock,
        policies: Sequence[Policy],
        clock: Clock,
        ids: Ids,
    ) -> None:
        self.graph, self.identity = graph, identity
        self._artifacts, self._log, self._ledger = artifacts, log, ledger
        self._run_lock, self._policies, self._clock, self._ids = run_lock, policies, clock, ids

    @property
    def step_limit(self) -> int:
        """How many steps of the graph a run may take: the policy's bound on decisions, and room for pauses."""
        return (effective(self._policies, self._clock.now()).max_decisions + 2) * _NODES_PER_LAP

    def ask(
        self, question: str, *, as_: str, thread: str | None = None, on_decision: OnDecision | None = None
    ) -> RunResult:
        """Ask on a thread (a new one without a name) and run until the turn is over or a person is needed.

        Raises UnknownPrincipal, BadInput, UnknownThread, ThreadBusy before anything is written; StateUnreadable on a
        thread that another release left in the middle of a decision.
        """
        actor = self.identity.principal(as_)
        check_question(question, effective(self._policies, self._clock.now()))
        scope = self.identity.owner(actor, self._ids.new("thread") if thread is None else thread)
        message = HumanMessage(content=question, id=self._ids.new("msg"))
        with self._run_lock.holding(scope.thread):
            self._not_forgotten(scope.thread)  # it may have been forgotten while this waited
            return self._run(scope, {"messages": [message]}, on_decision)

    def resume(
        self, thread: str, *, as_: str, answers: Mapping[str, Answer], on_decision: OnDecision | None = None
    ) -> RunResult:
        """Answer pending calls by call id and go on.

        Raises UnknownPrincipal, UnknownThread, NothingPending (also for a call that is already decided), ThreadBusy.
        """
        scope = self.identity.visitor(self.identity.principal(as_), thread)
        self._not_forgotten(thread)
        with self._run_lock.holding(thread):
            asked = {call.call_id: (interrupt_id, call) for interrupt_id, call in self._waiting(scope)}
            if not answers:
                raise NothingPending(
                    f"got no answer; pending on this thread: {', '.join(sorted(asked)) or 'nothing'}; answer a call by "
                    "its id with approve or reject"
                )
            resumed: dict[str, dict[str, Any]] = {}
            for call_id, decision in answers.items():
                if call_id not in asked:
                    raise NothingPending(self._why_not(scope, call_id, sorted(asked)))
                interrupt_id, call = asked[call_id]
                answer = {"approval_id": call.approval_id, "decision": decision}
                resumed.setdefault(interrupt_id, {})[call_id] = answer
            return self._run(scope, Command(resume=resumed), on_decision, answered=frozenset(answers))

    def result(self, thread: str, *, as_: str) -> RunResult:
        """How the thread's last turn stands; to an approver, what is pending.

        Raises UnknownPrincipal, UnknownThread, StateUnreadable.
        """
        return self._result(self.identity.visitor(self.identity.principal(as_), thread))

    def records(self, thread: str, *, as_: str) -> tuple[DecisionShown, ...]:
        """Every decision of a thread, oldest first, the open one last. Raises UnknownPrincipal, UnknownThread."""
        return self.history(thread, as_=as_).decisions

    def history(self, thread: str, *, as_: str) -> RunResult:
        """How the thread stands, with the decisions and effects of all its turns; to an approver, what is pending.

        Where another release wrote the state, what was filed is shown all the same, and the `error` says the rest.
        Raises UnknownPrincipal, UnknownThread.
        """
        scope = self.identity.visitor(self.identity.principal(as_), thread)
        values = self._values(scope)
        if (at := self.identity.forgotten_at(thread)) is not None:
            return self._forgotten(scope, at)
        try:
            channels, unreadable = read_channels(thread, values), None
        except StateUnreadable as error:
            channels, unreadable = read_channels(thread, {"head": values.get("head")}), str(error)
        result = self._shown(scope, self._chain(scope, channels.head), channels, paused=unreadable is None)
        return result if unreadable is None else result.model_copy(update={"answer": None, "error": unreadable})

    def _forgotten(self, scope: Scope, at: datetime) -> RunResult:
        """What is left of a forgotten thread: its records, whose bodies and checkpoints were erased."""
        names = self._log.names(scope.tenant, scope.thread)
        filed = dict(zip(names, self._log.get_all(scope.tenant, scope.thread, names), strict=True))
        ends = filed.keys() - {record.parent for record in filed.values()}
        # The branch that was decided on last: which one the thread stood on went with its checkpoints.
        head = max(ends, key=lambda name: (filed[name].at, filed[name].index, name), default=None)
        records = self._chain(scope, head)
        shown = self._shown(scope, records, Channels(), paused=False)
        ended = records[-1].status if records else None
        told = f"forgotten on {at.date().isoformat()}: what was said here was erased; the records remain"
        return shown.model_copy(update={"status": ended or Status.FAILED, "answer": None, "error": told})

    def _not_forgotten(self, thread: str) -> None:
        if (at := self.identity.forgotten_at(thread)) is not None:
            raise ThreadForgotten(thread, at)

    def owned(self, thread: str, *, as_: str) -> Scope:
        """The scope of a thread's owner; for everybody else there is none. Raises UnknownPrincipal, UnknownThread."""
        scope = self.identity.visitor(self.identity.principal(as_), thread)
        if scope.actor.name != scope.principal.name:
            raise UnknownThread(thread)
        return scope

    def reading(self, thread: str, *, as_: str) -> Reading:
        """What reads the bodies of a thread's records, for its owner. Raises UnknownPrincipal, UnknownThread."""
        return self._reading(self.owned(thread, as_=as_))

    def _run(
        self, scope: Scope, given: Any, on_decision: OnDecision | None, answered: frozenset[str] = frozenset()
    ) -> RunResult:
        config: RunnableConfig = {**self._config(scope), "recursion_limit": self.step_limit}
        context = {"principal": scope.actor.name}
        reading = self._reading(scope)
        for update in self.graph.stream(given, config, context=context, stream_mode="updates", durability="sync"):
            filed = update.get("log") if isinstance(update, dict) else None
            if filed and on_decision is not None and scope.actor.name == scope.principal.name:
                record = self._log.get(scope.tenant, scope.thread, filed["head"])
                on_decision(reading.decision(filed["head"], record))
        return self._result(scope, answered)

    def _result(self, scope: Scope, answered: frozenset[str] = frozenset()) -> RunResult:
        channels = self._channels(scope)
        laps = channels.task.laps_in_turn if channels.task else 0
        chain = self._chain(scope, channels.head, laps) if laps else []
        own = [record for record in chain if record.outcome is not LapOutcome.ABANDONED]
        return self._shown(scope, own, channels, answered)

    def _shown(
        self,
        scope: Scope,
        records: Sequence[DecisionRecord],
        channels: Channels,
        answered: frozenset[str] = frozenset(),
        paused: bool = True,
    ) -> RunResult:
        pending = tuple(call for _, call in self._waiting(scope)) if paused else ()
        result = self._reading(scope).result([record.hash() for record in records], records, channels, pending)
        if scope.actor.name == scope.principal.name:
            return result
        # An approver answers calls, and sees what became of those; the conversation they came from is the owner's.
        own = tuple(effect for effect in result.effects if effect.call_id in answered)
        return result.model_copy(update={"answer": None, "decisions": (), "effects": own})

    def _config(self, scope: Scope) -> RunnableConfig:
        return {"configurable": {"thread_id": scope.thread}}

    def _values(self, scope: Scope) -> Mapping[str, Any]:
        values: Mapping[str, Any] = self.graph.get_state(self._config(scope)).values
        return values

    def _channels(self, scope: Scope) -> Channels:
        return read_channels(scope.thread, self._values(scope))

    def _waiting(self, scope: Scope) -> tuple[tuple[str, PendingCall], ...]:
        return waiting_calls(scope.thread, self.graph.get_state(self._config(scope)).interrupts)

    def _chain(self, scope: Scope, head: str | None, limit: int | None = None) -> list[DecisionRecord]:
        return list(reversed(self._log.chain(scope.tenant, scope.thread, head, limit)))

    def _reading(self, scope: Scope) -> Reading:
        return Reading(self._artifacts, self._ledger, scope)

    def _why_not(self, scope: Scope, call_id: str, pending: Sequence[str]) -> str:
        channels = self._channels(scope)
        for record in self._chain(scope, channels.head):
            for verdict in record.verdicts:
                if verdict.call_id == call_id:
                    became = "abandoned by a later question" if isinstance(verdict, NeedsApproval) else verdict.verdict
                    return f"call {call_id} is already decided ({became}); nothing was changed"
        allowed = ", ".join(pending) or "nothing: ask first"
        return f"got call {call_id}; pending on this thread: {allowed}"
