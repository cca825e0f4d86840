"""`agent replay`, `explain`, `diff`, `prefix`, `verify`, `show --tree`: proof and explanation, as text or JSON."""

from collections import Counter
from collections.abc import Iterable

from rich.text import Text

from graph.cli.exits import FAILED, OK, WrongUse
from graph.cli.layout import Hanging, labelled
from graph.cli.opening import opened_to_look
from graph.cli.screen import Screen, one_line
from graph.cli.wording import EDITED, plural

_UNSEALED = (
    "an earlier release filed them, or somebody made them who can write the database; their hashes hold, and do not "
    "tell which"
)


def replay(screen: Screen, thread: str, index: int, *, as_: str, attempt: int | None, show: bool) -> int:
    """Print whether an attempt's bytes were rebuilt; with `show`, the bytes themselves. Gives 1 where they were not."""
    with opened_to_look(screen) as app:
        from graph.inspection.replay import replay as rebuilt

        found = rebuilt(app, thread, index, as_=as_, attempt=attempt)
    if screen.json_wanted:
        screen.text(found.model_dump_json(indent=2))
    elif show and found.request is not None:
        screen.text(found.request.canonical_bytes().decode())
    else:
        told = f"decision {found.index}, attempt {found.attempt}, {one_line(found.model)} → {found.outcome}"
        screen.out.print(Text(told, style="dim"))
        lines = [*labelled("sent", [found.recorded]), *labelled("rebuilt", [found.rebuilt or "not possible"])]
        lines += [*labelled("gone", map(one_line, found.gone)), *labelled("changed", map(one_line, found.changed))]
        lines += labelled("edited", [EDITED] if found.edited else [])
        for line in lines:
            screen.out.print(line)
        screen.out.print(
            Text("the same bytes", style="green") if found.proved else Text("not proved", style="bold red")
        )
    return OK if found.proved else FAILED


def explain(screen: Screen, thread: str, index: int, *, as_: str, item: str | None) -> None:
    """Print why each item is in or out: with one item named, all its figures."""
    with opened_to_look(screen) as app:
        from graph.inspection.explain import REQUIRED
        from graph.inspection.explain import explain as explained

        found = explained(app, thread, index, as_=as_, item=item)
    if screen.json_wanted:
        screen.text(found.model_dump_json(indent=2))
        return
    total, budget = found.total_input_tokens, found.budget_tokens
    told = f"[{index}] {found.decision} · {found.rule} · {total:,} of {budget:,} tokens · policy {found.policy_version}"
    screen.out.print(Hanging(Text(told, style="dim"), indent=0))
    if found.edited:
        screen.out.print(Hanging(Text(EDITED, style="bold red"), indent=0))
    times = Counter(why.source for why in found.items)
    for why in found.items:
        label = "in  " if why.chosen else "out "
        name = why.source if times[why.source] == 1 else f"{why.source} ({why.item_id})"
        figures = "" if why.utility is None else f" · utility {why.utility:.3f}, rank {why.rank}"
        brief = item is None and why.rule == REQUIRED
        if brief:
            figures = f" · required, {plural(why.tokens or 0, 'token')}"
        screen.out.print(Hanging(Text.assemble(one_line(name), (figures, "dim")), label, indent=0))
        if not brief:
            screen.out.print(Hanging(why.rule, indent=4))
        if item is not None:
            for line in _figures(why.features, found.weights or {}):
                screen.out.print(Hanging(line, indent=4))
            if why.budget_left_tokens is not None:
                left = f"{why.tokens or 0:,} tokens, {why.budget_left_tokens:,} left of the budget at its turn"
                screen.out.print(Hanging(left, indent=4))
            for name, value in why.scores.items():
                screen.out.print(Hanging(f"{one_line(name)} {value:g}", indent=4))


def _figures(features: dict[str, float], weights: dict[str, float]) -> Iterable[str]:
    for name, value in features.items():
        weight = weights.get(name)
        yield f"{name} {value:g}" + ("" if weight is None else f" × {weight:g}")


