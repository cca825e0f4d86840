"""Cases from YAML files: one or several documents a file, each checked; a wrong one is told by line and reason."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from evals.case import Case


class CasesWrong(ValueError):
    """Case files that cannot be used: one line for each fault."""


def load_cases(path: Path) -> tuple[Case, ...]:
    """Every case below a path, by file and place in it. Raises CasesWrong: file, line and reason of each fault."""
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*.yaml") if file.is_file())
    if not files:
        raise CasesWrong(f"got {path}, which holds no case; give a .yaml file, or a folder with some")
    faults: list[str] = []
    found: dict[str, tuple[Case, str]] = {}
    for file in files:
        for where, case in _of_file(file, faults):
            if case.name in found:
                faults.append(f"{where}: name: {case.name!r} stands in {found[case.name][1]} already; rename one")
            else:
                found[case.name] = (case, where)
    if faults:
        raise CasesWrong("; ".join(faults))
    return tuple(case for case, _ in found.values())


def _of_file(file: Path, faults: list[str]) -> Iterator[tuple[str, Case]]:
    try:
        text = file.read_text(encoding="utf-8")
        nodes = [*yaml.compose_all(text, yaml.SafeLoader)]
        given = [*yaml.safe_load_all(text)]
    except yaml.MarkedYAMLError as fault:
        line = fault.problem_mark.line + 1 if fault.problem_mark else 1
        faults.append(f"{file} line {line}: not valid YAML: {fault.problem}")
        return
    except (yaml.YAMLError, ValueError, OSError) as fault:
        faults.append(f"{file} line 1: {' '.join(str(fault).split())}")
        return
    for node, one in zip(nodes, given, strict=True):
        try:
            case = Case.model_validate(one)
        except ValidationError as wrong:
            faults += [f"{file} line {_line(node, each['loc'])}: {_reason(each)}" for each in wrong.errors()]
        else:
            yield f"{file} line {node.start_mark.line + 1}", case


def _line(node: yaml.Node, place: Sequence[int | str]) -> int:
    """The line of the deepest node on the way to a place."""
    for step in place:
        inner: yaml.Node | None = None
        if isinstance(node, yaml.MappingNode):
            inner = next((value for key, value in node.value if key.value == step), None)
            key = next((key for key, _ in node.value if key.value == step), None)
            if key is not None and inner is not None and not isinstance(inner, yaml.CollectionNode):
                return int(key.start_mark.line) + 1
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            inner = node.value[step]
        if inner is None:
            break
        node = inner
    return int(node.start_mark.line) + 1


def _reason(fault: Any) -> str:
    place = ".".join(str(step) for step in fault["loc"]) or "case"
    match fault["type"]:
        case "missing":
            return f"{place}: missing; add it"
        case "extra_forbidden":
            return f"{place}: unknown key; allowed: {', '.join(_allowed(fault['loc']))}"
        case _:
            message = fault["msg"].removeprefix("Value error, ")
            got = "" if isinstance(fault["input"], dict | list) else f"got {fault['input']!r}; "
            return f"{place}: {got}{message[:1].lower()}{message[1:]}"


def _allowed(place: Sequence[int | str]) -> list[str]:
    """The keys that stand beside an unknown one."""
    model: Any = Case
    for step in place[:-1]:
        if isinstance(step, str):
            kind = model.model_fields[step].annotation
            model = next((one for one in (kind, *getattr(kind, "__args__", ())) if hasattr(one, "model_fields")), model)
    return [field.alias or name for name, field in model.model_fields.items()]
