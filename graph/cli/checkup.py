"""`agent doctor`: the checks of graph.doctor, as a list or as JSON."""

from json import dumps

from rich.console import Group
from rich.text import Text

from graph.cli.exits import FAILED, OK
from graph.cli.layout import Hanging
from graph.cli.screen import Screen, one_line


def checkup(screen: Screen) -> int:
    """Print every check as it is made. Gives 1 where something is missing."""
    with screen.waiting("Looking"):
        from graph.doctor import Check, examine

        checks: list[Check] = []
        for check in examine():
            checks.append(check)
            if not screen.json_wanted:
                screen.out.print(_line(check.name, check.ok, check.found, check.fix))
    ok = all(check.ok for check in checks)
    if screen.json_wanted:
        plain = {"ok": ok, "checks": [check.model_dump(mode="json") for check in checks]}
        screen.text(dumps(plain, indent=2, ensure_ascii=False))
    return OK if ok else FAILED


def _line(name: str, ok: bool, found: str, fix: str) -> Group:
    mark = ("ok", "green") if ok else ("missing", "bold red")
    start = f"{mark[0]:<9}{name:<13}"
    lines = [Hanging(one_line(found), start, indent=0, style=mark[1])]
    if fix:
        lines.append(Hanging(Text.assemble(("fix: ", "bold"), one_line(fix)), " " * len(start), indent=0))
    return Group(*lines)
