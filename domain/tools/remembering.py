"""What people ask the desk to remember of them, and to forget again."""

from typing import Annotated, Any

from pydantic import Field

from domain.ownership import EVERY_ROLE
from domain.policy import TOPICS
from domain.tools.fields import one_of
from state.contract import Effect, FailureMode, OutputField
from state.labels import Argument
from state.tools import Tool, ToolContext, tool

OneTopic = Annotated[str, Field(json_schema_extra={"enum": sorted(TOPICS)}, description="What it is about.")]
Saying = Annotated[
    str, Field(min_length=1, max_length=400, description="The sentence of the user that says it, word for word.")
]


def remembering_tools() -> tuple[Tool, ...]:
    """The tools that remember and forget, of whoever asks and of nobody else."""

    @tool(
        effect=Effect.WRITE,
        roles=EVERY_ROLE,
        arguments={"topic": Argument(role="object", may_choose=True), "saying": Argument(role="memory")},
        idempotent=True,
        failures=(
            FailureMode(code="unknown_topic"),
            FailureMode(code="unknown_source"),
            FailureMode(code="nothing_to_remember"),
            FailureMode(code="too_long"),
            FailureMode(code="weaker_source"),
        ),
        output=(
            OutputField(name="memory_id", trust="system", required=True),
            OutputField(name="status", trust="system", json_schema=one_of(_DID), required=True),
            OutputField(name="kept_as", trust="system", json_schema=one_of(("fact", "hypothesis")), required=True),
            OutputField(name="kept_until", trust="system", json_schema={"type": "string"}, required=True),
        ),
    )
    def save_memory(context: ToolContext, *, topic: OneTopic, saying: Saying) -> dict[str, Any]:
        """Remember (recordar) something that the user says of themselves, for later conversations.

        Errors: `unknown_topic`, `unknown_source`, `nothing_to_remember`, `too_long`, `weaker_source`.
        """
        kept = context.remember(topic, "saying")
        record = kept.record
        return {
            "memory_id": record.memory_id,
            "status": kept.did,
            "kept_as": "fact" if record.is_fact else "hypothesis",
            "kept_until": record.expires_at.isoformat(),
        }

    def gone(context: ToolContext, *, topic: OneTopic) -> dict[str, Any]:
        """What is forgotten again was forgotten: nothing of it is left either way."""
        return {"forgotten": context.forget_memories(topic)}

    @tool(
        effect=Effect.WRITE,
        roles=EVERY_ROLE,
        arguments={"topic": Argument(role="object")},
        idempotent=True,
        reversible=False,
        read_back=gone,
        output=(OutputField(name="forgotten", trust="system", json_schema={"type": "integer"}, required=True),),
    )
    def forget_memory(context: ToolContext, *, topic: OneTopic) -> dict[str, Any]:
        """Forget (olvidar) what the desk knows of the user on one topic, for good.

        Errors: none of its own.
        """
        return {"forgotten": context.forget_memories(topic)}

    return save_memory, forget_memory


_DID = ("new", "merged", "superseded", "confirmed")
