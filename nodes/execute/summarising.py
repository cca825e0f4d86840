"""A long result is summed up when it enters (C2), where a summariser is set: for the laps that have no room for it."""

from collections.abc import Callable

from state.checks.secret import holds_secret
from state.ports import Artifacts
from state.run import RequestContext, Scope
from state.summary import Summariser, Summary
from state.tools import Observation

LEAST_CHARS = 1_200  # of a result: a shorter one is hardly longer than its summary


def summed_up(
    seen: Observation,
    artifacts: Artifacts,
    summariser: Summariser | None,
    masked: Callable[[str], str],
    scope: Scope,
    request: RequestContext,
) -> Observation:
    """The observation with its summary, or with the warning of why there is none; as it is where nothing is to do."""
    if summariser is None or seen.outcome != "ok":
        return seen
    body = artifacts.get(scope.tenant, seen.ref)
    if len(body) < LEAST_CHARS:
        return seen
    told = summariser.summarised(seen.artifact_ref, body, scope, request)
    if told.text is not None and holds_secret(told.text, masked):
        # The result holds none: it was put together, of parts or in other signs, and nothing else it says is believed.
        told = told.model_copy(update={"text": None, "warning": "summary_secret"})
    ref = None if told.text is None else artifacts.put(scope.tenant, told.text)
    summary = Summary(
        ref=ref,
        model=told.model,
        tries=told.tries,
        counted_tokens=told.counted_tokens,
        usage=told.usage,
        cost=told.cost,
    )
    warnings = seen.warnings if told.warning is None else (*seen.warnings, told.warning)
    return seen.model_copy(update={"summary": summary, "warnings": warnings})
