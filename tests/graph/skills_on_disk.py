"""A skill of the order desk, written into a folder."""

from pathlib import Path

PARCEL = "Traces a parcel that is late. Use it when a parcel does not come."
BODY = "Trace the parcel first, by `scripts/trace.py`; `references/carriers.md` has the carriers."
SCRIPT = "import sys\nprint('traced', *sys.argv[1:])\n"


def write_skill(root: Path, name: str, description: str, body: str = BODY) -> Path:
    """The skill's folder, with a body, a file of two pages and a script."""
    folder = root / name
    (folder / "references").mkdir(parents=True)
    (folder / "scripts").mkdir()
    (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n---\n{body}\n")
    (folder / "references/carriers.md").write_text("Carriers: the fast one, the slow one.\n" * 400)
    (folder / "scripts/trace.py").write_text(SCRIPT)
    return folder
