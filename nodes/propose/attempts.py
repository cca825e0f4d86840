"""The attempts of one decision at a proposal: what is asked next, and what came of it. Sync and async share it."""

from collections.abc import Sequence

from nodes.propose.again import again, first_mode
from nodes.propose.parse import NoProposal, Quoting, parse
from state.asking import CallTerms, asked
from state.request import Attempt, AttemptOutcome, Mode, ModelError, Reply, Request
from state.work import Decision, Proposal


class Attempts:
    """Attempts from one manifest. `made` are those of the whole decision, `proposal` what the last one brought.

    `request` is what to ask next, after `after_s` seconds; None once there is nothing more to ask.
    """

    def __init__(
        self,
        *,
        terms: CallTerms,
        decision: Decision,
        manifest_ref: str,
        rendered: Request,
        quote: Quoting,
        model: str,
        before: Sequence[Attempt],
    ) -> None:
        self._terms, self._decision, self._quote, self._model = terms, decision, quote, model
        self._manifest_ref, self._rendered = manifest_ref, rendered
        self._waited_s = 0.0
        self.made = tuple(before)
        self.proposal: Proposal | None = None
        self.after_s = 0.0
        self._mode: Mode = first_mode(terms, before)
        self.request: Request | None = self._next_request()

    def heard(self, reply: Reply | ModelError) -> None:
        """What came of asking: an attempt more, and either the proposal, the next request, or the end."""
        if self.request is None:
            raise ValueError("nothing was asked")
        outcome = self._judged(reply)
        attempt = Attempt(
            manifest_ref=self._manifest_ref,
            request_hash=self.request.hash(),
            mode=self._mode,
            model=self._model if isinstance(reply, ModelError) else reply.model,
            usage=None if isinstance(reply, ModelError) else reply.usage,
            outcome=outcome,
        )
        self.made = (*self.made, attempt)
        self.request = None
        if self.proposal is not None:
            return
        error = reply if isinstance(reply, ModelError) else None
        following = again(self._terms, self.made, error, self._waited_s)
        if following is not None:
            self._mode, self.after_s = following
            self._waited_s += self.after_s
            self.request = self._next_request()

    def _next_request(self) -> Request:
        return asked(self._rendered, self._mode, self.made, self._manifest_ref)

    def _judged(self, reply: Reply | ModelError) -> AttemptOutcome:
        if isinstance(reply, ModelError):
            return reply.outcome
        try:
            self.proposal = parse(reply, self._decision, self._quote, self._mode)
        except NoProposal as none:
            return none.outcome
        return AttemptOutcome(name="proposal")
