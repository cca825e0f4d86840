"""The labelled sections of durable instructions, one Markdown file each (S1)."""

from pathlib import Path

from state.canonical import digest
from state.domain import Section

# Whatever must be in front of the model in every decision, then one section for each kind of decision.
SECTIONS = (
    "role",
    "policy",
    "tool_guidance",
    "output",
    "decide_gather",
    "decide_plan",
    "decide_act",
    "decide_answer",
    "decide_report",
    "decide_clarify",
    "decide_escalate",
)


def sections() -> tuple[Section, ...]:
    """Every section in its fixed order. A version is a hash of the text, so that no edit can go unnoticed."""
    return tuple(_section(name) for name in SECTIONS)


def _section(name: str) -> Section:
    text = Path(__file__).with_name(f"{name}.md").read_text(encoding="utf-8").strip()
    return Section(name=name, version=f"h-{digest(text.encode())[:12]}", text=text)
