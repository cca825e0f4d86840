"""The outcomes of trials, one JSON line each: what an interruption leaves is gone on with."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from evals.trials.trial import Outcome


def kept(file: Path, key: str) -> dict[int, Outcome]:
    """The outcomes of a key by number; a line that was cut off is run again."""
    found: dict[int, Outcome] = {}
    if file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            try:
                outcome = Outcome.model_validate_json(line)
            except ValidationError:
                continue
            if outcome.key == key:
                found[outcome.draw.number] = outcome
    return found


def keep(file: Path, outcome: Outcome) -> None:
    """Add an outcome."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as out:
        out.write(outcome.model_dump_json() + "\n")


def counted(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, Counter[str]]]:
    """How many outcomes of each name there are, by engine; the faults last."""
    names = Counter(outcome.name for outcome in outcomes)
    for name in sorted(names, key=lambda name: (name.startswith("FAULT"), -names[name], name)):
        yield name, Counter(outcome.engine for outcome in outcomes if outcome.name == name)
