"""What a tool may remember: an argument that its contract declares as a memory, in the words it was given (S6)."""

from collections.abc import Callable

from nodes.execute.step import Step
from state.contract import Effect
from state.memory import NotRemembered, Remembered
from state.memory_ports import MemoryKeeper
from state.tools import MemoryNotDeclared


def keeping(step: Step, keeper: MemoryKeeper) -> Callable[[str, str], Remembered | NotRemembered]:
    """What keeps an argument of this call. It raises MemoryNotDeclared."""

    def keep(about: str, argument: str) -> Remembered | NotRemembered:
        text = step.arguments.get(argument)
        contract = step.tool.contract
        if contract.effect is Effect.READ or contract.role(argument).role != "memory" or not isinstance(text, str):
            raise MemoryNotDeclared(
                f"got the argument {argument!r:.80} to remember; allowed: a text that the contract of an effect gives "
                "the role `memory` in `arguments`"
            )
        return keeper.remember(step.scope, about, text, step.quotes.get(argument), step.key)

    return keep


def dropping(step: Step, keeper: MemoryKeeper) -> Callable[[str], int]:
    """What deletes memories for this call. It raises MemoryNotDeclared."""

    def drop(about: str) -> int:
        if step.tool.contract.effect is Effect.READ or step.tool.contract.reversible:
            raise MemoryNotDeclared(
                "got a wish to forget from a tool that changes nothing for good; declare the effect, and `reversible` "
                "off"
            )
        return keeper.forget(step.scope, about)

    return drop
