"""Where each argument of a call comes from, by meaning and by whole typed value, and whether that suffices (X4)."""

from collections.abc import Mapping

from pydantic import JsonValue

from state.checks.amounts import derived
from state.checks.known import leaves
from state.checks.meaning import norm, number, same, words_of
from state.checks.sources import Sources
from state.checks.told import link_wanted, told
from state.contract import ToolContract
from state.labels import BY_THE_PRINCIPAL, FROM_A_FIELD, Argument, Label, Traced, joined

_OWN_WORDS = frozenset({"me", "myself", "mine", "my", "own", "mi", "mí"})


def traced(
    contract: ToolContract, arguments: Mapping[str, JsonValue], sources: Sources, typed: frozenset[str] = frozenset()
) -> tuple[Traced, ...]:
    """The trace of a call's arguments, in their order. `typed` are those that a person just wrote."""
    found = {
        name: Traced(argument=name, label=Label.USER, chosen="named")
        if name in typed
        else _argument(contract, name, value, sources)
        for name, value in arguments.items()
    }
    anchors = {
        norm(leaf)
        for name, value in arguments.items()
        if contract.role(name).role in ("target", "object") and (found[name].label is Label.USER or found[name].chosen)
        for leaf in leaves(value)
    }
    return tuple(
        _related(contract.role(name), value, found[name], anchors, sources) for name, value in arguments.items()
    )


def suffices(argument: Argument, trace: Traced) -> bool:
    """Whether an origin suffices for what an argument decides: a trusted field's where the user's words choose it."""
    if not argument.control:
        return argument.role in ("memory", "payload") or trace.label not in (Label.UNTRUSTED, Label.NOWHERE)
    if trace.chosen == "excepted":
        return False
    if trace.label is Label.NOWHERE:
        return argument.may_choose
    chosen = trace.chosen is not None or argument.may_choose
    return trace.label in BY_THE_PRINCIPAL or (trace.label in FROM_A_FIELD and chosen)


def _argument(contract: ToolContract, name: str, value: JsonValue, sources: Sources) -> Traced:
    argument = contract.role(name)
    if value is None or by_default(contract, name, value):
        return Traced(argument=name, label=Label.STATE)
    if isinstance(value, bool):
        if harmless(argument, value):
            return Traced(argument=name, label=Label.STATE)
        said = value and sources.words.names(name)
        return Traced(argument=name, label=Label.USER if said else Label.NOWHERE)
    parts = [_value(argument, leaf, sources) for leaf in leaves(value)] if isinstance(value, list | dict) else None
    if parts is None:
        parts = [_value(argument, value, sources)]
    label = joined(part.label for part in parts)
    chosen = {part.chosen for part in parts if part.label in FROM_A_FIELD}
    if any(part.chosen == "excepted" for part in parts):
        return Traced(argument=name, label=joined((Label.USER, label)), chosen="excepted")
    return Traced(
        argument=name,
        label=label,
        item_ids=tuple(dict.fromkeys(item for part in parts for item in part.item_ids)),
        field=next((part.field for part in parts if part.label is label), None),
        # Several were chosen only where each was.
        chosen=None if None in chosen else next((part.chosen for part in parts if part.label is label), None),
    )


def _value(argument: Argument, value: JsonValue, sources: Sources) -> Traced:
    """The trace of one value, under no name."""
    if harmless(argument, value):
        return Traced(argument="", label=Label.STATE)
    stems = argument.means.get(str(value), ())
    if any(word.startswith(stem) for stem in stems for word in sources.words.words):
        return Traced(argument="", label=Label.USER, chosen="named")
    if turns := sources.in_turns(value, argument):
        return Traced(argument="", label=Label.USER, item_ids=turns, chosen="named")
    if argument.control and sources.left_out.mentions(value, argument.role):
        return Traced(argument="", label=Label.USER, chosen="excepted")
    foreign = tuple(item.item_id for item in sources.in_foreign(value, argument))
    records = list(sources.in_records(value, argument))
    if records:
        # What is held about the principal does not say that the principal wants it sent there.
        wanted = argument.role != "target" or bool(sources.words.words & _OWN_WORDS)
        return Traced(
            argument="",
            label=Label.PRINCIPAL if wanted else Label.SERVER,
            item_ids=tuple(item.item_id for item in records),
            chosen="named" if wanted else None,
        )
    fields = _in_fields(argument, value, sources)
    if fields is not None:
        return fields
    if argument.role == "title" and (made := _made_of(value, sources)) is not None:
        return made
    if argument.control and sources.asked_about.mentions(value, argument.role):
        return Traced(argument="", label=Label.USER, chosen="excepted")
    if foreign:
        chosen = link_wanted(value, sources.own, sources.rows) if argument.role == "url" else None
        return Traced(argument="", label=Label.UNTRUSTED, item_ids=foreign, chosen=chosen)
    return Traced(argument="", label=Label.NOWHERE)


