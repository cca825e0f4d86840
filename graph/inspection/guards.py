"""Guards (X8): what the checks around one model call saw, by group, read from what was filed and nothing else."""

from collections.abc import Iterator
from html import escape
from typing import Literal

from graph.app import App
from graph.inspection.finding import decision_of
from graph.result import DecisionShown
from state.context import SCANNED, ContextManifest, DropReason, Kind
from state.render import in_prefix, scheme
from state.value import Value
from state.verdict import ANSWER, Denied, NeedsApproval

Outcome = Literal["passed", "flagged", "refused"]

_HIDDEN, _SIGNS, _PERSONAL = "hidden_characters", "injection_signs", "personal_data"
_OF_MEMORY = "memory_"  # begins the names of the rules of memory
_SAYING = ("answer", "clarify", "escalate")
_JUDGED = ("answered", "asked", "escalated", "denied")
# What became of a call whose reply was looked at; the others brought none.
_NO_REPLY = ("context_too_long", "unauthorised", "unreachable", "model_error")
# Left out for want of room or worth: the checks had let it pass.
_ROOM = (DropReason.OVER_BUDGET, DropReason.OVER_LIMIT, DropReason.UTILITY_NOT_POSITIVE)


class Guard(Value):
    """One check of one thing. `subject` is an item's id, a call's, a memory's, `answer` or `attempt N`.

    `flagged` is what was seen and let through: a sign in a text, or a call that a person decides on. `count` and
    `score` stand where the check counts and weighs.
    """

    check: str
    subject: str
    outcome: Outcome
    count: int | None = None
    score: float | None = None


class Guards(Value):
    """The checks of one decision: of what went in, of what the model said, of calls, of memories.

    `edited` says that the lap was written into from outside.
    """

    index: int
    input: tuple[Guard, ...]
    output: tuple[Guard, ...]
    tool: tuple[Guard, ...]
    memory: tuple[Guard, ...]
    edited: bool = False

    @property
    def groups(self) -> dict[str, tuple[Guard, ...]]:
        """The groups by name, in the order of the loop."""
        return {"input": self.input, "memory": self.memory, "output": self.output, "tool": self.tool}

    @property
    def passed(self) -> int:
        """How many checks found nothing."""
        return sum(guard.outcome == "passed" for found in self.groups.values() for guard in found)

    def raised(self) -> Iterator[tuple[str, Guard]]:
        """What did not pass, with its group."""
        for group, found in self.groups.items():
            yield from ((group, guard) for guard in found if guard.outcome != "passed")

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{group}</td><td>{escape(guard.check)}</td><td>{escape(guard.subject)}</td>"
            f"<td>{guard.outcome}</td><td>{'' if guard.count is None else guard.count}</td>"
            f"<td>{'' if guard.score is None else f'{guard.score:.2f}'}</td></tr>"
            for group, guard in self.raised()
        )
        edited = ", <b>edited from outside</b>" if self.edited else ""
        return (
            f"<p>guards of decision {self.index}{edited}: {self.passed} passed</p>"
            "<table><tr><th>group</th><th>check</th><th>of</th><th>outcome</th><th>count</th><th>score</th></tr>"
            f"{rows}</table>"
        )


def guards(app: App, thread: str, index: int, *, as_: str) -> Guards:
    """The checks of a decision, by group. Raises UnknownPrincipal, UnknownThread, NoSuchDecision; RecordDamaged where
    the decision cannot be read."""
    decision, _ = decision_of(app, thread, index, as_)
    return guards_of(decision)


def guards_of(decision: DecisionShown) -> Guards:
    """The checks of a decision as it was read."""
    manifest = decision.manifest
    return Guards(
        index=decision.index,
        input=() if manifest is None else tuple(_input(manifest)),
        output=tuple(_output(decision)),
        tool=tuple(_tool(decision)),
        memory=() if manifest is None else (*_memory(manifest), *_remembered(decision)),
        edited=decision.edited,
    )


