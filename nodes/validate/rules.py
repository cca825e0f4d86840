"""The rules for calls, in order: the first no decides, else the first that asks; without any the call is denied (L6).

Each rule is a function of one Case; its name is the rule's id in verdicts and records. A no wins over asking, wherever
it stands: nobody is asked to approve what is not allowed. A person is told every reason for which a rule asks.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from jsonschema import FormatChecker, ValidationError
from pydantic import JsonValue

from nodes.validate.case import Allow, Ask, Case, Deny, Finding
from nodes.validate.origins import (
    argument_invented,
    chosen_by_model,
    effect_repeated,
    excepted_by_user,
    foreign_link,
    memory_from_untrusted,
    memory_lapsed,
    origin_unknown,
    private_data_leaves,
    settled_by_person,
    untrusted_origin,
)
from state.canonical import is_number
from state.checks.schema import validator
from state.checks.secret import holds_secret
from state.contract import Effect


def tool_not_offered(case: Case) -> Finding | None:
    """Tools are allow-listed per decision (X3)."""
    if case.call.tool not in case.decision.tools:
        return Deny("this decision does not offer the tool")
    return None


def role_not_allowed(case: Case) -> Finding | None:
    """Tools are allow-listed per role; a contract without roles is nobody's (X3)."""
    if not set(case.contract.roles) & set(case.scope.principal.roles):
        return Deny("the principal's roles do not include this tool")
    return None


def arguments_invalid(case: Case) -> Finding | None:
    """Strict schemas: unknown, missing, non-finite and coerced arguments are refused, never repaired (H18)."""
    if any(isinstance(value, float) and not math.isfinite(value) for value in _leaves(case.arguments)):
        return Deny("an argument is not a finite number")
    try:
        errors = sorted(validator(case.contract.parameters, FormatChecker()).iter_errors(case.arguments), key=_place)
    except (ArithmeticError, RecursionError):
        return Deny("an argument cannot be checked against the schema: it is too large or nested too deep")
    for error in errors:
        # The message of the library would repeat the value; the parameter and the keyword are ours to tell.
        place = f"argument {error.absolute_path[0]} does" if error.absolute_path else "the arguments do"
        return Deny(f"{place} not fit the schema: {error.validator}{_allowed(error)}")
    return None


def secret_in_arguments(case: Case) -> Finding | None:
    """A secret goes to a tool by its contract, never as an argument: a call is stored, shown and sent on (X7, X8)."""
    if holds_secret(case.arguments, case.masked):
        return Deny("an argument holds a secret, or what looks like one")
    return None


def resource_not_owned(case: Case) -> Finding | None:
    """A resource id belongs to the principal's tenant. Foreign and missing look the same (H18, M6)."""
    for parameter, kind, value in _resources(case):
        if not _looked(partial(case.owns[kind], case.scope, str(value))):
            return Deny(f"argument {parameter} names no {kind} of this principal")
    return None


def precondition_unmet(case: Case) -> Finding | None:
    """What a contract requires holds now, by the domain's own look (S7)."""
    for name in case.contract.requires:
        if not _looked(partial(case.holds[name], case.scope, case.taken_as, case.now)):
            return Deny(f"the precondition {name} does not hold")
    return None


def rate_exceeded(case: Case) -> Finding | None:
    """How often a tool is called, and at what cost, is bounded by the policy record (X8)."""
    return Deny(f"the call is over the rate {case.over[0]}") if case.over else None


def already_read(case: Case) -> Finding | None:
    """An unchanged read is not repeated while its result is fresh (L9, S10)."""
    if case.contract.effect is not Effect.READ:
        return None
    if any((before.tool, before.arguments) == (case.call.tool, case.call.arguments) for before in case.earlier):
        return Deny("the same call stands in this proposal already")
    for seen in case.read:
        age_s = (case.request.now - seen.at).total_seconds()
        fresh = seen.outcome in ("ok", "empty") and age_s < case.policy.observation_ttl_s
        if fresh and seen.arguments_digest == case.digest:
            return Deny("the same call already brought a result that is still fresh")
    return None


def edited_by_person(case: Case) -> Finding | None:
    """What a person changed is not done as it was as well: the proposal before the edit is settled (H03)."""
    if case.digest in case.changed:
        return Deny("a person changed this call in this turn, and it was carried out as changed")
    return None


def effect_not_opened(case: Case) -> Finding | None:
    """Side effects are off unless a plan lap without untrusted items opened them, or the user's own words name them
    where the contract says by which (X3)."""
    if case.contract.effect is Effect.READ or case.taken < case.opened.here[case.call.tool] or case.by_words:
        return None
    if case.contract.opens_when is not None:
        return Ask("nothing that the user said in this turn names this effect, and no plan opened it")
    return Deny("no plan of this turn opened this effect, or not so often")


def done_on_another_branch(case: Case) -> Finding | None:
    """An effect happens once however often its thread is forked: on the next branch a person is asked, whatever opens
    it there and whatever text it has."""
    if case.contract.effect is not Effect.READ and case.slot is None and case.opened.here[case.call.tool]:
        return Ask("the effect of this plan was already done on another branch of the thread")
    if case.repeats.elsewhere and not _begun(case, case.opened.unsettled | case.opened.untold):
        return Ask("a call on another branch of the thread, or in a lap that was cut off, did the same")
    return None


