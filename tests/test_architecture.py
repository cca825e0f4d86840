"""The conventions of this code, as failing tests. Exceptions are listed here, and the list only shrinks."""

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("state", "nodes", "retrieval", "graph", "domain", "evals")
NODES = {"resolve", "plan", "retrieve", "pack", "propose", "validate", "execute", "log"}
LONGEST_FILE = 300
NAMES_THAT_SAY_NOTHING = {"util", "utils", "helper", "helpers", "manager", "managers", "common", "base", "misc"}

OURS = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def label(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def offences(found: Iterator[str]) -> None:
    """Fail with every offence at once, so that one run shows all that is to be mended."""
    lines = sorted(found)
    assert not lines, "\n".join(["", *lines])


def nodes_of(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text(encoding="utf-8"), filename=label(path)))


def test_every_import_arrow_points_down() -> None:
    """Runs the contracts of pyproject.toml: layers, the domain, the nodes, chromadb and the model SDKs."""
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_nodes_are_the_eight_boxes_of_the_drawing() -> None:
    entries = {
        path.stem for path in (ROOT / "nodes").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert entries - {"__init__"} == NODES


def test_no_file_is_longer_than_a_reader_can_hold() -> None:
    def found() -> Iterator[str]:
        for path in OURS + TESTS:
            lines = len(path.read_text(encoding="utf-8").splitlines())
            if lines > LONGEST_FILE:
                yield f"{label(path)}: {lines} lines, at most {LONGEST_FILE}: split it by idea"

    offences(found())


def test_module_names_say_what_is_inside() -> None:
    def found() -> Iterator[str]:
        for path in OURS + TESTS:
            name = path.parent.name if path.stem == "__init__" else path.stem
            if name.strip("_") in NAMES_THAT_SAY_NOTHING or name.rpartition("_")[2] in NAMES_THAT_SAY_NOTHING - {
                "base"
            }:
                yield f"{label(path)}: name it after its idea"

    offences(found())


def test_imports_are_absolute() -> None:
    def found() -> Iterator[str]:
        for path in OURS + TESTS:
            for node in nodes_of(path):
                if isinstance(node, ast.ImportFrom) and node.level:
                    yield f"{label(path)}:{node.lineno}: relative import"

    offences(found())


def test_only_settings_reads_the_environment() -> None:
    forbidden = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv", "load_dotenv", "dotenv_values"}

    def found() -> Iterator[str]:
        for path in OURS:
            if label(path) == "graph/settings.py":
                continue
            for node in nodes_of(path):
                names = {alias.name for alias in node.names} if isinstance(node, ast.ImportFrom) else set()
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
                    names = {node.attr}
                for name in sorted(names & forbidden):
                    yield f"{label(path)}:{getattr(node, 'lineno', 0)}: {name}: read it in graph/settings.py"

    offences(found())


def test_only_the_composition_root_loads_modules_by_name() -> None:
    """The import contracts see only import statements; this closes the other door to the domain."""

    def found() -> Iterator[str]:
        for path in OURS:
            # The second finds a tool's own function in the process that runs nothing else.
            if label(path) in ("graph/domain_loading.py", "nodes/execute/child.py"):
                continue
            for node in nodes_of(path):
                name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
                if name in {"import_module", "__import__"}:
                    yield f"{label(path)}:{getattr(node, 'lineno', 0)}: {name}: only graph/domain_loading.py does"

    offences(found())


# Directive, its rule in brackets or after a colon, and then whatever stands behind it.
DIRECTIVE = re.compile(
    r"#\s*(type:\s*ignore|(?:ruff:\s*)?noqa)(\[[^\]]+\]|:\s*[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)?(.*)"
)


def unexplained(comment: str) -> bool:
    directive = DIRECTIVE.search(comment)
    if directive is None:
        return False
    rule, reason = directive[2], directive[3]
    return rule is None or not re.search(r"\w+\W+\w+", reason)


def test_every_ignore_names_its_rule_and_its_reason() -> None:
    def found() -> Iterator[str]:
        for path in OURS + TESTS:
            source = io.StringIO(path.read_text(encoding="utf-8"))
            for token in tokenize.generate_tokens(source.readline):
                if token.type == tokenize.COMMENT and unexplained(token.string):
                    yield f"{label(path)}:{token.start[0]}: {token.string}"

    offences(found())


@pytest.mark.parametrize(
    ("comment", "is_unexplained"),
    [
        ("# type: ignore", True),
        ("# type: ignore[arg-type]", True),
        ("# type: ignore  # the stubs are wrong", True),
        ("# type: ignore[arg-type]  # the stubs are wrong", False),
        ("# noqa: E501", True),
        ("# noqa: E501, B008  # a table reads better in one line", False),
        ("# noqa", True),
        ("# why we ignore the type", False),
    ],
)
def test_what_counts_as_a_reason(comment: str, is_unexplained: bool) -> None:
    assert unexplained(comment) is is_unexplained


def pinned(lock: str) -> dict[str, set[str]]:
    """Name to versions: a universal lock may pin one package once per Python version."""
    versions: dict[str, set[str]] = {}
    for line in (ROOT / lock).read_text(encoding="utf-8").splitlines():
        if match := re.match(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", line):
            versions.setdefault(canonicalize_name(match[1]), set()).add(match[2])
    return versions


def test_the_locks_hold_what_the_project_declares() -> None:
    text = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project, extras = text["project"], text["project"]["optional-dependencies"]
    core = [*project["dependencies"], *text["dependency-groups"]["build"]]
    declared = {
        "requirements.lock": core,
        "requirements-dev.lock": core + extras["dev"] + extras["studio"],
        "requirements-evals.lock": core + extras["dev"] + extras["studio"] + extras["evals"],
    }

    def found() -> Iterator[str]:
        for lock, wanted in declared.items():
            versions = pinned(lock)
            for requirement in map(Requirement, wanted):
                have = versions.get(canonicalize_name(requirement.name), set())
                if not have or not all(requirement.specifier.contains(version) for version in have):
                    yield f"{lock}: wants {requirement}, has {sorted(have) or 'nothing'}: run make lock"

    offences(found())


@pytest.mark.parametrize("wider", ["requirements-dev.lock", "requirements-evals.lock"])
def test_one_package_has_one_version_in_all_locks(wider: str) -> None:
    narrow = pinned("requirements.lock" if wider == "requirements-dev.lock" else "requirements-dev.lock")
    held = pinned(wider)
    assert {name: versions for name, versions in narrow.items() if held.get(name) != versions} == {}


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock", "requirements-evals.lock"])
def test_a_lock_names_no_host_and_no_folder(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert not re.search(r"://|^-|@ |(?<![\w.])/\w", text, re.MULTILINE)
