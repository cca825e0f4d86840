"""`agent draw`: the drawing and the slice table, printed, written into README.md, or compared with it."""

from pathlib import Path

from graph.cli.exits import FAILED, OK
from graph.cli.screen import Screen
from graph.drawing import MarkersMissing, mermaid, slice_table, unplugged_nodes, with_blocks

README = "README.md"


def draw(screen: Screen, *, write: bool, check: bool) -> int:
    """Print both; or write them; or check them and give 1 where the file differs."""
    nodes = unplugged_nodes()
    if not write and not check:
        screen.text(f"{mermaid(nodes)}\n\n{slice_table(nodes)}")
        return OK
    path = Path(README)
    try:
        had = path.read_text(encoding="utf-8")
        wanted = with_blocks(had, nodes)
    except FileNotFoundError:
        screen.error(f"got no {README} in this folder; run it in the project's root")
        return FAILED
    except MarkersMissing as missing:
        screen.error(f"{README}: {missing}")
        return FAILED
    if had == wanted:
        screen.text(f"{README} is up to date")
        return OK
    if check:
        screen.error(f"{README}: its drawing or its slice table is not that of the code; run `agent draw --write`")
        return FAILED
    path.write_text(wanted, encoding="utf-8")
    screen.text(f"{README} written")
    return OK
