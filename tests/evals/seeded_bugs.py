"""Every seeded bug, and the table of them: a suite is worth what it notices.

`python -m tests.evals.seeded_bugs` writes the table into docs/seeded_bugs.md.
"""

from pathlib import Path

from tests.evals.bug import SeededBug
from tests.evals.bugs_in_approvals import APPROVED
from tests.evals.bugs_in_memory import REMEMBERED
from tests.evals.bugs_in_skills import SKILLS
from tests.evals.bugs_in_what_is_allowed import ALLOWED
from tests.evals.bugs_in_what_is_done import DONE
from tests.evals.bugs_in_what_is_kept import KEPT
from tests.evals.bugs_in_what_is_shown import SHOWN
from tests.evals.bugs_in_what_is_told import TOLD

PAGE = Path(__file__).parents[2] / "docs" / "seeded_bugs.md"
BEGIN, END = "<!-- bugs -->\n", "<!-- /bugs -->\n"
BUGS: tuple[SeededBug, ...] = (*SHOWN, *REMEMBERED, *ALLOWED, *APPROVED, *DONE, *TOLD, *KEPT, *SKILLS)


def table() -> str:
    """The table of docs/seeded_bugs.md: a line for each case that notices a bug."""
    lines = ["| bug | what it breaks | case that fails | by |", "|---|---|---|---|"]
    for each in BUGS:
        told = f"{each.name} | {each.breaks}"
        for (case, model), measures in each.by_case().items():
            named = f"`{case}`" if model == "offline" else f"`{case}` ({model})"
            lines.append(f"| {told} | {named} | {', '.join(measures)} |")
            told = " | "
    return "\n".join(lines) + "\n"


def parts(page: str) -> tuple[str, str, str]:
    """A page in three parts: before the table, the table, behind it."""
    before, _, rest = page.partition(BEGIN)
    inside, _, behind = rest.partition(END)
    return before, inside, behind


if __name__ == "__main__":
    head, _, tail = parts(PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(f"{head}{BEGIN}{table()}{END}{tail}", encoding="utf-8")
