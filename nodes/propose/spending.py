"""What one decision's model calls use: counted and admitted before each, settled and priced after it."""

from collections.abc import Mapping

from state.ports import TokenCounter
from state.request import AttemptOutcome, ModelError, Reply, Request
from state.run import RequestContext, Scope
from state.spending import Meter, Price, count_request, price_of


class Spending:
    """The spending of a decision. `model` is the name under which the model is priced, `most_tokens` what the window
    leaves for a request, `what` tells these calls from others of the same decision."""

    def __init__(
        self,
        *,
        tokens: TokenCounter,
        meter: Meter,
        prices: Mapping[str, Price],
        model: str,
        scope: Scope,
        request: RequestContext,
        most_tokens: int,
        what: str = "model",
    ) -> None:
        self._tokens, self._meter, self._most_tokens = tokens, meter, most_tokens
        self._price = price_of(prices, model)
        self._scope, self._context, self._what = scope, request, what
        self.counted_tokens = 0

    def take(self, number: int, request: Request) -> AttemptOutcome | None:
        """Count an attempt and take the most that it can use. Gives the outcome where it is longer than the window or
        passes a limit: then there is no call."""
        self.counted_tokens = count_request(request, self._tokens)
        if self.counted_tokens > self._most_tokens:
            # Packed for the first request in the mode of tools: another mode, or a correction, has added to it.
            told = f"the model was not asked: {self.counted_tokens} tokens, and the window leaves {self._most_tokens}"
            return AttemptOutcome(
                name="context_too_long", detail=f"{told}; raise EXPEDIENTE_WINDOW_TOKENS where the model has more"
            )
        tokens, cost = self._most(request)
        passed = self._meter.admitted(self._call(number), self._scope, self._context, tokens, cost)
        if passed is None:
            return None
        told = f"the model was not asked: it would pass the policy's {passed}; wait, or raise it in the policy record"
        return AttemptOutcome(name="limit_reached", detail=told)

    def settle(self, number: int, request: Request, reply: Reply | ModelError) -> float | None:
        """Give back what an attempt did not use; its cost, where that is known.

        Of a reply without a report, and of a call that may have been answered, all that was taken stays taken.
        """
        usage = None if isinstance(reply, ModelError) else reply.usage
        cost = None if self._price is None or usage is None else self._price.cost(usage)
        if usage is None or usage.input_tokens is None or usage.output_tokens is None:
            return cost
        most_tokens, most_cost = self._most(request)
        left_tokens = most_tokens - usage.input_tokens - usage.output_tokens
        left_cost = None if most_cost is None or cost is None else most_cost - cost
        self._meter.settled(self._call(number), self._scope, self._context, left_tokens, left_cost)
        return cost

    def _most(self, request: Request) -> tuple[int, float | None]:
        output = request.settings.max_output_tokens
        cost = None if self._price is None else self._price.most(self.counted_tokens, output)
        return self.counted_tokens + output, cost

    def _call(self, number: int) -> str:
        return f"{self._what}/{self._scope.tenant}/{self._scope.thread}/{self._context.request_id}/{number}"
