"""`agent doctor --model NAME`: a live model server asked small questions, so that its profile need not be guessed."""

from collections.abc import Callable, Iterator

from pydantic import JsonValue

from graph.doctor import Check
from graph.model_fit import BROKEN_OFF, Fit
from graph.models.profiles import PROFILES, Profile
from nodes.propose.parse import NoProposal, parse
from state.asking import CORRECTABLE, asked
from state.checks.schema import validator
from state.context import RequestSettings
from state.ports import Model
from state.request import Message, Mode, ModelError, Reply, Request, ToolSpec
from state.value import Value
from state.work import Act, Decision, DecisionKind

Opened = Callable[[Profile], Model]
"""Opens the model under a profile."""

_TOOL = ToolSpec(
    name="look_up",
    description="Look up a loan by its number.",
    parameters={
        "type": "object",
        "properties": {"loan": {"type": "string", "description": "The number of the loan"}},
        "required": ["loan"],
        "additionalProperties": False,
    },
)
# The decision whose proposal is asked for: a reply is read as propose reads it in a run.
_DECISION = Decision(index=0, rule="doctor", kind=DecisionKind.GATHER, toolset="doctor", tools=(_TOOL.name,))
_SHORT = 8  # tokens: no sentence ends in so few
_SENTENCE = 32
_ROOM = 300  # tokens: a model that thinks first needs some
_AROUND = 100  # tokens: what stands around the text that fills a window
_OF_WORDS = 0.9  # a word as plain as these is one token of every tokenizer; what stands around them adds to it


class Answered(Value):
    """What came of one question. `ok` is null where it went well in form, and only the model could do better."""

    ok: bool | None
    told: str


# What says nothing of a profile, and of each further question the same. A single one may take too long: only where the
# first is not answered there is nobody.
_NOBODY_ANSWERS = ("unauthorised", "rate_limited")


class _NobodyAnswers(Exception):
    def __init__(self, error: ModelError) -> None:
        super().__init__(str(error))
        self.error = error


def examine_model(opened: Opened, window_tokens: int, modes: tuple[Mode, ...] | None = None) -> Iterator[Check]:
    """Every question in turn, a Fit for each profile at the end. Where nobody answers, or nobody any more, nothing
    more is asked.

    `window_tokens` is how long a request may get by the settings, `modes` are those of the settings, where they are not
    each profile's own.
    """
    found = 0
    try:
        for check in _examined(opened, window_tokens, modes):
            yield check
            found += 1
    except _NobodyAnswers as gone:
        name, told = gone.error.outcome.name, gone.error.outcome.detail
        if found:
            told = f"{told}; then ask again: what is not told above was not asked"
        yield Check(name=BROKEN_OFF if found else "chat", ok=False, found=name, fix=told)


def _examined(opened: Opened, window_tokens: int, modes: tuple[Mode, ...] | None) -> Iterator[Check]:
    cautious = PROFILES["compatible"]
    reply = _ask(opened(cautious), _request(_SENTENCE, tools=False))
    if isinstance(reply, ModelError):
        if reply.outcome.name == "unreachable":
            raise _NobodyAnswers(reply)
        yield Check(name="chat", ok=False, found=reply.outcome.name, fix=reply.outcome.detail)
    else:
        yield Check(name="chat", ok=True, found=f"{reply.model} answers")
        yield _usage(reply)
        yield _window(opened(cautious), window_tokens)
    probed: dict[str, Answered] = {}
    for profile in PROFILES.values():
        model = opened(profile)
        found = {mode: _probed(model, profile, mode, probed) for mode in modes or profile.modes}
        limit = _probed_limit(model, profile, probed)
        yield _told(profile, found, limit)


def _told(profile: Profile, found: dict[Mode, Answered], limit: Answered) -> Fit:
    answers = {**{str(mode): answer for mode, answer in found.items()}, f"output limit ({profile.output_limit})": limit}
    told = ", ".join(f"{what} {_word(answer)}" for what, answer in answers.items())
    ok = all(answer.ok is not False for answer in answers.values())
    return Fit(
        name=f"as {profile.name}",
        ok=ok,
        found=told,
        profile=profile.name,
        works=tuple(mode for mode, answer in found.items() if answer.ok),
        limited=limit.ok is not False,
    )


def _word(answer: Answered) -> str:
    if answer.ok is None:
        return f"is up to the model ({answer.told})"
    return "works" if answer.ok else f"fails ({answer.told})"


def _why(error: ModelError) -> str:
    what, _, _ = error.outcome.detail.partition("; ")
    return f"{error.outcome.name}: {what}"


