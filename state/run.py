"""Identity and the run's channels: who acts, what comes in, what the graph carries between nodes."""

from enum import StrEnum
from typing import Annotated, Any, Literal, NotRequired

from pydantic import AwareDatetime, Field, JsonValue

# Not typing's: pydantic, which makes the schemas that Studio shows, takes only this one before Python 3.12.
from typing_extensions import TypedDict

from state.context import Trust
from state.value import Value

PUBLIC_TENANT = "public"


class Fact(Value):
    """One value that a system of record holds about the principal: account, plan, open ticket.

    `seeks` marks a fact whose text helps to find evidence (a ticket's objective).
    """

    name: str
    value: str
    source: str
    trust: Literal[Trust.SYSTEM, Trust.USER] = Trust.SYSTEM
    seeks: bool = False


class Principal(Value):
    """Someone the domain knows. `name` reads `ana@acme`; `groups` decide which documents may be read."""

    name: str
    tenant: str
    roles: tuple[str, ...]
    groups: tuple[str, ...] | None = ()
    locale: str = "en"
    products: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()


class Scope(Value):
    """Who acts, in which tenant, on which thread. Derived from the runtime alone, never from a channel (L1).

    `principal` owns the thread: everything is read and done in that scope. `actor` is who calls now: the owner,
    or an approver of the same tenant. `max_decisions` is a bound that the caller set below the policy's.
    """

    principal: Principal
    actor: Principal
    thread: str
    max_decisions: int | None = None

    @property
    def tenant(self) -> str:
        return self.principal.tenant


class Access(Value):
    """The filter that stands before every ranking (L3). `groups` None means an unknown identity: refused."""

    tenant: str
    groups: tuple[str, ...] | None
    products: tuple[str, ...]
    now: AwareDatetime


class Edited(StrEnum):
    """What was written from outside: the task before the lap began, which is then marked so; or a channel of the lap
    itself, which then counts for nothing."""

    TASK = "task"
    LAP = "lap"


class RequestContext(Value):
    """What `resolve` fixed for this lap: ids, time, locale, the address of the user's turn, the record before.

    `edited` as LAP comes from the wrapper around the nodes, which checks the lap's seal.
    """

    request_id: str
    now: AwareDatetime
    locale: str
    message_id: str
    turn_ref: str
    turn_index: int
    parent: str | None
    edited: Edited | None = None


class RunContext(TypedDict, total=False):
    """How a run is to be made. A client may send all of it, so nothing here widens a right."""

    principal: Annotated[
        str,
        Field(
            title="Act as",
            description="Who asks, as name@tenant. Only where the server has no authentication; else it is refused.",
            examples=["name@tenant"],
        ),
    ]
    max_decisions: Annotated[
        int,
        Field(
            title="Decision bound",
            description="Stop after so many decisions with what is known by then. The policy's own bound still holds.",
            ge=1,
            examples=[3],
        ),
    ]


class UserMessage(TypedDict):
    """What a person says."""

    role: Annotated[Literal["user", "human"], Field(title="Role", examples=["user"])]
    content: Annotated[str, Field(title="Text", description="The question or the request.", min_length=1)]


class RunInput(TypedDict):
    """A run's input: one human message."""

    messages: Annotated[
        list[UserMessage],
        Field(
            title="Message",
            description="One message of the user. Earlier turns come from the record, never from the input.",
            min_length=1,
            max_length=1,
            examples=[[{"role": "user", "content": "Why does it not work?"}]],
        ),
    ]


class RunOutput(TypedDict, total=False):
    """What a run returns to a server's client: the view of the conversation, the task, the head of the chain."""

    messages: Annotated[list[Any], Field(title="Conversation", description="The turns as a chat shows them.")]
    task: Annotated[dict[str, JsonValue] | None, Field(title="Task", description="The state that code keeps of it.")]
    head: Annotated[str | None, Field(title="Head", description="The newest record of the chain, by its hash.")]


class AgentState(TypedDict):
    """The graph's channels: plain JSON values and addresses; models are rebuilt in the nodes' slices.

    `messages`, `task` and `head` last; the others belong to one lap and `log` clears them. `seal` is the wrapper's
    alone (graph.lap_seal): no node reads or writes it.
    """

    messages: NotRequired[list[Any]]
    task: NotRequired[dict[str, JsonValue] | None]
    head: NotRequired[str | None]
    request: NotRequired[dict[str, JsonValue] | None]
    decision: NotRequired[dict[str, JsonValue] | None]
    candidates: NotRequired[str | None]
    manifest: NotRequired[dict[str, JsonValue] | None]
    proposal: NotRequired[str | None]
    attempts: NotRequired[list[dict[str, JsonValue]] | None]
    verdicts: NotRequired[list[dict[str, JsonValue]] | None]
    observations: NotRequired[list[dict[str, JsonValue]] | None]
    seal: NotRequired[dict[str, JsonValue] | None]
