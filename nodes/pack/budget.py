"""The input budget (B1)."""

from state.spending import PER_MESSAGE, PER_REPLY, PER_TOOL
from state.value import Value

_MESSAGES = 2


class Window(Value):
    """The deployed model's window and what is kept free of it for the reply, in tokens."""

    window_tokens: int
    reserved_output_tokens: int

    def input_tokens(self) -> int:
        """What a rendered request may count at most. The window is never filled."""
        return self.window_tokens - self.reserved_output_tokens

    def budget_tokens(self, tools: int) -> int:
        """The budget for items: window - reserved output - the protocol's overhead, estimated for selecting."""
        return self.input_tokens() - (_MESSAGES * PER_MESSAGE + tools * PER_TOOL + PER_REPLY)
