"""The input budget (B1) and the exact count of a rendered request (M3, B5)."""

from state.ports import TokenCounter
from state.request import Request
from state.value import Value

# What a chat format spends beside the texts: an upper bound over the published formats of chat completions.
_PER_MESSAGE = 4
_PER_TOOL = 8
_PER_REPLY = 3
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
        return self.input_tokens() - (_MESSAGES * _PER_MESSAGE + tools * _PER_TOOL + _PER_REPLY)


def count_request(request: Request, tokens: TokenCounter) -> int:
    """The tokens of a rendered request, tool schemas included."""
    texts = [message.content for message in request.messages]
    texts += [tool.canonical.decode() for tool in request.tools]
    around = len(request.messages) * _PER_MESSAGE + len(request.tools) * _PER_TOOL + _PER_REPLY
    return sum(tokens.count_all(texts)) + around
