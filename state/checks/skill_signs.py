"""What a reviewer of a skill should look at (X6): hidden characters, the network, secrets, other code, and orders
beyond what the skill says it is for.

By words and by syntax, so a hint and no gate: what is offered and run is what a person pinned.
"""

import ast
import re
from collections.abc import Collection, Iterator
from enum import StrEnum
from typing import NamedTuple

from state.checks.hidden import hidden_characters
from state.checks.injection import injection_signs
from state.skill import Skill


class Sign(StrEnum):
    """A kind of thing to look at."""

    HIDDEN_CHARACTERS = "hidden_characters"
    NETWORK = "network"
    SECRETS = "secrets"
    RUNS_CODE = "runs_code"
    ORDERS = "orders"
    UNDECLARED_TOOL = "undeclared_tool"
    NOT_TEXT = "not_text"
    NOT_PYTHON = "not_python"


class Seen(NamedTuple):
    """A sign, where it stands, and in a few words what it is. `line` is 0 where it is the file as a whole."""

    sign: Sign
    file: str
    line: int
    detail: str


_NETWORK = re.compile(r"https?://|\b(?:curl|wget|netcat|nc|ssh|scp|ftp|telnet)\s|\bfetch\(", re.IGNORECASE)
_SECRETS = re.compile(
    r"\benviron\b|\bgetenv\b|\$\{?[A-Z_]*(?:KEY|TOKEN|SECRET|PASSWORD)\b|(?<![\w])\.env\b|\.(?:ssh|aws|netrc|gnupg|kube)\b"
    r"|/etc/|/proc/|/root/|~/|\bid_(?:rsa|ed25519)\b|\bkeyring\b|\bexpanduser\b|\bPath\.home\b",
)
_MODULES = {
    Sign.NETWORK: {
        *("socket", "ssl", "http", "urllib", "urllib3", "requests", "httpx", "aiohttp", "websockets", "paramiko"),
        *("ftplib", "smtplib", "poplib", "imaplib", "telnetlib", "xmlrpc", "socketserver"),
    },
    Sign.SECRETS: {"getpass", "keyring", "netrc", "pwd"},
    Sign.RUNS_CODE: {
        *("subprocess", "multiprocessing", "ctypes", "cffi", "importlib", "runpy", "code", "pickle", "marshal", "pty"),
    },
}
_CALLS = frozenset({"eval", "exec", "compile", "__import__", "system", "popen", "fork", "spawnv", "execv"})
_NAMED = re.compile(r"`([a-z][a-z0-9_]{2,63})`")


def skill_signs(skill: Skill, tools: Collection[str]) -> tuple[Seen, ...]:
    """What stands in a skill's files, by file and line. `tools` are the names of all that the domain has."""
    return tuple(
        sorted({seen for path, data in skill.files.items() for seen in _in_file(path, data)} | {*_tools(skill, tools)})
    )


def _in_file(path: str, data: bytes) -> Iterator[Seen]:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        yield Seen(Sign.NOT_TEXT, path, 0, "no text: nobody can read what it says")
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if hidden := hidden_characters(line):
            yield Seen(Sign.HIDDEN_CHARACTERS, path, number, f"{hidden} that no reader sees")
        if found := _NETWORK.search(line):
            yield Seen(Sign.NETWORK, path, number, found[0].strip())
        if found := _SECRETS.search(line):
            yield Seen(Sign.SECRETS, path, number, found[0].strip())
        if injection_signs(line).count:
            yield Seen(Sign.ORDERS, path, number, "gives orders beyond what the skill is for")
    if injection_signs(text).count and not any(injection_signs(line).count for line in text.splitlines()):
        yield Seen(Sign.ORDERS, path, 0, "gives orders beyond what the skill is for, over several lines")
    if path.endswith(".py"):
        yield from _in_python(path, text)


def _in_python(path: str, text: str) -> Iterator[Seen]:
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield Seen(Sign.NOT_PYTHON, path, 0, "no Python: it cannot run")
        return
    for node in nodes:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            for sign, modules in _MODULES.items():
                if name.partition(".")[0] in modules:
                    yield Seen(sign, path, getattr(node, "lineno", 0), f"imports {name}")
        if isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if called in _CALLS and (isinstance(node.func, ast.Name) or called in ("system", "popen", "execv", "fork")):
                yield Seen(Sign.RUNS_CODE, path, node.lineno, f"calls {called}")


def _tools(skill: Skill, tools: Collection[str]) -> Iterator[Seen]:
    """Tools that the body names and the front matter does not: it would do more than it says."""
    for number, line in enumerate(skill.body.splitlines(), start=1):
        for name in _NAMED.findall(line):
            if name in tools and name not in skill.allowed_tools:
                yield Seen(Sign.UNDECLARED_TOOL, "SKILL.md", number, f"names {name}, which allowed-tools does not")