def diff(screen: Screen, thread: str, before: str, after: str, *, as_: str) -> None:
    """Print what changed between two decisions."""
    with opened_to_look(screen) as app:
        from graph.inspection.diff import diff as compared

        found = compared(app, _place(thread, before), _place(thread, after), as_=as_)
    if screen.json_wanted:
        screen.text(found.model_dump_json(indent=2))
        return
    prefix = "the same prefix" if found.prefix_same else "another prefix"
    told = f"{found.before} → {found.after} · {prefix} · {found.tokens[0]:,} → {found.tokens[1]:,} tokens"
    screen.out.print(Hanging(Text(told, style="dim"), indent=0))
    if found.policy[0] != found.policy[1]:
        screen.out.print(Hanging(f"policy {found.policy[0]} → {found.policy[1]}"))
    for section in found.sections:
        if not section.differs:
            continue
        screen.out.print(Text(f"{section.name}, {section.same} the same", style="bold"))
        for mark, sources in (("+ ", section.added), ("- ", section.removed)):
            for source in sources:
                screen.out.print(Hanging(one_line(source), mark))
        for changed in section.changed:
            screen.out.print(Hanging(f"{one_line(changed.source)}: {changed.before} → {changed.after}", "~ "))
    if not any(section.differs for section in found.sections):
        screen.out.print(Hanging("nothing differs"))


def prefix(screen: Screen, thread: str, *, as_: str) -> None:
    """Print what consecutive requests of each decision kind share, and where a stable part was broken."""
    with opened_to_look(screen) as app:
        from graph.inspection.prefix import prefixes

        found = prefixes(app, thread, as_=as_)
    if screen.json_wanted:
        screen.text(found.model_dump_json(indent=2))
        return
    screen.out.print(Text(f"thread {thread} · requests of one kind, each with the one before it", style="dim"))
    for kind in found.kinds:
        share = kind.stable_share
        told = f"first at [{kind.first}]" if share is None else f"{share:.0%} of the stable part shared"
        screen.out.print(Text.assemble((kind.decision, "bold"), f" · {told}"))
        for pair in kind.pairs:
            told = f"{pair.bytes:,} bytes, {pair.tokens:,} tokens · cache {pair.cache}"
            screen.out.print(Hanging(told, f"[{pair.before}] → [{pair.after}]  ", indent=2))
            if pair.ends is not None:
                label, style = ("broken  ", "bold red") if pair.broken else ("ends    ", "dim")
                screen.out.print(Hanging(Text(one_line(pair.ends.cause), style=style), label, indent=4))
    for index in found.unreadable:
        screen.out.print(Hanging(f"decision {index}: a body of its request was erased or changed", "gone    "))
    if not found.kinds:
        screen.out.print(Hanging("no request was sent"))


def _place(thread: str, given: str) -> tuple[str, int]:
    """`3` is a decision of the thread, `other:3` one of another thread. Raises WrongUse."""
    name, _, number = given.rpartition(":")
    if not number.isdecimal():
        raise WrongUse(f"got {given!r}; allowed: the number of a decision, or THREAD:NUMBER")
    return name or thread, int(number)


def verify(screen: Screen, thread: str, *, as_: str) -> int:
    """Print what was found changed or missing. Gives 1 where anything was."""
    with opened_to_look(screen) as app:
        from graph.inspection.verify import verify as verified

        found = verified(app, thread, as_=as_)
    if screen.json_wanted:
        screen.text(found.model_dump_json(indent=2))
        return OK if found.sound else FAILED
    counts = (
        plural(found.records, "record"),
        "1 branch" if found.branches == 1 else f"{found.branches} branches",
        "1 body" if found.bodies == 1 else f"{found.bodies} bodies",
        plural(found.attempts, "attempt"),
    )
    screen.out.print(Text(f"thread {thread} · {', '.join(counts)}", style="dim"))
    for fault in found.faults:
        screen.out.print(Hanging(one_line(fault.told), "fault   "))
    for gap in found.erased:
        screen.out.print(Hanging(one_line(gap), "erased  "))
    for index in found.edited:
        screen.out.print(Hanging(f"decision {index} was {EDITED}", "edited  "))
    if found.unsealed:
        screen.out.print(Hanging(f"{plural(found.unsealed, 'record')}: {_UNSEALED}", "no seal "))
    screen.out.print(Text(found.told, style="bold red" if found.faults else "yellow" if found.unsealed else "green"))
    return OK if found.sound else FAILED


def tree(screen: Screen, thread: str, *, as_: str) -> None:
    """Print every record of a thread, forks and edits as branches."""
    with opened_to_look(screen) as app:
        from graph.inspection.tree import line
        from graph.inspection.tree import tree as grown

        found = grown(app, thread, as_=as_)
    if screen.json_wanted:
        screen.text(found.model_dump_json(indent=2))
        return
    count = plural(len(found.records), "record")
    screen.out.print(Text(f"thread {thread} · {count} · * behind the thread's head", style="dim"))
    for filed in found.records:
        screen.out.print(Text(line(filed)))
