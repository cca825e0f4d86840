"""What model calls use and may use: counts before a call, prices, limits per turn and per tenant (B5, X8)."""

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Protocol

from pydantic import Field

from state.canonical import canonical_json
from state.ports import Bound, TokenCounter
from state.request import Request, Usage
from state.run import RequestContext, Scope
from state.value import Value

# What a chat format spends beside the texts. Messages are exact for OpenAI's encodings: three tokens and the role's one
# for each, three before the reply. Of tools the published rule counts names, types and descriptions of flat arguments
# alone; their JSON with eight more each is an upper bound of it, which nested arguments and other templates keep too.
PER_MESSAGE = 4
PER_TOOL = 8
PER_REPLY = 3
_MILLION = Decimal(1_000_000)
_MOST_PRICE = 10**9  # so that a cost is a number that JSON carries


def count_request(request: Request, tokens: TokenCounter) -> int:
    """The tokens of a request as it goes out, tool schemas or the schema of the reply's form included."""
    texts = [message.content for message in request.messages]
    texts += [tool.canonical.decode() for tool in request.tools]
    around = len(request.messages) * PER_MESSAGE + len(request.tools) * PER_TOOL + PER_REPLY
    if request.reply_form is not None and request.reply_form.mode != "text":
        texts.append(canonical_json(request.reply_form.json_schema).decode())
        around += PER_TOOL
    return sum(tokens.count_all(texts)) + around


class Price(Value):
    """What a model's tokens cost, per million, in the user's currency. Cached ones cost like others unless told."""

    input: Decimal = Field(ge=0, le=_MOST_PRICE)
    output: Decimal = Field(ge=0, le=_MOST_PRICE)
    cached: Decimal | None = Field(default=None, ge=0, le=_MOST_PRICE)

    def cost(self, usage: Usage) -> float | None:
        """The cost of a call as it was reported; null where input or output were not."""
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        cached = min(usage.cached_tokens or 0, usage.input_tokens)
        reduced = self.input if self.cached is None else self.cached
        total = (usage.input_tokens - cached) * self.input + cached * reduced + usage.output_tokens * self.output
        return float(total / _MILLION)

    def most(self, input_tokens: int, output_tokens: int) -> float:
        """The most that a call of so many tokens can cost."""
        dearest = max(self.input, self.cached or self.input)
        return float((input_tokens * dearest + output_tokens * self.output) / _MILLION)


class ModelLimits(Value):
    """How much model calls may use, of the policy record: per turn of a conversation, and per tenant in a day. None
    bounds nothing. Costs are bounded only for models with a price."""

    turn_tokens: int | None = Field(default=None, gt=0)
    turn_cost: float | None = Field(default=None, gt=0)
    tenant_tokens_per_day: int | None = Field(default=None, gt=0)
    tenant_cost_per_day: float | None = Field(default=None, gt=0)

    @property
    def bounds_cost(self) -> bool:
        """Whether any of them is a cost."""
        return self.turn_cost is not None or self.tenant_cost_per_day is not None

    def bounds(self, scope: Scope, request: RequestContext, tokens: int, cost: float | None) -> tuple[Bound, ...]:
        """The bounds of one call that takes so much."""
        turn = f"{scope.tenant}/{scope.thread}/{request.turn_index}"
        day = request.now - timedelta(days=1)
        limits = (
            ("turn_tokens", self.turn_tokens, tokens, turn, None),
            ("turn_cost", self.turn_cost, cost, turn, None),
            ("tenant_tokens_per_day", self.tenant_tokens_per_day, tokens, scope.tenant, day),
            ("tenant_cost_per_day", self.tenant_cost_per_day, cost, scope.tenant, day),
        )
        return tuple(
            Bound(name=f"model/{key}/{over}", policy_key=key, most=most, amount=amount, since=since)
            for key, most, amount, over, since in limits
            if most is not None and amount is not None
        )


class Meter(Protocol):
    """The port that admits model calls and settles them. Both read and write the store."""

    def admitted(self, call: str, scope: Scope, request: RequestContext, tokens: int, cost: float | None) -> str | None:
        """Take what a call may use at most. Gives the policy key of the limit that it would pass; then nothing is."""
        ...

    def settled(self, call: str, scope: Scope, request: RequestContext, tokens: int, cost: float | None) -> None:
        """Give back what it did not use."""
        ...


def price_of(prices: Mapping[str, Price], model: str) -> Price | None:
    """The price of a model by its server's name for it, with or without what stands before a colon."""
    return prices.get(model) or prices.get(model.partition(":")[2])
