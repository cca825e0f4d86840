"""`agent doctor`: the checks of graph.doctor or graph.model_probe, as a list or as JSON."""

from collections.abc import Iterable
from json import dumps
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from graph.cli.exits import FAILED, OK
from graph.cli.layout import Hanging
from graph.cli.screen import Screen, one_line

_NAME_CHARS = 20

if TYPE_CHECKING:
    from graph.doctor import Check


def checkup(screen: Screen) -> int:
    """Print every check as it is made. Gives 1 where something is missing."""
    with screen.waiting("Looking"):
        from graph.doctor import examine

        checks = _printed(screen, examine())
    return _ended(screen, checks, all(check.ok for check in checks), {})


def model_checkup(screen: Screen, model: str) -> int:
    """Print what a model server can do, and the profile that fits. Gives 1 where none does, or its window is smaller.

    Raises SettingsError, ModelNotConfigured.
    """
    with screen.waiting("Asking the model server"):
        from graph.model_fit import fitting, next_step
        from graph.model_probe import examine_model
        from graph.models.registry import open_model
        from graph.settings import Settings

        settings = Settings.load(openai_model=model)
        checks = _printed(
            screen,
            examine_model(
                lambda profile: open_model(
                    "openai",
                    openai_model=settings.openai_model,
                    openai_api_key=settings.openai_api_key,
                    openai_base_url=settings.openai_base_url,
                    openai_profile=profile.name,
                    timeout_s=settings.model_timeout_s,
                ),
                settings.window_tokens - settings.reserved_output_tokens,
                settings.model_modes,
            ),
        )
    fits, told = fitting(checks, settings.openai_base_url), next_step(checks, settings.openai_base_url)
    if not screen.json_wanted:
        screen.out.print(Text(told, style="bold"))
        for quirk in fits.quirks if fits else ():
            screen.out.print(Hanging(one_line(quirk), "- ", indent=2))
    ok = fits is not None and all(check.ok for check in checks if check.name == "window")
    return _ended(screen, checks, ok, {"profile": None if fits is None else fits.name, "next": told})


def _printed(screen: Screen, checks: "Iterable[Check]") -> "list[Check]":
    made = []
    for check in checks:
        made.append(check)
        if not screen.json_wanted:
            screen.out.print(_line(check.name, check.ok, check.found, check.fix))
    return made


def _ended(screen: Screen, checks: "list[Check]", ok: bool, more: dict[str, str | None]) -> int:
    if screen.json_wanted:
        plain = {"ok": ok, **more, "checks": [check.model_dump(mode="json") for check in checks]}
        screen.text(dumps(plain, indent=2, ensure_ascii=False))
    return OK if ok else FAILED


def _line(name: str, ok: bool, found: str, fix: str) -> Group:
    mark = ("ok", "green") if ok else ("missing", "bold red")
    start = f"{mark[0]:<9}{name:<{_NAME_CHARS}}"
    lines = [Hanging(one_line(found), start, indent=0, style=mark[1])]
    if fix:
        lines.append(Hanging(Text.assemble(("fix: ", "bold"), one_line(fix)), " " * len(start), indent=0))
    return Group(*lines)
