"""One call that is about to run: all that claiming, running and filing it need."""

from dataclasses import dataclass

from pydantic import JsonValue

from state.checks.quote import is_quote
from state.ports import Claim
from state.run import RequestContext, Scope
from state.tools import Tool
from state.verdict import Allowed
from state.work import Quote, ToolCall


@dataclass(frozen=True)
class Step:
    """An allowed call with its tool and its arguments read back. `digest` names tool and arguments."""

    ordinal: int
    call: ToolCall
    tool: Tool
    arguments: dict[str, JsonValue]
    verdict: Allowed
    digest: str
    request: RequestContext
    scope: Scope

    @property
    def key(self) -> str:
        """The name of this one effect: the call that the verdict bound, so a second run of it is no second effect."""
        return self.verdict.bound

    @property
    def quotes(self) -> dict[str, Quote]:
        """The arguments that stand word for word in a user's turn. What a person edited is the person's."""
        given = self.call.arguments if self.verdict.edited is None else {}
        return {name: Quote.model_validate(value) for name, value in given.items() if is_quote(value)}

    @property
    def named(self) -> str:
        """The public name of the result."""
        return f"toolrun://{self.request.request_id}/step-{self.ordinal + 1}"

    def claim(self, proposal_ref: str) -> Claim:
        """The claim row of the effect."""
        return Claim(
            key=self.key,
            tenant=self.scope.tenant,
            thread=self.scope.thread,
            parent=self.request.parent,
            ordinal=self.ordinal,
            call_id=self.call.call_id,
            tool=self.call.tool,
            arguments_digest=self.digest,
            effect=self.tool.contract.effect.value,
            proposal_ref=proposal_ref,
            opened_by=self.verdict.opened_by,
            slot=self.verdict.slot,
        )
