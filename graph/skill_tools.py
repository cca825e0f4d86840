"""The engine's own tools `read_skill_file` and `run_skill_script`: what a pinned skill holds beside its body (S9).

A file is looked up among the bytes that were pinned: no path is followed anywhere. What they bring is untrusted, as all
that a script or a text of others says, whoever reviewed it.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field, JsonValue

from graph.result_reader import pages
from nodes.execute.script import NotConfined, OutOfTime, TooMuchOutput, run_script
from state.contract import Effect, FailureMode, OutputField
from state.skill import Skill
from state.tools import Tool, ToolContext, ToolError, tool

MAX_BYTES = 8_000
_ENVELOPE = 200  # bytes of a page that are not its text
_SCRIPT_TIME_S = 20.0
_ERROR_CHARS = 300

Page = Annotated[int, Field(ge=1, description="Which page, from 1.")]
Path = Annotated[str, Field(max_length=256, description="As the body names it.")]
Arguments = Annotated[
    list[Annotated[str, Field(max_length=200)]],
    Field(max_length=16, description="What follows its name on a command line, one word each."),
]


def file_reader(skills: Sequence[Skill], roles: tuple[str, ...]) -> Tool:
    """The tool that reads files of these skills, for principals with one of these roles."""
    by_name = {skill.name: skill for skill in skills}

    @tool(
        effect=Effect.READ,
        roles=roles,
        idempotent=True,
        output=(
            *_named_by("path"),
            OutputField(name="page", trust="system", json_schema={"type": "integer"}, required=True),
            OutputField(name="pages", trust="system", json_schema={"type": "integer"}, required=True),
            OutputField(name="text", json_schema={"type": "string"}, required=True),
        ),
        failures=(FailureMode(code="not_found"), FailureMode(code="not_text"), FailureMode(code="no_such_page")),
        max_bytes=MAX_BYTES,
    )
    def read_skill_file(context: ToolContext, *, skill: _named(by_name), path: Path, page: Page = 1) -> dict[str, Any]:  # type: ignore[valid-type]  # the names there are make the schema
        """Read a file of a skill, or its SKILL.md, one page at a time.

        Errors: `not_found`, `not_text`, `no_such_page`.
        """
        data = by_name[skill].files.get(path) if skill in by_name else None
        if data is None:
            raise ToolError("not_found", "the skill has no file of exactly that name")
        try:
            cut = pages(data.decode(), MAX_BYTES - _ENVELOPE)
        except UnicodeDecodeError:
            raise ToolError("not_text", "the file is no text") from None
        number = int(page)  # a schema's integer may come as 2.0
        if number > len(cut):
            raise ToolError("no_such_page", f"there are {len(cut)} pages")
        return {"skill": skill, "path": path, "page": number, "pages": len(cut), "text": cut[number - 1]}

    return read_skill_file


def script_runner(skills: Sequence[Skill], roles: tuple[str, ...]) -> Tool:
    """The tool that runs scripts of these skills, for principals with one of these roles."""
    by_name = {skill.name: skill for skill in skills if skill.scripts}
    scripts = sorted({script for skill in by_name.values() for script in skill.scripts})

    @tool(
        effect=Effect.READ,
        roles=roles,
        idempotent=True,
        output=(
            *_named_by("script"),
            OutputField(name="exit_code", trust="system", json_schema={"type": "integer"}, required=True),
            OutputField(name="output", json_schema={"type": "string"}, required=True),
            OutputField(name="errors", json_schema={"type": "string"}),
        ),
        failures=(
            FailureMode(code="not_found"),
            FailureMode(code="out_of_time"),
            FailureMode(code="too_much_output"),
            FailureMode(code="not_confined"),
        ),
        timeout_s=_SCRIPT_TIME_S + 10,
        max_bytes=MAX_BYTES,
    )
    def run_skill_script(  # the names there are make the schema
        context: ToolContext,
        *,
        skill: _named(by_name),  # type: ignore[valid-type]  # as above
        script: _one_of(scripts),  # type: ignore[valid-type]  # as above
        arguments: Arguments = [],  # noqa: B006  # a schema's default, never changed
    ) -> dict[str, Any]:
        """Run a script of a skill as its body says. It reaches no network and no other files.

        Errors: `not_found`, `out_of_time`, `too_much_output`, `not_confined`.
        """
        found = by_name.get(skill)
        if found is None or script not in found.scripts:
            raise ToolError("not_found", "the skill has no script of exactly that name")
        try:
            ran = run_script(found.files, script, arguments, timeout_s=_SCRIPT_TIME_S)
        except OutOfTime:
            raise ToolError("out_of_time", f"it was ended after {_SCRIPT_TIME_S:.0f} s") from None
        except TooMuchOutput:
            raise ToolError("too_much_output", "it wrote more than is kept") from None
        except NotConfined as reason:
            raise ToolError("not_confined", str(reason)) from None
        # A script that ends badly has said something too: a wrong argument is corrected by whoever reads why.
        errors = {"errors": (ran.errors.strip().splitlines() or [""])[-1][:_ERROR_CHARS]} if ran.exit_code else {}
        return {"skill": skill, "script": script, "exit_code": ran.exit_code, "output": ran.output, **errors}

    return run_skill_script


def _named_by(place: str) -> tuple[OutputField, ...]:
    """Which skill and which of its files: names that were pinned, so the call's own words are none here."""
    text: dict[str, JsonValue] = {"type": "string"}
    return tuple(OutputField(name=name, trust="system", json_schema=text, required=True) for name in ("skill", place))


def _named(by_name: dict[str, Skill]) -> Any:
    return _one_of(sorted(by_name))


def _one_of(values: Sequence[str]) -> Any:
    return Annotated[str, Field(json_schema_extra={"enum": list(values)})]