def _input(manifest: ContextManifest) -> Iterator[Guard]:
    """What was seen in texts; of each text that entered also what was not. The operator's own are not looked at."""
    for flag in manifest.flags:
        yield Guard(check=flag.name, subject=flag.item_id, outcome="flagged", count=flag.count, score=flag.score)
    for dropped in manifest.dropped:
        if dropped.reason is DropReason.UNTRUSTED_IN_PLAN and dropped.kind is not Kind.MEMORY:
            yield Guard(check=dropped.reason.value, subject=dropped.item_id, outcome="refused")
    seen = {(flag.item_id, _PERSONAL if flag.name.startswith("personal_") else flag.name) for flag in manifest.flags}
    for item in manifest.items:
        if in_prefix(item) or scheme(item.source) == "decision":
            continue
        for check in (_HIDDEN, _SIGNS, _PERSONAL) if item.trust in SCANNED else (_HIDDEN,):
            if (item.item_id, check) not in seen:
                yield Guard(check=check, subject=item.item_id, outcome="passed")


def _memory(manifest: ContextManifest) -> Iterator[Guard]:
    """Whose memories were let in, and which were not, with why."""
    for item in manifest.items:
        if item.kind is Kind.MEMORY:
            yield Guard(check="recalled", subject=item.item_id, outcome="passed")
    for dropped in manifest.dropped:
        if dropped.kind is Kind.MEMORY:
            out = dropped.reason not in _ROOM
            check = dropped.reason.value if out else "recalled"
            yield Guard(check=check, subject=dropped.item_id, outcome="refused" if out else "passed")


def _remembered(decision: DecisionShown) -> Iterator[Guard]:
    """What the rules of memory refused."""
    for verdict in decision.verdicts:
        if isinstance(verdict, Denied) and verdict.rule.startswith(_OF_MEMORY):
            yield Guard(check=verdict.rule, subject=verdict.call_id, outcome="refused")


def _output(decision: DecisionShown) -> Iterator[Guard]:
    """Whether replies had the form that was asked for, and what was said may be said."""
    for number, attempt in enumerate(decision.attempts):
        name = attempt.outcome.name
        if name == "proposal":
            yield Guard(check="schema", subject=f"attempt {number}", outcome="passed")
            if attempt.taken_out:
                yield Guard(check=_HIDDEN, subject=f"attempt {number}", outcome="flagged", count=attempt.taken_out)
        elif name not in _NO_REPLY:
            yield Guard(check=name, subject=f"attempt {number}", outcome="refused")
    kind = (decision.proposal or {}).get("type")
    if kind not in _SAYING or decision.kind == "close" or decision.outcome not in _JUDGED:
        return
    denied = [one for one in decision.verdicts if one.call_id == ANSWER and isinstance(one, Denied)]
    yield from (Guard(check=one.rule, subject=ANSWER, outcome="refused") for one in denied)
    rules = {one.rule for one in denied}
    if "answer_holds_secret" not in rules:
        yield Guard(check="secrets", subject=ANSWER, outcome="passed")
    if not rules & {"answer_holds_secret", "answer_links_elsewhere"}:
        yield Guard(check="links", subject=ANSWER, outcome="passed")
        if kind == "answer" and not rules:
            yield Guard(check="citations", subject=ANSWER, outcome="passed")


def _tool(decision: DecisionShown) -> Iterator[Guard]:
    """What the rules said of each call, and what was over a rate when it was to be made."""
    for verdict in decision.verdicts:
        if verdict.call_id != ANSWER and not verdict.rule.startswith(_OF_MEMORY):
            match verdict:
                case Denied():
                    outcome: Outcome = "refused"
                case NeedsApproval():
                    outcome = "flagged"
                case _:
                    outcome = "passed"
            yield Guard(check=verdict.rule, subject=verdict.call_id, outcome=outcome)
    for seen in decision.observations:
        if seen.code == "rate_exceeded":
            yield Guard(check=seen.code, subject=seen.call_id, outcome="refused")
