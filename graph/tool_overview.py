"""Every contract of a domain with the values in force, and the pairs of tools that are easily confused."""

from collections.abc import Sequence
from datetime import datetime
from html import escape

from graph.tool_overlap import Overlap, overlaps
from graph.tool_shown import ToolShown, shown, terms_of
from state.domain import Domain
from state.policy import effective
from state.value import Value


class UnknownTool(LookupError):
    """The domain has no tool of that name."""


class ToolOverview(Value):
    """The tools of a domain, in its order, under one policy version."""

    domain: str
    policy_version: str
    tools: tuple[ToolShown, ...]
    overlaps: tuple[Overlap, ...]

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(told.contract.name)}</td>"
            f"<td>{escape('; '.join(f'{label} {text}' for label, texts in terms_of(told) for text in texts))}</td></tr>"
            for told in self.tools
        )
        alike = "".join(f"<li>{escape(pair.why)}</li>" for pair in self.overlaps)
        return (
            f"<p>{escape(self.domain)}, policy {escape(self.policy_version)}</p><table>{rows}</table>"
            + f"<p>Easily confused:</p><ul>{alike}</ul>" * bool(alike)
        )


def tool_overview(domain: Domain, now: datetime, names: Sequence[str] = ()) -> ToolOverview:
    """The contracts of a domain, or those of these names with the pairs that they are part of.

    Raises UnknownTool, PolicyMissing.
    """
    policy = effective(domain.policies, now)
    contracts = {tool.contract.name: tool.contract for tool in domain.tools}
    for name in names:
        if name not in contracts:
            raise UnknownTool(f"got the tool {name!r:.80}; allowed: {', '.join(contracts)}")
    wanted = names or tuple(contracts)
    return ToolOverview(
        domain=domain.name,
        policy_version=policy.version,
        tools=tuple(shown(contracts[name], policy, domain) for name in wanted),
        overlaps=tuple(pair for pair in overlaps(contracts.values()) if {*pair.tools} & {*wanted}),
    )
