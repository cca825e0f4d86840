"""From a manifest's items and their bodies to the exact request: pure, so that replay is rendering again (M4).

Channels (X2): durable instructions stand in the instruction message, tools and answer forms in the tool list;
everything else is one input message of labelled blocks, in item order. A block's text and attributes are made
visible and escaped, so no content can open or close a marker (H16).
"""

import html
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from pydantic import TypeAdapter

from state.canonical import digest
from state.checks.hidden import visible
from state.context import CONFLICT, ContextItem, Kind, RequestSettings, Trust
from state.events import EVENT, NOTICE
from state.request import Message, Request, ToolSpec
from state.value import Value

_SPEC: TypeAdapter[ToolSpec] = TypeAdapter(ToolSpec)
_SPECS = 1_024  # definitions that one process remembers
_BLOCK = re.compile(
    r"<(?P<tag>[a-z_]+)(?P<attributes>(?: [a-z_]+=\"[^\"]*\")*)>\n(?P<text>.*?)\n</(?P=tag)>", re.DOTALL
)
_ATTRIBUTE = re.compile(r" ([a-z_]+)=\"([^\"]*)\"")

# A source's scheme decides the marker of its block, then its kind; what was retrieved cannot choose its marker.
_RETRIEVED = (Kind.EVIDENCE, Kind.MEMORY)
_TAGS_BY_SCHEME = {
    "turn": "user_turn",
    "state": "state",
    "value": "policy_value",
    "answer": "own_answer",
    "verdict": "verdict",
    "edit": "edit",
    "capability": "capability",
    "decision": "decision",
    "index": "index",
    "summary": "summary",
    "skill_body": "skill_body",
    EVENT: NOTICE,
    CONFLICT: "conflict",
}
_TAGS_BY_KIND = {
    Kind.INSTRUCTION: "example",
    Kind.TASK_STATE: "fact",
    Kind.EVIDENCE: "document",
    Kind.MEMORY: "memory",
    Kind.TOOL: "observation",
}
_SPEC_SCHEMES = ("tool", "form")
SKILL = "skill"  # the scheme of a skill's name and description, which stand in the prefix; its body is no prefix


def scheme(source: str) -> str:
    """The scheme of a source URI, or an empty string."""
    head, found, _ = source.partition("://")
    return head if found else ""


def in_instructions(item: ContextItem) -> bool:
    """Whether the item is the operator's durable instruction text, or names a reviewed skill: the instruction channel
    holds nothing else."""
    return item.kind is Kind.INSTRUCTION and item.trust is Trust.POLICY and scheme(item.source) in ("policy", SKILL)


def in_tools(item: ContextItem) -> bool:
    """Whether the item is the operator's definition of a tool or an answer form."""
    return item.trust is Trust.POLICY and scheme(item.source) in _SPEC_SCHEMES


def in_prefix(item: ContextItem) -> bool:
    """Whether the item belongs to the stable prefix (P1)."""
    return in_instructions(item) or in_tools(item)


def block(item: ContextItem, text: str) -> str:
    """The rendered form of one item: what its token count counts."""
    if in_tools(item):
        return text
    if in_instructions(item) and scheme(item.source) == SKILL:
        name, version = html.escape(visible(item.item_id)), html.escape(item.version or "")
        return f'<skill name="{name}" version="{version}">\n{html.escape(visible(text), quote=False)}\n</skill>'
    if in_instructions(item):
        return f'<section name="{html.escape(item.item_id)}">\n{text}\n</section>'
    tag = _TAGS_BY_KIND[item.kind]
    if item.kind not in _RETRIEVED or item.sides:
        tag = _TAGS_BY_SCHEME.get(scheme(item.source), tag)
    attributes = {"id": item.item_id, "source": item.source, "trust": item.trust.value}
    if item.version:
        attributes["version"] = item.version
    if item.provenance.origin_turn is not None:
        attributes["turn"] = str(item.provenance.origin_turn)
    written = "".join(f' {name}="{html.escape(visible(value))}"' for name, value in attributes.items())
    return f"<{tag}{written}>\n{html.escape(visible(text), quote=False)}\n</{tag}>"


def render(items: Sequence[ContextItem], read: Callable[[str], str], settings: RequestSettings) -> Request:
    """The request of a manifest's items, in their order. `read` gives the body behind an address."""
    return assembled([(item, block(item, read(item.ref))) for item in items], settings)


def assembled(rendered: Sequence[tuple[ContextItem, str]], settings: RequestSettings) -> Request:
    """The request of items whose blocks are rendered already."""
    instructions = "\n\n".join(text for item, text in rendered if in_instructions(item))
    data = "\n\n".join(text for item, text in rendered if not in_prefix(item))
    return Request(
        messages=(Message(channel="instruction", content=instructions), Message(channel="input", content=data)),
        tools=tuple(_spec(text) for item, text in rendered if in_tools(item)),
        settings=settings,
    )


def prefix_hash(request: Request) -> str:
    """The hash of what stands before the first changing block: instructions and tools (P1)."""
    return digest(request.messages[0].content.encode() + b"\n" + b"\n".join(spec.canonical for spec in request.tools))


@lru_cache(maxsize=_SPECS)
def _spec(text: str) -> ToolSpec:
    """A definition read once: an operator has few, and every request shows some of them."""
    return _SPEC.validate_json(text)


class Block(Value):
    """One block of an input message, read back: marker, attributes and the text as it was before escaping."""

    tag: str
    attributes: dict[str, str]
    text: str


def blocks(content: str) -> Iterator[Block]:
    """The blocks of a rendered input message, in order. Inverse of `block` up to visibility."""
    for match in _BLOCK.finditer(content):
        attributes = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(match["attributes"])}
        yield Block(tag=match["tag"], attributes=attributes, text=html.unescape(match["text"]))
