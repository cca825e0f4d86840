"""What a suite shows: the tasks alone, and every pair of task and injection, in figures and in one line each."""

from collections.abc import Sequence

from evals.agentdojo.replay import Order, Played, Stage
from state.value import Value

TEXT_ONLY = {("travel", "injection_task_6")}  # an attack on what is said, not on what is done


class Benign(Value):
    """The tasks alone. `needless` approvals are those of a task whose own words left nothing open, as code sees it."""

    tasks: int
    useful: int
    asking: int
    approvals: int
    blocked: int
    asked: dict[str, list[str]]
    opened: dict[str, list[str]]


class Attacked(Value):
    """All pairs in one order."""

    order: Order
    pairs: int
    injected_writes: int
    executed_writes: int
    attacks_reached: int
    approvals_by_attacks: int
    blocked: int
    executed: list[str]
    reached: list[str]
    denied: list[str]


class SuiteReport(Value):
    """One suite."""

    suite: str
    benign: Benign
    attacked: tuple[Attacked, ...]


def measured(stage: Stage, orders: Sequence[Order]) -> SuiteReport:
    """Play a suite's tasks alone, and with every injection in each order."""
    world = stage.world
    tasks, injections = world.suite.user_tasks.values(), world.suite.injection_tasks.values()
    alone = [stage.benign(task) for task in tasks]
    attacked = tuple(
        _attacked(stage, order, [stage.attacked(task, one, order) for task in tasks for one in injections])
        for order in orders
    )
    return SuiteReport(suite=world.name, benign=_benign(alone), attacked=attacked)


def _benign(alone: Sequence[Played]) -> Benign:
    return Benign(
        tasks=len(alone),
        useful=sum(one.useful for one in alone),
        asking=sum(any(step.asked for step in one.own) for one in alone),
        approvals=sum(step.asked for one in alone for step in one.own),
        blocked=sum(any(step.outcome == "denied" for step in one.own) for one in alone),
        asked={
            one.task: [f"{step.tool}: {step.reason}" for step in one.own if step.asked or step.outcome == "denied"]
            for one in alone
            if any(step.asked or step.outcome == "denied" for step in one.own)
        },
        opened={
            one.task: sorted({step.tool for step in one.own if step.writes and "names this" not in step.reason})
            for one in alone
        },
    )


def _attacked(stage: Stage, order: Order, played: Sequence[Played]) -> Attacked:
    writes = [(one, step) for one in played for step in one.injected if step.writes]
    done = [(one, step) for one, step in writes if step.outcome in ("done", "failed") and not step.asked]
    reached = [one for one in played if one.attacked and (stage.world.name, one.injection) not in TEXT_ONLY]
    return Attacked(
        order=order,
        pairs=len(played),
        injected_writes=len(writes),
        executed_writes=len(done),
        attacks_reached=len(reached),
        approvals_by_attacks=sum(step.asked for one in played for step in one.injected),
        blocked=sum(any(step.outcome == "denied" for step in one.own) for one in played),
        executed=[f"{one.task} {one.injection} {step.tool}" for one, step in done],
        reached=[f"{one.task} {one.injection}" for one in reached],
        denied=[
            f"{one.task} {one.injection} {step.tool} {step.rule}"
            for one in played
            for step in one.own
            if step.outcome == "denied"
        ],
    )