def earlier_call_unsettled(case: Case) -> Finding | None:
    """What was begun before and may have been done is not done again unasked: its process died, or the tool failed."""
    if _begun(case, case.opened.unsettled):
        return Ask("the same call was begun before, and whether it was done is not known")
    if case.repeats.unsettled:
        return Ask("a call that was to do the same was begun before, and whether it was done is not known")
    if _begun(case, case.opened.untold):
        return Ask("the same call was done before, in a turn that was cut off before anybody was told")
    return None


def over_limit(case: Case) -> Finding | None:
    """Business limits are values of the policy record; the contract says which argument they bind. A no wins."""
    asked: Ask | None = None
    for limit in case.contract.limits:
        value, most = case.taken_as.get(limit.parameter), case.policy.values.get(limit.policy_key)
        if value is None:
            continue
        if not is_number(value):
            return Deny(f"argument {limit.parameter} is no number, and has the limit {limit.policy_key}")
        if not is_number(most):
            return Deny(f"the policy record has no limit {limit.policy_key}")
        if value > most:
            reason = f"argument {limit.parameter} is over the limit {limit.policy_key}"
            if limit.over == "deny":
                return Deny(reason)
            asked = asked or Ask(reason)
    return asked


def sources_disagree(case: Case) -> Finding | None:
    """What is to be changed while sources that the request shows disagree is a person's to decide (S11)."""
    if case.contract.effect is not Effect.READ and case.disputed:
        return Ask("sources that the decision was made from disagree")
    return None


def needs_confirmation(case: Case) -> Finding | None:
    """High-impact operations need confirmation by contract, never by the model's confidence (X5)."""
    return Ask("this operation always needs a person's confirmation") if case.contract.confirm else None


def read_in_scope(case: Case) -> Finding | None:
    """A read that no rule above refused."""
    return Allow() if case.contract.effect is Effect.READ else None


def write_opened(case: Case) -> Finding | None:
    """A write that a plan or the user's words opened and no rule above refused. Egress never goes without a person."""
    if case.contract.effect is Effect.WRITE:
        return Allow()
    return Ask("data would leave the system")


RULES: tuple[Callable[[Case], Finding | None], ...] = (
    tool_not_offered,
    role_not_allowed,
    arguments_invalid,
    secret_in_arguments,
    resource_not_owned,
    argument_invented,
    precondition_unmet,
    rate_exceeded,
    already_read,
    edited_by_person,
    memory_from_untrusted,
    memory_lapsed,
    effect_not_opened,
    done_on_another_branch,
    earlier_call_unsettled,
    effect_repeated,
    settled_by_person,
    over_limit,
    excepted_by_user,
    untrusted_origin,
    origin_unknown,
    chosen_by_model,
    private_data_leaves,
    foreign_link,
    sources_disagree,
    needs_confirmation,
    read_in_scope,
    write_opened,
)


def judge(case: Case) -> tuple[str, Finding]:
    """The deciding rule's name and what it found. Default: denied."""
    asked: list[tuple[str, str]] = []
    for rule in RULES:
        match rule(case):
            case Deny() as denied:
                return rule.__name__, denied
            case Ask(reason):
                asked.append((rule.__name__, reason))
            case Allow() as allowed:
                if asked:
                    break
                return rule.__name__, allowed
            case None:
                continue
    if asked:
        return asked[0][0], Ask("; ".join(reason for _, reason in asked))
    return "default_deny", Deny("no rule allows this call")


def _place(error: ValidationError) -> str:
    return error.json_path


def _allowed(error: ValidationError) -> str:
    """What the contract's own schema allows instead: nothing of the value."""
    match error.validator:
        case "additionalProperties":
            known = error.schema.get("properties", {}) if isinstance(error.schema, Mapping) else {}
            told: object = ", ".join(known) or "none"
        case "required" | "enum":
            told = ", ".join(map(str, error.validator_value if isinstance(error.validator_value, list) else ()))
        case "type" | "const" | "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "format":
            told = error.validator_value
        case _:
            return ""
    return f"; the contract says {told!s:.200}"


def _looked(look: Callable[[], bool]) -> bool:
    """What a domain's own look says; one that fails, on whatever arguments a model or a person gave, says no."""
    try:
        return look()
    except Exception:  # noqa: BLE001 - it is the domain's code on anybody's values: without a yes it is a no
        return False


def _begun(case: Case, calls: frozenset[tuple[str, str, str]]) -> bool:
    """Whether another call of this tool and these arguments is among those: its own key is this very call."""
    return any((tool, digest) == (case.call.tool, case.digest) and key != case.bound for tool, digest, key in calls)


def _resources(case: Case) -> Iterator[tuple[str, str, JsonValue]]:
    for parameter, kind in sorted(case.contract.resources.items()):
        value = case.taken_as.get(parameter)
        if value is not None:
            yield parameter, kind, value


def _leaves(value: JsonValue) -> Iterator[JsonValue]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    else:
        yield value
