"""The rules for where arguments come from: control from whoever may decide, nothing carried out unasked (X4, S7)."""

from collections.abc import Iterator

from pydantic import JsonValue

from nodes.validate.case import Ask, Case, Deny, Finding
from state.checks.known import leaves
from state.checks.links import address, urls
from state.checks.meaning import plain, pressed, words_of
from state.checks.trace import suffices
from state.contract import Effect
from state.labels import FROM_A_FIELD, Argument, Label, Traced

_SHORTEST_PRESSED = 6  # letters and digits, of a value looked for whatever stands between them
_SHORTEST_SECRET = 4  # characters below which a private value stands in any text by chance


def argument_invented(case: Case) -> Finding | None:
    """A resource id comes from something the request showed, or from the person who edits the call (X4)."""
    for argument, trace in _decisive(case):
        if trace.label is Label.NOWHERE and trace.argument in case.contract.resources and not argument.may_choose:
            return Deny(f"argument {trace.argument} stands nowhere in the request")
    return None


def untrusted_origin(case: Case) -> Finding | None:
    """What only untrusted text says decides nothing unasked: no target, amount or time, and no title (X4)."""
    return _asked(case, Label.UNTRUSTED, "comes from untrusted text")


def memory_from_untrusted(case: Case) -> Finding | None:
    """What untrusted text says is not remembered: it would speak again in conversations that never showed it (S6)."""
    for argument, trace in _decisive(case):
        if argument.role == "memory" and trace.label is Label.UNTRUSTED:
            return Deny(f"argument {trace.argument} repeats untrusted text, which is not remembered")
    return None


def memory_lapsed(case: Case) -> Finding | None:
    """What was decided by a memory is not done once that has ended, was replaced or forgotten (S6)."""
    if case.contract.effect is not Effect.READ and case.lapsed:
        return Deny("a memory that the decision was made from is no longer current")
    return None


def origin_unknown(case: Case) -> Finding | None:
    """A control value that the model made up, or worked out, is shown to a person (X4)."""
    return _asked(case, Label.NOWHERE, "stands nowhere in the request")


def chosen_by_model(case: Case) -> Finding | None:
    """A trusted field shows many values; which of them is meant, the user's words say, or a person (X4)."""
    for argument, trace in _decisive(case):
        strict = trace.argument in case.contract.arguments or not case.contract.reversible
        if case.contract.effect is Effect.READ or not strict:
            continue
        # Titles are anybody's: they choose an object that can be put back, and no target.
        titled = trace.chosen == "titled" and not (case.contract.reversible and argument.role == "object")
        if trace.label in FROM_A_FIELD and (titled or not suffices(argument, trace)):
            return Ask(f"argument {trace.argument} was chosen by the model: the user's words do not say which one")
    return None


def excepted_by_user(case: Case) -> Finding | None:
    """What the user's words name to leave it out is not what they ask for (X4)."""
    for argument, trace in _decisive(case):
        if case.contract.effect is not Effect.READ and argument.control and trace.chosen == "excepted":
            return Ask(f"argument {trace.argument} is what the user's words leave out, or only ask about")
    return None


def effect_repeated(case: Case) -> Finding | None:
    """The words that open an effect open it once for the same target, amount and time (X3). A plan opens it as often as
    it says, but no amount and nothing that cannot be put back twice for the same: a plan is the model's."""
    given = {case.contract.role(name).role for name in case.arguments}
    if case.repeats.done and (case.by_words or "amount" in given or not case.contract.reversible):
        return Ask("an effect of this turn did the same, with another text at most")
    return None


def settled_by_person(case: Case) -> Finding | None:
    """What a person rejected or changed in this turn is not done with another text instead (H03)."""
    if case.repeats.settled:
        return Ask("a person rejected or changed a call in this turn that was to do the same")
    return None


def private_data_leaves(case: Case) -> Finding | None:
    """Private fields reach nobody outside unless the user's words name them (S7)."""
    if case.contract.audience != "external":
        return None
    texts = [plain(text) for _, text in _texts(case)]
    closed = [pressed(text) for _, text in _texts(case)]
    for row in case.rows:
        for cell in row.cells:
            if not cell.field.private or set(words_of(cell.field.name)) & case.sources.words.words:
                continue
            values = [plain(str(leaf)) for leaf in leaves(cell.value)]
            bare = [one for value in values if len(one := pressed(value)) >= _SHORTEST_PRESSED]
            if any(len(value) >= _SHORTEST_SECRET and value in text for value in values for text in texts) or any(
                one in text for one in bare for text in closed
            ):
                return Ask(f"the private field {cell.field.name} would go to others")
    return None


def foreign_link(case: Case) -> Finding | None:
    """A link that goes to people comes from the user or from a trusted field: a link is an order to whoever reads."""
    if case.contract.audience == "none":
        return None
    for name, text in _texts(case):
        if case.contract.role(name).role == "url":
            continue
        found = urls(text) - case.sources.words.urls
        if found and not found <= _trusted_links(case):
            return Ask(f"argument {name} holds a link that does not come from the user")
    return None


def _asked(case: Case, label: Label, why: str) -> Ask | None:
    for argument, trace in _decisive(case):
        read = argument.role == "url" and case.contract.effect is Effect.READ
        if (
            trace.label is label
            and not (read and trace.chosen in ("author", "place", "told"))
            and not suffices(argument, trace)
        ):
            return Ask(f"argument {trace.argument} {why}")
    return None


def _decisive(case: Case) -> Iterator[tuple[Argument, Traced]]:
    """The arguments whose origin counts: of an effect those that decide or name; of a read the ids of resources, and
    what can carry data out."""
    for trace in sorted(case.trace, key=lambda one: one.argument):
        argument = case.contract.role(trace.argument)
        if (
            case.contract.effect is not Effect.READ
            or trace.argument in case.contract.resources
            or argument.role == "url"
        ):
            yield argument, trace


def _texts(case: Case) -> Iterator[tuple[str, str]]:
    for name, value in case.arguments.items():
        for leaf in leaves(value):
            if isinstance(leaf, str):
                yield name, leaf


def _trusted_links(case: Case) -> frozenset[str]:
    cells = (cell for row in case.rows for cell in row.cells if cell.label is not Label.UNTRUSTED)
    held: list[JsonValue] = [leaf for cell in cells for leaf in leaves(cell.value)]
    # A link inside a name is not the name: a field holds a link where it is one.
    return frozenset(address(leaf) for leaf in held if isinstance(leaf, str) and urls(leaf) == {address(leaf)})