def _in_fields(argument: Argument, value: JsonValue, sources: Sources) -> Traced | None:
    """The trusted fields that hold a value whole, and the choice that the user's words make there."""
    wanted, found = norm(value), None
    meant = told(value, argument.kind, sources.own, sources.rows) if argument.role == "target" else False
    dated = wanted[: 10 if argument.role == "day" else 16].replace("t", " ")
    for row in sources.rows:
        if wanted not in row.holds and (argument.role not in ("time", "day") or dated not in row.holds):
            continue
        for cell in row.cells:
            # An id is no amount, though both are numbers.
            if cell.label is Label.UNTRUSTED or (argument.role == "amount" and cell.field.identifies is not None):
                continue
            if not any(_is(argument, value, leaf) for leaf in leaves(cell.value)) and not _same_day(
                argument, value, cell.value
            ):
                continue
            if argument.kind is not None and cell.field.identifies not in (argument.kind, None):
                continue
            chosen = None if meant is None else sources.selection.choice(value, row, cell)
            if chosen == "all" and argument.role == "target" and cell.label is Label.SERVER:
                chosen = None  # who wrote once to the user is not one of all whom the user knows
            one = Traced(
                argument="",
                label=cell.label,
                item_ids=row.item_ids,
                field=f"{row.tool}.{cell.field.name}",
                chosen=chosen,
            )
            if chosen is not None:
                return one
            found = found or one
    return found.model_copy(update={"chosen": "told"}) if found is not None and meant else found


def _made_of(value: JsonValue, sources: Sources) -> Traced | None:
    """A name that is made of the user's words and of what trusted fields say; None where a word of it is neither's."""
    missing = set(words_of(str(value))) - sources.all_words
    labels: list[Label] = [Label.USER]
    ids: list[str] = []
    for row in sources.rows:
        for cell in row.cells:
            if cell.label is Label.UNTRUSTED or not missing:
                continue
            found = missing & {word for leaf in leaves(cell.value) for word in words_of(str(leaf))}
            if found:
                missing -= found
                labels.append(cell.label)
                ids += row.item_ids
    return None if missing else Traced(argument="", label=joined(labels), item_ids=tuple(dict.fromkeys(ids)))


def _related(argument: Argument, value: JsonValue, found: Traced, anchors: set[str], sources: Sources) -> Traced:
    """An amount or a time of the very row that the user's words chose for this call: it belongs to what was asked."""
    if argument.role == "amount" and found.label is Label.NOWHERE and anchors and _derived(value, sources):
        return found.model_copy(update={"label": Label.SERVER, "chosen": "derived"})
    if argument.role not in ("amount", "time", "day") or found.label not in FROM_A_FIELD or found.chosen or not anchors:
        return found
    wanted = norm(value)
    for row in sources.rows:
        if wanted in row.holds and row.holds & anchors and not row.steered:
            return found.model_copy(update={"chosen": "related", "item_ids": row.item_ids})
    return found


def _derived(value: JsonValue, sources: Sources) -> bool:
    """Whether an amount follows from what the user said and the amounts of the rows that the words point at."""
    amount = number(value) if not isinstance(value, bool) else None
    if amount is None:
        return False
    held = {
        exact
        for row in sources.rows
        if not row.steered and sources.selection.points_at(row)
        for cell in row.cells
        if cell.label is Label.SERVER and cell.field.identifies is None and isinstance(cell.value, int | float)
        if not isinstance(cell.value, bool) and (exact := number(cell.value)) is not None
    }
    return derived(amount, sources.words.numbers, held, sources.words.text)


def by_default(contract: ToolContract, name: str, value: JsonValue) -> bool:
    """Whether a value is the one that a parameter has when nothing is given."""
    properties = contract.parameters.get("properties")
    schema = properties.get(name) if isinstance(properties, dict) else None
    if not isinstance(schema, dict) or "default" not in schema:
        return False
    return schema["default"] == value and type(schema["default"]) is type(value)


def harmless(argument: Argument, value: JsonValue) -> bool:
    """Whether a value of an argument needs no origin."""
    return any(type(one) is type(value) and one == value for one in argument.harmless)


def _is(argument: Argument, value: JsonValue, held: JsonValue) -> bool:
    """Whether a field holds a value: one that names a thing as it is, any other as it is compared."""
    return same(value, held) if argument.role in ("target", "object", "url") else norm(value) == norm(held)


def _same_day(argument: Argument, value: JsonValue, held: JsonValue) -> bool:
    """Whether a field holds the moment, or the day, of a value."""
    if argument.role not in ("time", "day") or not isinstance(value, str) or not isinstance(held, str):
        return False
    size = 10 if argument.role == "day" else 16
    return len(held) >= 10 and value.replace("T", " ")[:size] == held.replace("T", " ")[:size]
