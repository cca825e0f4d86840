"""The stable prefix of a request (P1): the operator's instructions, tools and answer forms, made once."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nodes.pack.drafts import Draft, Drafts
from nodes.pack.skills import skill_names
from state.context import Kind, Trust
from state.contract import ToolContract
from state.domain import Section
from state.forms import FORMS
from state.request import ToolSpec
from state.skill import READ_SKILL_FILE, Skill
from state.work import Decision, Form

_FORMS = {form: spec.canonical.decode() for form, spec in FORMS.items()}
_REMEMBERED = 1_024
_Key = tuple[str, tuple[str, ...], tuple[str, ...], tuple[Form, ...], bool]


class _Offer(NamedTuple):
    """A tool as a request shows it: the canonical JSON of its definition, and the version of its contract."""

    text: str
    version: str


class Standing:
    """What begins every request of a decision kind and toolset. It does not change while the app is open, so its
    addresses, blocks and token counts are worked out once for each tenant."""

    def __init__(
        self, sections: Sequence[Section], contracts: Mapping[str, ToolContract], skills: Sequence[Skill]
    ) -> None:
        self._skills = tuple(skills)
        self._sections = {section.name: section for section in sections}
        self._offers = {name: _offer(name, contract) for name, contract in contracts.items()}
        self._known: dict[_Key, list[Draft]] = {}

    def drafts(self, drafts: Drafts, decision: Decision) -> list[Draft]:
        """The labelled sections of the decision kind, first in the prefix, then tools and forms in one canonical
        order, then, where they can be read, the skills by name; counted."""
        with_skills = READ_SKILL_FILE in decision.tools
        key = (drafts.tenant, decision.instructions, decision.tools, decision.forms, with_skills)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            known = self._known[key] = drafts.counted(
                [
                    *self._instructions(drafts, decision),
                    *self._tools(drafts, decision),
                    *skill_names(drafts, self._skills if with_skills else ()),
                ]
            )
        return [drafts.now_shown(draft) for draft in known]

    def _instructions(self, drafts: Drafts, decision: Decision) -> list[Draft]:
        sections = [self._sections[name] for name in decision.instructions]
        return [
            drafts.text(
                section.name,
                Kind.INSTRUCTION,
                f"policy://{section.name}",
                Trust.POLICY,
                section.text,
                version=section.version,
            )
            for section in sections
        ]

    def _tools(self, drafts: Drafts, decision: Decision) -> list[Draft]:
        made = []
        for name in sorted(decision.tools):
            text, version = self._offers[name]
            made.append(drafts.text(name, Kind.TOOL, f"tool://{name}", Trust.POLICY, text, version=version))
        for form in sorted(decision.forms):
            source = f"form://{form.value}"
            made.append(drafts.text(form.value, Kind.INSTRUCTION, source, Trust.POLICY, _FORMS[form]))
        return made


def _offer(name: str, contract: ToolContract) -> _Offer:
    spec = ToolSpec(name=name, description=contract.description, parameters=contract.parameters)
    return _Offer(spec.canonical.decode(), contract.definition_digest()[:12])
