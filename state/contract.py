"""What code knows of a tool before calling it (S7): effect, rights, limits, failures, and what of a result to trust."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, JsonValue, model_validator

from state.canonical import digest
from state.checks.hidden import unseen
from state.checks.schema import check_closed, check_schema
from state.labels import Argument, Label, Opens
from state.stated import FactName
from state.value import Ruled, Value


class Effect(StrEnum):
    """What a call does to the world."""

    READ = "read"
    WRITE = "write"
    EGRESS = "egress"


class Limit(Value):
    """A business rule on one argument: over the policy record's value, a person is asked or the call is denied."""

    parameter: str
    policy_key: str
    over: Literal["approve", "deny"] = "approve"


class Rate(Value):
    """A bound on how often a tool is called, or on what its calls come to together: a value of the policy record.

    `per` says over what is counted: a decision, a turn of the conversation, or everything that an actor or a tenant
    did within `window_s` seconds, on all threads. `counts` says what: calls, what they cost, or the values of the
    argument `parameter`, by their size. A call counts once, whatever its retries, and also where it failed: what was
    sent cannot be taken back.
    """

    policy_key: str
    per: Literal["decision", "turn", "actor", "tenant"]
    window_s: int | None = Field(default=None, gt=0)
    counts: Literal["calls", "cost", "amount"] = "calls"
    parameter: str | None = Field(default=None, exclude_if=lambda parameter: parameter is None)

    @model_validator(mode="after")
    def _of_a_parameter(self) -> Self:
        if (self.counts == "amount") != (self.parameter is not None):
            raise ValueError(
                f"got counts={self.counts!r} with parameter={self.parameter!r}; a rate of amounts names the parameter "
                "whose values it adds up, and no other rate has one"
            )
        return self


# What the engine itself writes into every result, as trusted: a tool's field of such a name would pass for ours.
RESERVED = frozenset(
    {"tool", "artifact_ref", "rows", "total_rows", "error", "outcome", "truncated", "total_bytes", "as_of", "cut"}
)


def _not_reserved(name: str) -> str:
    if name in RESERVED:
        raise ValueError(f"got {name!r}, which the engine writes itself; rename the field in the tool's result")
    return name


Schema = dict[str, JsonValue]


def _closed(schema: Schema) -> Schema:
    check_closed(schema)
    return schema


def _alone(schema: Schema | None) -> Schema | None:
    check_schema(schema or {}, root={})
    return schema


def _seen(text: str) -> str:
    if unseen(text):
        raise ValueError("got a description with characters that nobody sees; allowed: a text as it is read")
    return text


class OutputField(Value):
    """A field that the projection lets through, and who can write it.

    `trust`: `system` is made by the server (ids, bank amounts, dates), `directory` stands in a trusted directory, `own`
    is the principal's, everything else is writable by third parties. `own_if` names a field of the same row: where the
    server says there that the principal wrote the row, this field is the principal's own. `by` names the one that says
    who else wrote it, `within` the one that says in which place it stands. `told_in` names the text of the row that may
    mention who stands in this field, where a user asks for everyone whom it mentions. `outsiders` are the words by
    which a user calls the one who stands there and is not of their own mail domain (`client`): where all accounts of an
    organisation, and of none beside it, have that domain. `private`: not for others to read. `identifies` names the
    kind of thing whose id or name the field holds; `most` and `least` are the words that order by it (`largest`,
    `oldest`), `counted` what its rows are called where a user asks who has the most of them (`message`). With a
    `json_schema`, which refers to nothing, the field is checked; `required` ones have to be there in every result that
    is not empty. `states` names the fact whose value it holds (state.stated): where another source states another
    value, both are shown.
    """

    name: Annotated[str, AfterValidator(_not_reserved)]
    trust: Literal["system", "directory", "own", "untrusted"] = "untrusted"
    own_if: str | None = None
    by: str | None = None
    within: str | None = None
    told_in: str | None = Field(default=None, exclude_if=lambda name: name is None)
    outsiders: tuple[str, ...] = Field(default=(), exclude_if=lambda words: not words)
    private: bool = False
    identifies: str | None = None
    most: tuple[str, ...] = ()
    least: tuple[str, ...] = ()
    counted: tuple[str, ...] = ()
    json_schema: Annotated[Schema | None, AfterValidator(_alone)] = None
    required: bool = False
    states: FactName | None = Field(default=None, exclude_if=lambda name: name is None)

    @property
    def label(self) -> Label:
        """The label of what stands in this field, as far as the contract alone says."""
        return _LABELS[self.trust]


_LABELS = {
    "system": Label.SERVER,
    "directory": Label.DIRECTORY,
    "own": Label.OWN,
    "untrusted": Label.UNTRUSTED,
}