def _usage(reply: Reply) -> Check:
    counts = {name: count for name, count in reply.usage.model_dump().items() if count is not None}
    told = ", ".join(f"{name} {count}" for name, count in counts.items())
    missing = ", ".join(name for name in ("input_tokens", "output_tokens", "cached_tokens") if name not in counts)
    return Check(
        name="usage", ok=True, found=told or "nothing is reported", fix=f"not reported: {missing}" if missing else ""
    )


def _window(model: Model, most_tokens: int) -> Check:
    """Whether a request of that length is read whole. Some servers cut it and say nothing; then its beginning, which
    is the policy, is gone."""
    words = max(most_tokens - _AROUND, 1)
    reply = _ask(model, _asking("Read on" + " and" * words, _SHORT))
    fix = f"give the server a window of {most_tokens} tokens and room for the reply, or lower EXPEDIENTE_WINDOW_TOKENS"
    if isinstance(reply, ModelError):
        return Check(name="window", ok=False, found=f"{most_tokens} tokens: {_why(reply)}", fix=fix)
    read = reply.usage.input_tokens
    if read is None:
        return Check(name="window", ok=True, found="nobody can tell: the server does not report what it read")
    if read < _OF_WORDS * words:
        return Check(name="window", ok=False, found=f"{words} tokens were cut to {read} in silence", fix=fix)
    return Check(name="window", ok=True, found=f"{read} tokens are read")


def _probed(model: Model, profile: Profile, mode: Mode, probed: dict[str, Answered]) -> Answered:
    request = asked(_request(_ROOM, tools=True), mode, (), "")
    return _once(f"{mode} {_wire(profile, mode)}", probed, lambda: _judged(_ask(model, request), mode))


def _probed_limit(model: Model, profile: Profile, probed: dict[str, Answered]) -> Answered:
    def judged() -> Answered:
        reply = _ask(model, _request(_SHORT, tools=False))
        if isinstance(reply, ModelError):
            return Answered(ok=False, told=_why(reply))
        spent = reply.usage.output_tokens or 0
        if reply.finish_reason == "length" and spent <= 2 * _SHORT:
            return Answered(ok=True, told="a long reply is cut at it and says so")
        # Without a count a longer text tells it: no token of a reply has more characters on average.
        if spent > _SHORT or len(reply.text) > 12 * _SHORT:
            return Answered(ok=False, told="a long reply is not cut at it")
        return Answered(ok=None, told="the reply was shorter")

    return _once(f"limit {_wire(profile, None)}", probed, judged)


def _wire(profile: Profile, mode: Mode | None) -> str:
    """What of a profile reaches the server with such a request: two that send the same are asked once."""
    sent: list[object] = [profile.api, profile.instruction_role, profile.output_limit]
    if mode == "tools":
        sent.append(profile.tool_choice)
    if mode == "json_object":
        sent.append(profile.schema_in_json_object)
    return repr(sent)


def _once(key: str, probed: dict[str, Answered], ask: Callable[[], Answered]) -> Answered:
    if key not in probed:
        probed[key] = ask()
    return probed[key]


def _judged(reply: Reply | ModelError, mode: Mode) -> Answered:
    if isinstance(reply, ModelError):
        return Answered(ok=False, told=_why(reply))
    # No server promises the form of a plain text, and only a schema binds what stands in a JSON object.
    unbound = mode in ("text", "json_object")
    try:
        proposal = parse(reply, _DECISION, _as_they_are, mode)
    except NoProposal as none:
        up_to_model = unbound and none.outcome.name in CORRECTABLE
        return Answered(ok=None if up_to_model else False, told=f"{none.outcome.name}: {none.outcome.detail}")
    if not isinstance(proposal, Act) or [call.tool for call in proposal.calls] != [_TOOL.name]:
        return Answered(ok=False, told="called something else than the offered tool once")
    if not validator(_TOOL.parameters).is_valid(proposal.calls[0].arguments):
        return Answered(ok=None if unbound else False, told="called it with arguments that do not fit its schema")
    return Answered(ok=True, told=f"called {_TOOL.name}")


def _as_they_are(arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return arguments


def _ask(model: Model, request: Request) -> Reply | ModelError:
    try:
        return model.reply(request)
    except ModelError as error:
        if error.outcome.name in _NOBODY_ANSWERS:
            raise _NobodyAnswers(error) from error
        return error


def _request(limit: int, *, tools: bool) -> Request:
    question = "Look up loan L-17." if tools else "Tell a long story about a lighthouse and the sea."
    return _asking(question, limit, tools=tools)


def _asking(question: str, limit: int, *, tools: bool = False) -> Request:
    return Request(
        messages=(
            Message(
                channel="instruction", content="Reply with one call of the offered tool." if tools else "Be precise."
            ),
            Message(channel="input", content=question),
        ),
        tools=(_TOOL,) if tools else (),
        settings=RequestSettings(max_output_tokens=limit),
    )
