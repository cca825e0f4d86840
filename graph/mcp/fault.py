"""How a server fails: a code of ours for each way, never a server's words."""

from enum import StrEnum

from state.contract import FailureMode


class ServerFault(Exception):
    """A server did not do what it was asked. `detail` is ours too: it is for the operator.

    `said` is what its process wrote to its standard error: a server's words, for the operator's own screen alone.
    """

    def __init__(self, code: "FaultCode", detail: str = "", said: str = "") -> None:
        super().__init__(f"{code.value}: {detail}" if detail else code.value)
        self.code, self.detail, self.said = code, detail, said


class FaultCode(StrEnum):
    """The ways. Of the first group nothing was sent; of the second a write may have happened all the same."""

    SDK_MISSING = "sdk_missing"
    SECRET_MISSING = "secret_missing"  # noqa: S105 - a code
    COMMAND_NOT_FOUND = "command_not_found"
    UNAVAILABLE = "server_unavailable"
    NOT_ANSWERING = "server_not_answering"  # within its time, when it was opened or listed
    LISTING_INVALID = "listing_invalid"
    NOT_LISTED = "not_listed"
    DEFINITION_CHANGED = "definition_changed"
    REFUSED = "refused_by_server"  # the request itself, before anything was done

    TIMED_OUT = "server_timed_out"
    LOST = "connection_lost"
    TOO_LARGE = "answer_too_large"
    GARBLED = "answer_garbled"
    FAILED = "failed_in_server"

    REPORTED = "reported_by_server"  # the tool ran, and says that it failed


# A read is tried once more where the connection is what failed; nothing is tried again after a server's own no.
_PASSING = (FaultCode.UNAVAILABLE, FaultCode.LOST)
_UNDECIDED = (FaultCode.TIMED_OUT, FaultCode.LOST, FaultCode.TOO_LARGE, FaultCode.GARBLED, FaultCode.FAILED)
_BEFORE = {
    FaultCode.LOST: FaultCode.UNAVAILABLE,
    FaultCode.FAILED: FaultCode.UNAVAILABLE,
    FaultCode.REFUSED: FaultCode.UNAVAILABLE,
    FaultCode.TIMED_OUT: FaultCode.NOT_ANSWERING,
    FaultCode.TOO_LARGE: FaultCode.LISTING_INVALID,
    FaultCode.GARBLED: FaultCode.LISTING_INVALID,
}


def before_a_call(fault: ServerFault) -> ServerFault:
    """The fault of opening or listing, where no call was sent: what was lost there is no effect."""
    code = _BEFORE.get(fault.code)
    return fault if code is None else ServerFault(code, str(fault), fault.said)


FAILURES = tuple(
    FailureMode(code=code.value, passing=code in _PASSING, undecided=code in _UNDECIDED) for code in FaultCode
)
"""The ways to fail that every server's tool declares; a contract may say otherwise of one."""