class Failed(Value):
    """How a result says that the call failed: a field of the raw result holds one of these values (H19).

    Without `values` any value does but null, false and empty. What the field says is not shown: `code` is.
    """

    field: str
    values: tuple[str | int | bool, ...] = ()
    code: str = "failed"


FAILURE_CODE = r"^[a-z][a-z0-9_]{1,63}$"


class FailureMode(Value):
    """A way to fail that a tool declares, by the code of its ToolError.

    `passing`: another try may succeed, and is made where the call is idempotent or only reads. `undecided`: the effect
    may have happened all the same; such a failure of a write is `unknown`, not an error.
    """

    code: Annotated[str, Field(pattern=FAILURE_CODE)]
    passing: bool = False
    undecided: bool = False


class Approvers(Value):
    """Who may answer for this tool, and what. Where a field is None the policy record's value holds."""

    roles: tuple[str, ...] | None = None
    self_approval: bool | None = None
    decisions: tuple[Literal["approve", "edit", "reject"], ...] = ("approve", "edit", "reject")


SecretName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{1,63}$")]


class ToolContract(Ruled):
    """All that code needs to know of a tool before calling it.

    `parameters` is a JSON schema whose objects are closed and whose references and patterns are safe to follow
    (state.checks.schema): others may have written it. What nobody sees stands in no text of it, nor in the description.
    `resources` maps a parameter to the kind of resource whose id it holds; such an id must belong to the
    principal's tenant and be traceable to something the request showed (X4). `arguments` says what the parameters
    decide, and so which origins suffice for them; one that is not named there is payload. `opens_when`: the user's own
    words open the effect too, where they name it; without, a plan alone does. `audience` is who sees what a call takes
    along: nobody, people of the principal's organisation, or others. `requires` names preconditions of the
    domain that must hold. `roles` empty means: nobody. `secrets` names the credentials that the tool may ask its
    context for; it is given no others. `retries` are further tries after a passing failure, with the same idempotency
    key. `reads_back`: the tool can say afterwards whether an effect happened. `fallback`: where a read fails, the last
    good result of the same call on this thread is shown, with its time. `isolated`: the tool runs in a process of its
    own, which is killed when its time is over; it has an empty environment and, of ours, only what it is given. `cost`
    is what a call costs, in the unit of
    the deployment.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{2,63}$")
    description: Annotated[str, AfterValidator(_seen)]
    effect: Effect
    parameters: Annotated[Schema, AfterValidator(_closed)]
    roles: tuple[str, ...]
    output: tuple[OutputField, ...]
    resources: dict[str, str] = {}
    arguments: dict[str, Argument] = {}
    opens_when: Opens | None = None
    audience: Literal["none", "internal", "external"] = "none"
    requires: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()
    rates: tuple[Rate, ...] = ()
    confirm: bool = False
    approvers: Approvers = Approvers()
    secrets: tuple[SecretName, ...] = ()
    idempotent: bool = False
    reversible: bool = True
    reads_back: bool = False
    failed: tuple[Failed, ...] = ()
    failures: tuple[FailureMode, ...] = ()
    retries: int = Field(default=0, ge=0, le=5)
    fallback: Literal["none", "last_result"] = "none"
    timeout_s: float = Field(default=30.0, gt=0, le=86_400)
    isolated: bool = False
    cost: float = Field(default=0.0, ge=0)
    max_rows: int = Field(default=20, gt=0)
    max_bytes: int = Field(default=8_000, gt=0)

    def definition_digest(self) -> str:
        """The hash that an approval binds: a changed definition is another tool."""
        return digest(self)

    def failure(self, code: str) -> FailureMode | None:
        """The declared failure of a code."""
        return next((mode for mode in self.failures if mode.code == code), None)

    def with_defaults(self, arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """Arguments with the values that the tool takes where none is given."""
        properties = self.parameters.get("properties")
        found = properties.items() if isinstance(properties, dict) else ()
        default = {name: one["default"] for name, one in found if isinstance(one, dict) and "default" in one}
        return {**default, **arguments}

    def role(self, parameter: str) -> Argument:
        """What a parameter decides. The id of a resource is an object, declared or not."""
        declared = self.arguments.get(parameter)
        if declared is not None:
            return declared
        return Argument(role="object" if parameter in self.resources else "payload")

    def field(self, name: str) -> OutputField | None:
        """The output field of a name."""
        return next((field for field in self.output if field.name == name), None)

    def output_schema(self) -> dict[str, JsonValue]:
        """The JSON schema of one result, or of one row of a list."""
        return {
            "type": "object",
            "properties": {field.name: field.json_schema or {} for field in self.output},
            "required": [field.name for field in self.output if field.required],
        }
