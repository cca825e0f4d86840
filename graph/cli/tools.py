"""`agent tools`: every contract of the domain with the values in force, and the tools that are easily confused."""

from collections.abc import Sequence

from rich.text import Text

from graph.cli.layout import Hanging, labelled
from graph.cli.opening import opened_to_look
from graph.cli.screen import Screen, one_line
from graph.cli.wording import plural


def tools(screen: Screen, names: Sequence[str]) -> None:
    """Print the contracts, all or those named. Raises UnknownTool."""
    with opened_to_look(screen, filed=False) as app:
        from graph.result_reader import with_read_result
        from graph.tool_overview import tool_overview
        from graph.tool_shown import terms_of

        ports = app.ports
        domain = with_read_result(ports.domain, ports.artifacts, ports.log)
        found = tool_overview(domain, ports.clock.now(), names)
    if screen.json_wanted:
        screen.text(found.model_dump_json(indent=2))
        return
    told = f"{one_line(found.domain)} · {plural(len(found.tools), 'tool')} · policy {one_line(found.policy_version)}"
    screen.out.print(Text(told, style="dim"))
    for one in found.tools:
        screen.out.print(Text())
        screen.out.print(Text(one.contract.name, style="bold"))
        screen.out.print(Hanging(one_line(one.contract.description)))
        for label, lines in terms_of(one):
            for line in labelled(label, map(one_line, lines)):
                screen.out.print(line)
    if found.overlaps:
        screen.out.print(Text())
        screen.out.print(Text("easily confused", style="yellow"))
        for pair in found.overlaps:
            screen.out.print(Hanging(one_line(pair.why)))
