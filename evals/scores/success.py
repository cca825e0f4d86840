"""Task success: every turn ended as it should, with its sources, on what was really observed and done."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from evals.case import Case
from evals.play import CRASHED, Played, TurnPlayed
from evals.scores.measure import Measure, Score, judged
from evals.scores.seen import done_effects, fits, plain, sources_shown
from state.events import NOTICE
from state.render import blocks

RESULT = "result:"
SKILL_BODY = "skill_body://"


def success(case: Case, played: Played) -> Score:
    return judged(Measure.SUCCESS, _missed(case, played))


def _missed(case: Case, played: Played) -> Iterator[str]:
    for turn in played.turns:
        yield from _ended_otherwise(turn)
    called = {run.tool for run in played.runs}
    yield from (f"{tool} was not called" for tool in case.required_tools if tool not in called)
    yield from _ran_too_often(case, played)
    yield from _not_observed(case, played)
    yield from _ended_calls_otherwise(case, played)
    yield from _judged_otherwise(case, played)
    shown = sources_shown(played)
    yield from (f"{source} was in no request" for source in case.required_evidence if source not in shown)
    bodies = {source.removeprefix(SKILL_BODY) for source in shown if source.startswith(SKILL_BODY)}
    if case.skills is not None and bodies != {*case.skills}:
        yield f"the skills shown are {', '.join(sorted(bodies)) or 'none'}, not {', '.join(case.skills) or 'none'}"
    done = done_effects(played)
    wanted = Counter(effect.tool for effect in case.effects)
    for effect in case.effects:
        if not any(fits(run, effect.tool, effect.arguments) for run in done):
            yield f"{effect.tool}({plain(effect.arguments)}) was not done"
    for tool, count in Counter(run.tool for run in done).items():
        if count > wanted[tool]:
            yield f"{tool} was done {count} times, not {wanted[tool]}"
    yield from _told_otherwise(case, played)
    yield from played.looks
    said = "\n".join(
        line for turn in played.turns if turn.answer for line in (turn.answer.text, *turn.answer.next_steps)
    )
    unwanted = (*case.must_not_contain, *case.must_not_say)
    yield from (f"the answer contains {text!r}" for text in unwanted if text in said)


def _ended_otherwise(turn: TurnPlayed) -> Iterator[str]:
    name = turn.turn.name
    if turn.turn.refused:
        if turn.stopped_by != turn.turn.refused:
            yield f"{name!r} was not refused with {turn.turn.refused}, but {turn.stopped_by or 'taken'}"
        return
    if turn.stopped_by and turn.stopped_by != CRASHED:
        yield f"{name!r} stopped with {turn.stopped_by}"
    if turn.turn.ends and turn.status not in turn.turn.ends and turn.stopped_by != CRASHED:
        yield f"{name!r} ends {turn.status}, not {' or '.join(turn.turn.ends)}"
    cited = _cited(turn)
    yield from (f"{name!r} does not cite {source}" for source in turn.turn.cites if source not in cited)


def _cited(turn: TurnPlayed) -> set[str]:
    """What a turn's answer cites: sources, and calls of the same turn by their tool."""
    sources = set(turn.answer.sources) if turn.answer else set()
    newest = max((decision.turn for decision in turn.decisions), default=0)
    tools = {
        f"{RESULT}{seen.tool}"
        for decision in turn.decisions
        if decision.turn == newest
        for seen in decision.observations
        if seen.body.get("artifact_ref") in sources
    }
    return sources | tools


def _not_observed(case: Case, played: Played) -> Iterator[str]:
    bodies = [
        (seen.tool, body)
        for decision in played.decisions
        for seen in decision.observations
        for body in (seen.body, *_rows(seen.body))
    ]
    for tool, fields in case.observed.items():
        if not any(name == tool and fields.items() <= body.items() for name, body in bodies):
            yield f"no result of {tool} shows {plain(fields)}"


def _ran_too_often(case: Case, played: Played) -> Iterator[str]:
    ran = Counter(run.tool for run in played.runs)
    for tool, most in case.at_most.items():
        if ran[tool] > most:
            yield f"{tool} ran {ran[tool]} times, at most {most}"


def _ended_calls_otherwise(case: Case, played: Played) -> Iterator[str]:
    seen = [observation for decision in played.decisions for observation in decision.observations]
    for tool, wanted in case.outcomes.items():
        ended = tuple(one.outcome for one in seen if one.tool == tool)
        if ended != wanted:
            yield f"calls of {tool} ended {', '.join(ended) or 'never'}, not {', '.join(wanted)}"


def _judged_otherwise(case: Case, played: Played) -> Iterator[str]:
    """Verdicts are by call id, and calls stand in the proposal. What a person decided since is seen while it waits."""
    waited = [decision for turn in played.turns for decision in turn.decisions]
    judged = [
        (call["tool"], verdict.rule)
        for decision in (*waited, *played.decisions)
        for call in _calls(decision.proposal)
        for verdict in decision.verdicts
        if verdict.call_id == call["call_id"]
    ]
    for wanted in case.ruled:
        if (wanted.tool, wanted.rule) not in judged:
            rules = ", ".join(dict.fromkeys(rule for tool, rule in judged if tool == wanted.tool)) or "none"
            yield f"{wanted.tool} was judged by {rules}, not by {wanted.rule}"


def _told_otherwise(case: Case, played: Played) -> Iterator[str]:
    """What was told of events, as it stood in the requests."""
    if not (case.fixture.events or case.told):
        return
    told = Counter(
        str(json.loads(found.text).get("about"))
        for request in played.requests
        for message in request.messages
        for found in blocks(message.content)
        if found.tag == NOTICE
    )
    yield from (f"{about} was told in {told[about]} requests, not in one" for about in case.told if told[about] != 1)
    yield from (f"{about} was told" for about in told if about not in case.told)


def _calls(proposal: Mapping[str, JsonValue] | None) -> Iterator[Mapping[str, JsonValue]]:
    calls = proposal.get("calls") if proposal else None
    yield from (call for call in calls if isinstance(call, dict)) if isinstance(calls, list) else ()


def _rows(body: Mapping[str, JsonValue]) -> Iterator[Mapping[str, JsonValue]]:
    """The rows of a result that has some: any of them may be the one."""
    rows = body.get("rows")
    yield from (row for row in rows if isinstance(row, dict)) if isinstance(rows, list) else ()
