"""What a tool may ask its context for: the credentials its contract declares, and no others (X7)."""

import logging
from collections.abc import Callable

from pydantic import SecretStr

from nodes.execute.step import Step
from state.ports import SecretMissing, Secrets
from state.tools import SecretNotDeclared

_LOG = logging.getLogger(__name__)


def complete(step: Step, secrets: Secrets) -> bool:
    """Whether every declared credential is set. Asked before an effect is claimed: what cannot be signed is not begun.

    The variable that is missing is told to the operator, in the log.
    """
    try:
        for name in step.tool.contract.secrets:
            secrets.secret(name)
    except SecretMissing as missing:
        _LOG.warning("the tool %s was not called: %s", step.tool.contract.name, missing)
        return False
    return True


def resolving(step: Step, secrets: Secrets) -> Callable[[str], SecretStr]:
    """What resolves a credential for this call. It raises SecretNotDeclared, SecretMissing."""

    def resolve(name: str) -> SecretStr:
        if name not in step.tool.contract.secrets:
            raise SecretNotDeclared(name)
        return secrets.secret(name)

    return resolve
