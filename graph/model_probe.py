"""`agent doctor --model NAME`: a live model server asked small questions, so that its profile need not be guessed."""

from collections.abc import Callable, Iterator, Sequence

from graph.doctor import Check
from graph.models.profiles import PROFILES, Profile
from nodes.propose.written import NotWritten, calls_written, without_reasoning
from state.asking import asked
from state.context import RequestSettings
from state.ports import Model
from state.request import Message, Mode, ModelError, Reply, Request, ToolSpec
from state.value import Value

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
_PROFILE = "as "
_SHORT = 8  # tokens: no sentence ends in so few
_SENTENCE = 32
_ROOM = 300  # tokens: a model that thinks first needs some
_AROUND = 100  # tokens: what stands around the text that fills a window
_OF_WORDS = 0.9  # a word as plain as these is one token of every tokenizer; what stands around them adds to it


class Answered(Value):
    """What came of one question. `ok` is null where it went well in form, and only the model could do better."""

    ok: bool | None
    told: str


def examine_model(opened: Opened, window_tokens: int) -> Iterator[Check]:
    """Every question in turn, then which profile fits. Where nobody answers, nothing more is asked.

    `window_tokens` is how long a request may get by the settings.
    """
    cautious = PROFILES["compatible"]
    reply = _ask(opened(cautious), _request(_SENTENCE, tools=False))
    if isinstance(reply, ModelError):
        yield Check(name="chat", ok=False, found=reply.outcome.name, fix=reply.outcome.detail)
        if reply.outcome.name in ("unreachable", "unauthorised", "rate_limited"):
            return
    else:
        yield Check(name="chat", ok=True, found=f"{reply.model} answers")
        yield _usage(reply)
        yield _window(opened(cautious), window_tokens)
    probed: dict[str, Answered] = {}
    for profile in PROFILES.values():
        model = opened(profile)
        found = {mode: _probed(model, profile, mode, probed) for mode in profile.modes}
        limit = _probed_limit(model, profile, probed)
        yield _told(profile, found, limit)


def fitting(checks: Sequence[Check]) -> Profile | None:
    """The first profile that fits, in the order in which they promise most."""
    fits = {check.name.removeprefix(_PROFILE) for check in checks if check.ok and check.name.startswith(_PROFILE)}
    by_promise = sorted(PROFILES.values(), key=lambda profile: (-len(profile.modes), profile.tool_choice is None))
    return next((profile for profile in by_promise if profile.name in fits), None)


def _told(profile: Profile, found: dict[Mode, Answered], limit: Answered) -> Check:
    answers = {**{str(mode): answer for mode, answer in found.items()}, f"output limit ({profile.output_limit})": limit}
    told = ", ".join(f"{what} {_word(answer)}" for what, answer in answers.items())
    ok = all(answer.ok is not False for answer in answers.values())
    return Check(name=f"{_PROFILE}{profile.name}", ok=ok, found=told)


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
    if mode == "tools":
        named = [call.name for call in reply.calls]
        return Answered(ok=named == [_TOOL.name], told=f"called {', '.join(named) or 'nothing'}")
    try:
        named = [call.name for call in calls_written(without_reasoning(reply.text))]
    except NotWritten as error:
        # No server promises the form of a plain text, and only the schema binds a JSON object's fields.
        return Answered(ok=None if mode in ("text", "json_object") else False, told=str(error))
    return Answered(ok=named == [_TOOL.name], told=f"called {', '.join(named) or 'nothing'}")


def _ask(model: Model, request: Request) -> Reply | ModelError:
    try:
        return model.reply(request)
    except ModelError as error:
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
