"""`agent skills list`, `review` and `lock`: what the domain's skills are, what stands in one, and that it was read."""

from collections.abc import Iterator
from contextlib import contextmanager
from json import dumps
from typing import TYPE_CHECKING, Annotated

from rich.text import Text
from typer import Argument, Exit, Option, Typer

from graph.cli.exits import FAILED, OK, WrongUse
from graph.cli.layout import Hanging, labelled
from graph.cli.program import Json, agent
from graph.cli.screen import Screen, one_line
from state.checks.lookalike import deceptive

if TYPE_CHECKING:
    from graph.skill_review import SignShown, SkillShown
    from state.domain import Domain

skills = Typer(no_args_is_help=True, help="The domain's skills: what is there, what is in one, that it was reviewed.")
agent.add_typer(skills, name="skills")

Name = Annotated[str, Argument(metavar="NAME", help="The skill, by its name.")]
_STYLES = {"pinned": "green", "unreviewed": "yellow", "changed": "bold red"}


@skills.command(name="list")
def listed(json: Json = False) -> None:
    """Every skill with what the lock says of it. Exit 1 where one changed, is gone, or cannot be read."""
    screen = Screen(json)
    with _domain(screen) as domain:
        from graph.skill_review import overview
        from nodes.execute.script import confinement_fault

        found = overview(domain, confinement_fault())
    drifted = found.missing or found.faults or any(one.standing.value == "changed" for one in found.skills)
    if json:
        screen.text(found.model_dump_json(indent=2))
        raise Exit(FAILED if drifted else OK)
    for one in found.skills:
        _head(screen, one)
    for name in found.missing:
        screen.out.print(Hanging(f"{name}: pinned, and not in the folder; put it back, or take its pin out", indent=0))
    for fault in found.faults:
        screen.out.print(Hanging(one_line(f"{fault.skill}: {fault.code.value}: {fault.detail}"), indent=0))
    if not found.skills:
        screen.out.print(Hanging("No skill can be read.", indent=0))
    if found.scripts is not None:
        screen.warning(f"no script runs here: {found.scripts}")
    raise Exit(FAILED if drifted else OK)


@skills.command()
def review(name: Name, json: Json = False) -> None:
    """Print a skill whole: each file beside what is pinned of it, and what a reviewer should look at."""
    screen = Screen(json)
    with _domain(screen) as domain:
        from graph.skill_review import review as look

        found = look(domain, name)
    if json:
        screen.text(found.model_dump_json(indent=2))
        return
    _head(screen, found)
    for label, text in (("license", found.license), ("needs", found.compatibility)):
        for line in labelled(label, [one_line(text)] if text else []):
            screen.out.print(line)
    for file in found.files:
        screen.out.print(Text())
        screen.out.print(Text(f"{file.path} · {file.status} · sha256 {(file.sha256 or '-')[:16]}", style="bold"))
        if file.text is None and file.sha256 is not None:
            screen.out.print(Hanging("no text: nobody can read what it says"))
        for written in (file.text or "").splitlines():
            screen.out.print(Hanging(_readable(written)))
    screen.out.print(Text())
    for seen in found.signs:
        screen.out.print(Hanging(one_line(_seen(seen)), "look at   ", style="yellow"))
    told = f"agent skills lock {found.name} {found.version} --by NAME"
    screen.out.print(Hanging(f"if it may be offered: {told}{' --despite-signs' * bool(found.signs)}", indent=0))


@skills.command()
def lock(
    name: Name,
    version: Annotated[str, Argument(metavar="VERSION", help="The version that was reviewed, as `review` names it.")],
    by: Annotated[str, Option(metavar="NAME", help="Who reviewed it.")],
    despite_signs: Annotated[
        bool, Option("--despite-signs", help="Pin it although the scanner flags something.")
    ] = False,
    json: Json = False,
) -> None:
    """Pin a skill as it was reviewed: from the next start on it is offered, as long as no byte of it changes."""
    screen = Screen(json)
    with _domain(screen) as domain:
        from pydantic import ValidationError

        from graph.clock import SystemClock
        from graph.skill_review import NotReviewed, UnknownSkill, pin

        try:
            path = pin(domain, name, version, by, SystemClock().now(), despite_signs=despite_signs)
        except ValidationError:
            raise WrongUse(f"got --by {by!a:.80}; allowed: a name of at most 160 characters that print") from None
        except (NotReviewed, UnknownSkill) as wrong:
            raise WrongUse(str(wrong)) from None
    if json:
        screen.text(dumps({"skill": name, "version": version, "by": by, "lock": str(path)}, indent=2))
    else:
        screen.out.print(Hanging(f"{name} {version} is pinned in {path}", indent=0))


@contextmanager
def _domain(screen: Screen) -> "Iterator[Domain]":
    """The domain of the settings with its skills read; no store and no model is opened."""
    with screen.waiting("Reading"):
        from graph.clock import SystemClock
        from graph.domain_loading import load_domain
        from graph.home import claim_home
        from graph.settings import Settings
        from graph.skills import with_skills

        settings = Settings.load()
        claim_home(settings.make_home(), settings.domain)
        loaded = load_domain(settings.domain, settings.home / "domain", SystemClock())
    try:
        yield with_skills(loaded)
    finally:
        loaded.close()


def _head(screen: Screen, one: "SkillShown") -> None:
    standing = one.standing.value
    by = f", reviewed by {one_line(one.reviewed.by)} {one.reviewed.at:%Y-%m-%d}" if one.reviewed else ""
    screen.out.print(Text.assemble((one.name, "bold"), f" {one.version} ", (standing, _STYLES[standing]), by))
    screen.out.print(Hanging(one_line(one.description)))
    for label, texts in (("tools", one.allowed_tools), ("scripts", one.scripts)):
        for line in labelled(label, [one_line(", ".join(texts))] if texts else []):
            screen.out.print(line)
    if one.signs:
        kinds = ", ".join(sorted({seen.sign.value for seen in one.signs}))
        screen.out.print(Hanging(f"a reviewer should look at: {kinds}", style="yellow"))


def _readable(line: str) -> str:
    """A line as it is; one with what is not seen, or looks like something else, as JSON that shows it."""
    from graph.cli.arguments import in_full

    return in_full(line).text if deceptive(line) else line


def _seen(one: "SignShown") -> str:
    return f"{one.file}{f' line {one.line}' if one.line else ''}: {one.sign.value}: {one.detail}"
