"""What is said to a user leads nowhere that neither he nor a trusted source named (X4, X8)."""

from collections.abc import Callable, Sequence

from state.checks.links import address, host, linked, urls
from state.checks.origin import Shown
from state.context import ContextItem, Trust
from state.policy import Policy
from state.verdict import ANSWER, Denied
from state.work import Answer, Clarify, Escalate


def link_verdict(
    said: Answer | Clarify | Escalate,
    request: Callable[[], tuple[Sequence[ContextItem], Sequence[Shown]]],
    policy: Policy,
) -> Denied | None:
    """A link in what is said is an order to whoever reads it, and a picture is fetched before anybody reads: its
    address can carry out what the request showed. So both come from the user's words, from a trusted field, or, where
    the policy names their host, from any text of the request as it stands there. Sources lead nowhere. What the
    `request` held, and what of it shows values, is asked only where there is a link."""
    found = frozenset[str]().union(*map(linked, _texts(said)))
    if not found:
        return None
    items, shown = request()
    trusted = (one for one in shown if one.trust is not Trust.UNTRUSTED)
    foreign = (link for one in shown if one.trust is Trust.UNTRUSTED for link in urls(one.text))
    given = frozenset[str]().union(*(urls(one.text) for one in trusted))
    listed = {link for link in foreign if host(link) in policy.link_hosts}
    if found <= given | listed | {address(item.source) for item in items}:
        return None
    reason = (
        "what is to be said holds a link that comes neither from the user nor from a trusted source; say it without"
    )
    return Denied(call_id=ANSWER, rule="answer_links_elsewhere", reason=reason, policy_version=policy.version)


def _texts(said: Answer | Clarify | Escalate) -> tuple[str, ...]:
    match said:
        case Answer():
            return (said.text, *said.next_steps)
        case Clarify():
            return (said.question, *said.options)
        case Escalate():
            return (said.reason, *said.missing)
