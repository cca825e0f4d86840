"""Cases from YAML files: one or several documents a file, each checked; a wrong one is told by line and reason."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from evals.case import Case

# Ten times what the largest shipped file has: cases are written by hand, and YAML of a megabyte is read for a minute.
MOST_BYTES = 150_000


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
        documents = [*_documents(_text(file))]
    except yaml.MarkedYAMLError as fault:
        line = fault.problem_mark.line + 1 if fault.problem_mark else 1
        told = fault.problem if isinstance(fault, _Refused) else f"not valid YAML: {fault.problem}"
        faults.append(f"{file} line {line}: {told}")
        return
    except RecursionError:
        faults.append(f"{file} line 1: got lists or mappings nested too deeply to read; allowed: the shape of a case")
        return
    except (yaml.YAMLError, ValueError, OSError) as fault:
        faults.append(f"{file} line 1: {' '.join(str(fault).split())}")
        return
    for node, given in documents:
        try:
            case = Case.model_validate(given)
        except ValidationError as wrong:
            faults += [f"{file} line {_line(node, each['loc'])}: {_reason(each)}" for each in wrong.errors()]
        else:
            yield f"{file} line {node.start_mark.line + 1}", case


def _text(file: Path) -> str:
    size = file.stat().st_size
    if size > MOST_BYTES:
        raise ValueError(f"got {size:,} bytes; allowed: {MOST_BYTES:,} in a file of cases; split it into several")
    return file.read_text(encoding="utf-8")


class _Refused(yaml.MarkedYAMLError):
    """YAML that is valid and no case."""

    def __init__(self, problem: str, mark: yaml.Mark) -> None:
        super().__init__(problem=problem, problem_mark=mark)


class _Loader(yaml.SafeLoader):
    """Reads what stands there, once: what refers to itself can grow without end, and of two values one would count."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs leave it so
            raise _Refused(f"got the alias *{event.anchor}; allowed: no aliases; write the value out", event.start_mark)
        node: yaml.Node | None = super().compose_node(parent, index)
        if isinstance(node, yaml.ScalarNode) and "\0" in node.value:
            raise _Refused(_unprintable(0), node.start_mark)
        if isinstance(node, yaml.MappingNode):
            seen: set[str] = set()
            for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
                if key.value in seen:
                    raise _Refused(f"got the key {key.value!r:.80} twice; allowed: once; take one out", key.start_mark)
                seen.add(key.value)
        return node


def _unprintable(character: int) -> str:
    return f"got the character U+{character:04X}; allowed: text without control characters; take it out"


def _documents(text: str) -> Iterator[tuple[yaml.Node, Any]]:
    """Each document as it stands, for its lines, and as data."""
    try:
        loader = _Loader(text)
    except yaml.reader.ReaderError as fault:
        line = text[: fault.position].count("\n")
        mark = yaml.Mark("", fault.position, line, 0, None, 0)
        raise _Refused(_unprintable(fault.character), mark) from None
    try:
        while loader.check_node():
            if (node := loader.get_node()) is not None:
                yield node, loader.construct_document(node)
    finally:
        loader.dispose()


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
            got = "" if isinstance(fault["input"], dict | list) else f"got {fault['input']!r:.80}; "
            return f"{place}: {got}{message[:1].lower()}{message[1:]}"


def _allowed(place: Sequence[int | str]) -> list[str]:
    """The keys that stand beside an unknown one."""
    model: Any = Case
    for step in place[:-1]:
        if isinstance(step, str):
            kind = model.model_fields[step].annotation
            model = next((one for one in (kind, *getattr(kind, "__args__", ())) if hasattr(one, "model_fields")), model)
    return [field.alias or name for name, field in model.model_fields.items()]
