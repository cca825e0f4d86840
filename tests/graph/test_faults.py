"""Every error of the house that can reach a caller is told in one line, and none is called a bug of the program."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import graph
import nodes
import retrieval
import state
from graph.faults import explained
from graph.tracing import TracingNotInstalled

# Each with the place that meets it, so that it goes no further.
MET_WITHIN = {
    "_Busy",  # graph.approvals answers it
    "_NobodyAnswers",  # graph.model_probe
    "CommandBroken",  # a command line error by itself
    "EventRefused",  # graph.cli.events
    "ForeignItem",  # a broken law of pack: a bug, and told as one
    "Killed",  # nodes.execute, as the three below
    "MarkersMissing",  # graph.cli.drawings
    "MemoryNotDeclared",  # a tool's own fault, told as its result
    "Missing",  # graph.doctor
    "NameTaken",  # nodes.execute.filing
    "NoProposal",  # nodes.propose
    "NotConfined",  # nodes.execute.script
    "NotReviewed",  # graph.cli.skills and servers
    "NotText",  # nodes.execute.project
    "NotWritten",  # nodes.propose.written
    "OutOfTime",
    "PatternRefused",  # where a contract is made
    "Raised",
    "RankingUnusable",  # graph.settings
    "Refused",
    "ReplyTooLarge",  # graph.models.failures
    "SchemaRefused",  # where a contract is made
    "ScriptExhausted",  # a test's or a case's model
    "SecretNotDeclared",  # a tool's own fault, told as its result
    "ServerFault",  # graph.mcp.call, told as a call's result
    "SkillBroken",  # retrieval.skill_folder
    "SliceError",  # a node written wrongly: a bug, and told as one
    "TimedOut",
    "TokenRefused",  # graph.auth
    "ToolError",  # a call's result
    "ToolIllFormed",  # graph.domain_loading
    "ToolNotContracted",  # where a tool is wrapped
    "TooMuchOutput",
    "UnknownPort",  # open_app called wrongly, from code
    "WrongUse",  # a command line error by itself
}


def modules() -> Iterator[ModuleType]:
    for room in (graph, nodes, retrieval, state):
        for found in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            if found.name != "graph.auth" and found.name != "graph.agent":  # they open a server when imported
                yield importlib.import_module(found.name)


def errors() -> dict[str, type[Exception]]:
    return {
        made.__name__: made
        for module in modules()
        for made in vars(module).values()
        if inspect.isclass(made) and issubclass(made, Exception) and made.__module__ == module.__name__
    }


def test_every_error_is_told_or_met_within() -> None:
    untold = {
        name for name, made in errors().items() if explained(made.__new__(made)) is None and name not in MET_WITHIN
    }
    assert untold == set()


def test_what_is_met_within_is_still_there() -> None:
    assert MET_WITHIN - set(errors()) == set()


def test_tracing_without_its_packages_is_told_with_what_to_install() -> None:
    fault = explained(TracingNotInstalled("run `pip install -e '.[tracing]'`"))
    assert fault is not None
    assert fault.message == "run `pip install -e '.[tracing]'`"
