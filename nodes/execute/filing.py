"""Storing what a call brought: a typed observation, its body under a public name, and all of a body that was cut."""

import json
from contextlib import suppress

from pydantic import JsonValue

from nodes.execute.call import Ran
from nodes.execute.step import Step
from state.checks.known import still_trusted
from state.ports import Artifacts, Clock, DecisionLog, NameTaken
from state.tools import Observation

WHOLE = "/whole"
_LOOKED_BACK = 64  # records in which a last good result is looked for


class Filing:
    """Files the results of calls."""

    def __init__(self, artifacts: Artifacts, log: DecisionLog, clock: Clock) -> None:
        self._artifacts, self._log, self._clock = artifacts, log, clock

    def observed(self, step: Step, ran: Ran) -> Observation:
        """The observation of a call, stored with what it brought."""
        contract, projected = step.tool.contract, ran.projected
        fields = projected.fields
        if ran.outcome in ("error", "unknown"):
            fields = {**fields, **self._last_result(step), "error": ran.code}
        name, ref = self._named(step, fields)
        whole_ref = None
        if projected.truncated:
            whole_ref = self._artifacts.put(step.scope.tenant, json.dumps(projected.whole, ensure_ascii=False))
            with suppress(NameTaken):  # a rerun may be cut to the same body of another whole; the first keeps the name
                self._artifacts.name(step.scope.tenant, name + WHOLE, whole_ref)
        return Observation(
            call_id=step.call.call_id,
            tool=step.call.tool,
            outcome=ran.outcome,
            code=ran.code,
            at=self._clock.now(),
            artifact_ref=name,
            ref=ref,
            whole_ref=whole_ref,
            trusted_fields=still_trusted(contract, (projected.whole, fields), step.arguments, step.verdict.trace),
            total_bytes=projected.total_bytes,
            truncated=projected.truncated,
            effect=contract.effect,
            arguments_digest=step.digest,
            tries=ran.tries,
            warnings=ran.warnings,
        )

    def _named(self, step: Step, fields: dict[str, JsonValue]) -> tuple[str, str]:
        """The result's public name and address. A step that runs again after a crash may bring something else: the
        first result keeps the name, the later one gets a name of its own."""
        tenant, name, runs = step.scope.tenant, step.named, 1
        while True:
            body = json.dumps({"tool": step.call.tool, **fields, "artifact_ref": name}, ensure_ascii=False)
            ref = self._artifacts.put(tenant, body)
            try:
                self._artifacts.name(tenant, name, ref)
            except NameTaken:
                runs += 1
                name = f"{step.named}/run-{runs}"
            else:
                return name, ref

    def _last_result(self, step: Step) -> dict[str, JsonValue]:
        """Where the contract falls back on it: the last good result of the same call on this thread, with its time."""
        if step.tool.contract.fallback == "none":
            return {}
        scope = step.scope
        for record in self._log.chain(scope.tenant, scope.thread, step.request.parent, limit=_LOOKED_BACK):
            for seen in record.observations:
                if (seen.tool, seen.arguments_digest, seen.outcome) == (step.call.tool, step.digest, "ok"):
                    body = json.loads(self._artifacts.get(scope.tenant, seen.ref))
                    fields = {name: value for name, value in body.items() if name not in ("tool", "artifact_ref")}
                    return {**fields, "as_of": seen.at.isoformat()}
        return {}
