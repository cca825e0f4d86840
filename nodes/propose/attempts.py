"""The attempts of one decision at a proposal: what is asked next, and what came of it. Sync and async share it."""

from collections.abc import Callable, Sequence

from pydantic import ValidationError

from nodes.propose.again import again, first_mode
from nodes.propose.parse import NoProposal, Quoting, parse
from nodes.propose.spending import Spending
from state.asking import CallTerms, asked
from state.checks.hidden import without_unseen
from state.checks.secret import concealed
from state.request import Attempt, AttemptOutcome, Mode, ModelError, Reply, Request
from state.work import PROPOSAL, Act, Decision, Proposal


class Attempts:
    """Attempts from one manifest. `made` are those of the whole decision, `proposal` what the last one brought, without
    the secrets that stood in any part of it: it is about to be stored.

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
        masked: Callable[[str], str],
        model: str,
        spending: Spending,
        before: Sequence[Attempt],
    ) -> None:
        self._terms, self._decision, self._quote, self._model = terms, decision, quote, model
        self._manifest_ref, self._rendered, self._spending = manifest_ref, rendered, spending
        self._masked, self._held_secret, self._taken_out = masked, False, 0
        self._waited_s = 0.0
        self.made = tuple(before)
        self.proposal: Proposal | None = None
        self.after_s = 0.0
        self._mode: Mode = first_mode(terms, before)
        self.request: Request | None = self._next_request()

    def admitted(self) -> bool:
        """Whether the request may go out. Where it is too long or would pass a limit, that is the last attempt."""
        passed = None if self.request is None else self._spending.take(len(self.made), self.request)
        if passed is not None:
            self._add(passed, None, None)
            self.request = None
        return self.request is not None

    def heard(self, reply: Reply | ModelError) -> None:
        """What came of asking: an attempt more, and either the proposal, the next request, or the end."""
        if self.request is None:
            raise ValueError("nothing was asked")
        cost = self._spending.settle(len(self.made), self.request, reply)
        self._add(self._judged(reply), None if isinstance(reply, ModelError) else reply, cost)
        self.request = None
        if self.proposal is not None:
            return
        error = reply if isinstance(reply, ModelError) else None
        following = again(self._terms, self.made, error, self._waited_s)
        if following is not None:
            self._mode, self.after_s = following
            self._waited_s += self.after_s
            self.request = self._next_request()

    def _add(self, outcome: AttemptOutcome, reply: Reply | None, cost: float | None) -> None:
        attempt = Attempt(
            manifest_ref=self._manifest_ref,
            request_hash="" if self.request is None else self.request.hash(),
            mode=self._mode,
            model=self._model if reply is None else reply.model,
            usage=None if reply is None else reply.usage,
            outcome=outcome,
            counted_tokens=self._spending.counted_tokens,
            cost=cost,
            masked=self._held_secret,
            taken_out=self._taken_out,
        )
        self.made = (*self.made, attempt)

    def _next_request(self) -> Request:
        return asked(self._rendered, self._mode, self.made, self._manifest_ref)

    def _storable(self, found: Proposal) -> Proposal:
        """The proposal as it is stored and judged: no secrets in it, and in words that are to be read nothing that
        nobody sees. What a tool is given stays as it was proposed: there the rules decide. Raises ValidationError where
        nothing is left of a text."""
        said = found.model_dump(mode="json")
        seen, taken_out = (said, 0) if isinstance(found, Act) else without_unseen(said)
        told = concealed(seen, self._masked)
        made = found if told == said else PROPOSAL.validate_python(told)
        self._held_secret, self._taken_out = told != seen, taken_out
        return made

    def _judged(self, reply: Reply | ModelError) -> AttemptOutcome:
        if isinstance(reply, ModelError):
            return reply.outcome
        try:
            self.proposal = self._storable(parse(reply, self._decision, self._quote, self._mode))
        except NoProposal as none:
            return none.outcome
        except ValidationError:
            return AttemptOutcome(name="wrong_schema", detail="a text of the form has no character that anybody sees")
        return AttemptOutcome(name="proposal")
