"""What a trial and its worker processes say to each other: an order on stdin, events on stdout, one JSON a line."""

from pathlib import Path
from typing import Literal

from evals.trials.script import Errand
from graph.inspection.verify import Verification
from state.value import Value
from state.work import Status

THREAD = "trial"


class Order(Value):
    """What a worker is to do. `file` is the domain's own. `goes_on`: a run that was cut off is gone on with from its
    checkpoint, as a server's client can; else the user asks again. `told_done`: an earlier worker said that the effect
    was done. `die_at`: kill yourself at the write of that number (evals.trials.dying)."""

    home: Path
    domain: str
    file: str
    database_url: str | None
    errand: Errand
    goes_on: bool = False
    told_done: bool = False
    die_at: int | None = None
    lease_s: float


class Ended(Value):
    """How the thread stands at the end: the last turn's decisions as `path`, the chain, the claims as key and state.

    `steps` are what the user did in this process, `writes` how often something was written for it. `unknown` says that
    a record calls an effect unknown.
    """

    status: Status
    path: tuple[str, ...]
    steps: tuple[str, ...]
    writes: int
    chain: tuple[str, ...]
    filed: tuple[str, ...]
    claims: tuple[tuple[str, str], ...]
    unknown: bool
    verification: Verification


class Event(Value):
    """Something that a worker says when it happens, in seconds of the machine's clock.

    `filed` is an acknowledgement: a record was told as filed, and whether it says that the effect was `done`.
    """

    at: Literal["began", "opened", "running", "busy", "filed", "ended"]
    when: float
    record: str | None = None
    done: bool = False
    ended: Ended | None = None
