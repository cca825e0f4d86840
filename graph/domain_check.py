"""Is a domain whole? What names something that is not there is told when the app opens, not in the middle of a turn."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator

from graph.mcp.contracts import collisions
from graph.result_reader import READ_RESULT, RESULT, is_offered
from state.canonical import is_number
from state.contract import Rate, ToolContract
from state.domain import Domain
from state.skill import SKILL_TOOLS
from state.tools import Tool
from state.work import DecisionKind, Form

_TARGETS = ("next_step", "again")


class DomainBroken(ValueError):
    """The domain names what it does not have; the text lists every place."""


def check_domain(domain: Domain) -> None:
    """Raises DomainBroken with all that is wrong, in one line."""
    found = sorted(_bare(domain)) or sorted({*_table(domain), *_tools(domain), *_examples(domain), *_memory(domain)})
    if found:
        raise DomainBroken(f"domain {domain.name}: {'; '.join(found)}")


def _bare(domain: Domain) -> Iterator[str]:
    """What stands among the tools and is none. Without a contract nothing is known of it that could be checked."""
    for given in domain.tools:
        if not isinstance(given, Tool):
            name = getattr(given, "name", None) or getattr(given, "__name__", None)
            yield (
                f"tools: got {type(given).__name__} {name!s:.80}, which has no contract; allowed: state.tools.Tool; "
                "make one of a LangChain tool by graph.langchain_tools.contracted, of a function by state.tools.tool"
            )


def _table(domain: Domain) -> Iterator[str]:
    specs = {spec.name: spec for spec in domain.table.specs}
    sections = {section.name for section in domain.instructions}
    engine = () if domain.shelf is not None else SKILL_TOOLS  # made, where there is something to read, with the shelf
    tools = {READ_RESULT, *engine, *(tool.contract.name for tool in domain.tools)}
    tools |= {server.tool_name(tool) for server in domain.servers for tool in server.tools}
    for name, spec in specs.items():
        yield from _unknown(f"decision {name}", "instruction", spec.instructions, sections)
        yield from _unknown(f"decision {name}", "tool", spec.tools, tools)
        if spec.kind is not DecisionKind.CLOSE and not (spec.tools or spec.forms):
            yield f"decision {name} offers neither a tool nor a form: nothing can be proposed"
    for rule in domain.table.rules:
        if rule.then not in _TARGETS and rule.then not in specs:
            known = ", ".join(sorted(specs))
            yield f"rule {rule.name} leads to {rule.then!r}, which is no decision; decisions: {known}"


def _examples(domain: Domain) -> Iterator[str]:
    valued = {name for policy in domain.policies for name in policy.values}
    for example in domain.examples:
        yield from _unknown(f"example {example.example_id}", "policy value", example.holds_while, valued)


def _memory(domain: Domain) -> Iterator[str]:
    """A memory is written for a decision that loads it (S6)."""
    loads = {spec.name: spec.memory_purpose for spec in domain.table.specs if spec.memory_limit}
    for policy in domain.policies:
        for about, topic in policy.memory.topics.items():
            if loads.get(topic.serves) != topic.purpose:
                yield (
                    f"policy {policy.version}: memory topic {about} serves {topic.serves} for the purpose "
                    f"{topic.purpose!r}, and no such decision loads memories for it"
                )


def _tools(domain: Domain) -> Iterator[str]:
    offered = {tool for spec in domain.table.specs for tool in spec.tools}
    forms = {form.value for form in Form}
    yield from collisions(domain.servers)
    for name, times in Counter(tool.contract.name for tool in domain.tools).items():
        if times > 1:
            yield f"{times} tools are named {name}; rename all but one"
    if is_offered(domain) and RESULT in domain.resources:
        yield f"the resource {RESULT!r} is what {READ_RESULT} reads; rename the domain's own"
    for contract in (tool.contract for tool in domain.tools):
        if contract.name in forms:
            yield f"tool {contract.name} has the name of an answer form; rename it"
        if contract.name == READ_RESULT:
            yield f"tool {contract.name} has the name of the engine's own tool; rename it"
        if contract.roles and contract.name not in offered:
            yield f"tool {contract.name} stands in no decision: name it in the decision table, or give it no roles"
        yield from _unknown(f"tool {contract.name}", "resource", contract.resources.values(), domain.resources)
        yield from _unknown(f"tool {contract.name}", "precondition", contract.requires, domain.preconditions)
        properties = contract.parameters.get("properties")
        parameters = properties if isinstance(properties, dict) else {}
        yield from _unknown(f"tool {contract.name}", "argument", contract.arguments, parameters)
        fields = {field.name: (field.own_if, field.by, field.within, field.told_in) for field in contract.output}
        beside = [name for names in fields.values() for name in names if name is not None]
        yield from _unknown(f"tool {contract.name}", "field", beside, fields)
        for rate in contract.rates:
            yield from _rated(contract, rate, domain)
        yield from _unknown(f"tool {contract.name}", "argument", [one.parameter for one in contract.limits], parameters)
        for limit in contract.limits:
            for policy in domain.policies:
                if limit.policy_key not in policy.values:
                    yield f"tool {contract.name} needs {limit.policy_key}, which policy {policy.version} lacks"


def _rated(contract: ToolContract, rate: Rate, domain: Domain) -> Iterator[str]:
    name = contract.name
    if rate.parameter is not None and not _always_a_number(contract, rate.parameter):
        yield (
            f"tool {name} has a rate of the amounts of {rate.parameter!r}, which is not always a number; make it an "
            "integer or a number that is required or has a default"
        )
    for policy in domain.policies:
        value = policy.values.get(rate.policy_key)
        if not is_number(value):
            yield f"tool {name} needs the number {rate.policy_key}, which policy {policy.version} lacks"
    if (rate.window_s is None) != (rate.per in ("decision", "turn")):
        yield f"tool {name}: a rate per {rate.per} {'needs' if rate.window_s is None else 'has no'} window_s"


def _always_a_number(contract: ToolContract, parameter: str) -> bool:
    properties, required = contract.parameters.get("properties"), contract.parameters.get("required")
    schema = properties.get(parameter) if isinstance(properties, dict) else None
    if not isinstance(schema, dict) or schema.get("type") not in ("integer", "number"):
        return False
    return "default" in schema or (isinstance(required, list) and parameter in required)


def _unknown(where: str, kind: str, named: Iterable[str], known: Container[str]) -> Iterator[str]:
    for name in named:
        if name not in known:
            yield f"{where} names the {kind} {name!r}, which there is not"
