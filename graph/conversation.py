"""Asking and answering on a thread: checks before a run starts, the run, and what came of it."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command
from pydantic import JsonValue

from graph.admission import check_carried, check_question
from graph.channels import Channels, StateUnreadable, read_channels
from graph.decided import already_decided, is_asked
from graph.lap_seal import Sealing
from graph.leased import HELD
from graph.progress import OnProgress, listening
from graph.reading import Reading, waiting_calls
from graph.result import DecisionShown, PendingCall, RunResult
from graph.scope import Identity
from graph.stores.lease import Lease
from graph.stores.ownership import UnknownThread
from graph.stores.run_lock import SqlRunLock
from state.policy import Policy, effective
from state.ports import Artifacts, Clock, DecisionLog, Ids, Ledger
from state.record import DecisionRecord, named
from state.run import Scope
from state.verdict import NeedsApproval
from state.work import LapOutcome, Status

ANSWER_WAIT_S = 20.0  # how long an answer waits for a run on its thread, so that it can be told what that one decided


class Edit(TypedDict):
    """An answer that approves a call with other arguments: all of them, as they are to be."""

    decision: Literal["edit"]
    arguments: Mapping[str, JsonValue]


Answer = Literal["approve", "reject"] | Edit
OnDecision = Callable[[DecisionShown], None]


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
        sealing: Sealing,
        policies: Sequence[Policy],
        clock: Clock,
        ids: Ids,
    ) -> None:
        self.graph, self.identity = graph, identity
        self._artifacts, self._log, self._ledger = artifacts, log, ledger
        self._run_lock, self._policies, self._clock, self._ids = run_lock, policies, clock, ids
        self._sealing = sealing

    def ask(
        self,
        question: str,
        *,
        as_: str,
        thread: str | None = None,
        on_decision: OnDecision | None = None,
        on_progress: OnProgress | None = None,
    ) -> RunResult:
        """Ask on a thread (a new one without a name) and run until the turn is over or a person is needed.

        `on_decision` is told of each decision once it is filed, `on_progress` of each event of graph.progress.

        Raises UnknownPrincipal, BadInput, UnknownThread, ThreadForgotten, ThreadBusy before anything is written;
        StateUnreadable on a thread that another release left in the middle of a decision; ThreadForgotten in the middle
        of a run too, for a thread that is forgotten meanwhile.
        """
        actor = self.identity.principal(as_)
        check_question(question, effective(self._policies, self._clock.now()))
        scope = self.identity.owner(actor, self._ids.new("thread") if thread is None else thread)
        message = HumanMessage(content=question, id=self._ids.new("msg"))
        with self._run_lock.holding(scope.thread) as lease:
            return self._run(scope, lease, {"messages": [message]}, on_decision, on_progress)

    def resume(
        self,
        thread: str,
        *,
        as_: str,
        answers: Mapping[str, Answer],
        on_decision: OnDecision | None = None,
        on_progress: OnProgress | None = None,
    ) -> RunResult:
        """Answer pending calls by call id and go on. One that does not count leaves its call pending, with a note.

        Raises UnknownPrincipal, UnknownThread, ThreadForgotten, BadInput for an answer that cannot be stored,
        NothingPending (also for a call that is already decided: by whom and when), ThreadBusy where another run goes on
        for long.
        """
        scope = self.identity.visitor(self.identity.principal(as_), thread)
        self.identity.not_forgotten(scope)
        with self._run_lock.holding(thread, wait_s=ANSWER_WAIT_S) as lease:
            self.identity.not_forgotten(scope)  # it may have been forgotten while this waited
            waiting = self._waiting(scope)
            asked = {call.call_id: (interrupt_id, call) for interrupt_id, call in waiting if is_asked(scope, call)}
            given: Any = answers  # whatever a caller of no types passes: it answers nothing, and is told so (H03)
            if not isinstance(given, Mapping) or not given:
                there = ", ".join(sorted(asked)) or "nothing"
                raise NothingPending(
                    f"invalid decision: got no answer; pending on this thread: {there}; answer a call by its id with "
                    "approve, reject or an edit"
                )
            check_carried(given)
            resumed: dict[str, dict[str, Any]] = {}
            for call_id, decision in given.items():
                if call_id not in asked:
                    raise NothingPending(self._why_not(scope, call_id, sorted(asked)))
                interrupt_id, call = asked[call_id]
                said = decision if isinstance(decision, Mapping) else {"decision": decision}
                answer = {"approval_id": call.approval_id, **said}
                resumed.setdefault(interrupt_id, {})[call_id] = answer
            return self._run(scope, lease, Command(resume=resumed), on_decision, on_progress, frozenset(given))

    def result(self, thread: str, *, as_: str) -> RunResult:
        """How the thread's last turn stands; to an approver, what is pending.

        Raises UnknownPrincipal, UnknownThread, StateUnreadable.
        """
        scope = self.identity.visitor(self.identity.principal(as_), thread)
        at = self.identity.forgotten_at(thread)
        return self._result(scope) if at is None else self._forgotten(scope, at)

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
            channels, unreadable = self._read(scope, values), None
        except StateUnreadable as error:
            channels, unreadable = read_channels(thread, {"head": values.get("head")}), str(error)
        result = self._shown(scope, self._named(scope, channels.head), channels, paused=unreadable is None)
        return result if unreadable is None else result.model_copy(update={"answer": None, "error": unreadable})

    def _forgotten(self, scope: Scope, at: datetime) -> RunResult:
        """What is left of a forgotten thread: its records, whose bodies and checkpoints were erased."""
        names = self._log.names(scope.tenant, scope.thread)
        filed = dict(zip(names, self._log.get_all(scope.tenant, scope.thread, names), strict=True))
        ends = filed.keys() - {record.parent for record in filed.values()}
        # The branch that was decided on last: which one the thread stood on went with its checkpoints.
        head = max(ends, key=lambda name: (filed[name].at, filed[name].index, name), default=None)
        filed_as = self._named(scope, head)
        shown = self._shown(scope, filed_as, Channels(), paused=False)
        ended = filed_as[-1][1].status if filed_as else None
        told = f"forgotten on {at.date().isoformat()}: what was said here was erased; the records remain"
        return shown.model_copy(update={"status": ended or Status.FAILED, "answer": None, "error": told})

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
        self,
        scope: Scope,
        lease: Lease,
        given: Any,
        on_decision: OnDecision | None,
        on_progress: OnProgress | None,
        answered: frozenset[str] = frozenset(),
    ) -> RunResult:
        # The run is on the thread that is held here until its result was read, so that it is its own.
        on = {**self._config(scope)["configurable"], HELD: lease}
        config: RunnableConfig = {"configurable": on}
        context = {"principal": scope.actor.name}
        reading = self._reading(scope)
        run = self.graph.stream(given, config, context=context, stream_mode="updates")
        with listening(on_progress):
            for part in run:
                filed = part.get("log") if isinstance(part, dict) else None
                if filed and on_decision is not None and scope.actor.name == scope.principal.name:
                    record = self._log.get(scope.tenant, scope.thread, filed["head"])
                    on_decision(reading.decision(filed["head"], record))
        return self._result(scope, answered)

    def _result(self, scope: Scope, answered: frozenset[str] = frozenset()) -> RunResult:
        channels = self._channels(scope)
        laps = channels.task.laps_in_turn if channels.task else 0
        filed = self._named(scope, channels.head, laps) if laps else []
        own = [(name, record) for name, record in filed if record.outcome is not LapOutcome.ABANDONED]
        return self._shown(scope, own, channels, answered)

    def _shown(
        self,
        scope: Scope,
        records: Sequence[tuple[str, DecisionRecord]],
        channels: Channels,
        answered: frozenset[str] = frozenset(),
        paused: bool = True,
    ) -> RunResult:
        pending = tuple(call for _, call in self._waiting(scope)) if paused else ()
        result = self._reading(scope).result(records, channels, pending)
        if scope.actor.name == scope.principal.name:
            return result
        # An approver sees the calls that ask him, and what became of those he answers; the conversation they came from
        # is the owner's, and what else waits is other approvers'.
        asked = tuple(call for call in result.pending if is_asked(scope, call))
        own = tuple(effect for effect in result.effects if effect.call_id in answered)
        return result.model_copy(update={"answer": None, "pending": asked, "decisions": (), "effects": own})

    def _config(self, scope: Scope) -> RunnableConfig:
        return {"configurable": {"thread_id": scope.thread}}

    def _values(self, scope: Scope) -> Mapping[str, Any]:
        values: Mapping[str, Any] = self.graph.get_state(self._config(scope)).values
        return values

    def _channels(self, scope: Scope) -> Channels:
        return self._read(scope, self._values(scope))

    def _read(self, scope: Scope, values: Mapping[str, Any]) -> Channels:
        channels = read_channels(scope.thread, values)
        edited = channels.request is not None and self._sealing.edited(scope, values)
        return channels.model_copy(update={"edited": edited})

    def _waiting(self, scope: Scope) -> tuple[tuple[str, PendingCall], ...]:
        return waiting_calls(scope.thread, self.graph.get_state(self._config(scope)).interrupts)

    def _named(self, scope: Scope, head: str | None, limit: int | None = None) -> list[tuple[str, DecisionRecord]]:
        """The records from the first to `head`, each with its name."""
        return list(reversed(named(head, self._log.chain(scope.tenant, scope.thread, head, limit))))

    def _reading(self, scope: Scope) -> Reading:
        return Reading(self._artifacts, self._ledger, scope)

    def _why_not(self, scope: Scope, call_id: str, pending: Sequence[str]) -> str:
        channels = self._channels(scope)
        settled = (verdict for verdict in channels.verdicts if not isinstance(verdict, NeedsApproval))
        filed = (verdict for _, record in self._named(scope, channels.head) for verdict in record.verdicts)
        allowed = ", ".join(pending) or "nothing: ask first"
        return already_decided(call_id, (*settled, *filed), scope) or (
            f"invalid decision: got call {call_id!s:.200}; pending on this thread: {allowed}"
        )
