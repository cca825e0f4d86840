"""The pack node on fakes, with candidates to choose from."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nodes.pack import Reads, Writes, make_pack
from nodes.pack.budget import Window
from state.context import ContextManifest, Kind, Packed, Trust
from state.domain import Example, Section, StillSo
from state.knowledge import Candidate, NotChosen, Snapshot
from state.policy import Policy
from state.ports import TokenCounter
from state.render import render
from state.request import Request
from state.run import Scope
from state.skill import Skill
from state.work import DecisionKind
from tests.desk import POLICY, SCOPE
from tests.fakes import NOW, CharCounter
from tests.nodes.parts import SETTINGS, Parts, decision

SECTIONS = (
    Section(name="role", version="1", text="You help the users of this desk."),
    Section(name="policy", version="2", text="Refund late orders only."),
    Section(name="unused", version="9", text="nobody asked for this"),
)
EXAMPLES = tuple(
    Example(example_id=f"{kind}-{n}", version="1", kind=DecisionKind(kind), text=f"right and wrong, {kind} {n}")
    for kind in ("act", "plan")
    for n in (1, 2)
)
WIDE = Window(window_tokens=100_000, reserved_output_tokens=1_000)


class CountedBy:
    """A tokenizer of a test's own."""

    def __init__(self, name: str, cost: Callable[[str], int]) -> None:
        self.name, self.count = name, cost

    def count_all(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]


BLOCKS_ONLY = CountedBy("blocks", lambda text: len(text.replace("\n\n<", "<")))  # seams between blocks are free


class Packing:
    """pack, and the lap it packs for."""

    def __init__(
        self,
        parts: Parts,
        window: Window = WIDE,
        tokens: TokenCounter | None = None,
        policy: Policy = POLICY,
        sections: Sequence[Section] = SECTIONS,
        still_so: Mapping[str, StillSo] | None = None,
        skills: Sequence[Skill] = (),
    ) -> None:
        self.parts = parts
        self.tokens = tokens or CharCounter()
        self.node = make_pack(
            artifacts=parts.artifacts,
            log=parts.log,
            events=parts.events,
            tokens=self.tokens,
            window=window,
            settings=SETTINGS,
            sections=sections,
            examples=EXAMPLES,
            contracts=parts.desk.contracts,
            policies=[policy],
            still_so=still_so or {},
            skills=skills,
        )

    def run(
        self,
        candidates: Sequence[Candidate] = (),
        excluded: Sequence[NotChosen] = (),
        scope: Scope = SCOPE,
        decided: Mapping[str, Any] | None = None,
        **reads: Any,
    ) -> Packed:
        """What pack hands on. `decided` changes the decision, `reads` the slice."""
        snapshot = Snapshot(key="k", queries=(), candidates=tuple(candidates), excluded=tuple(excluded))
        small = {"tools": ("refund",), "forms": (), "instructions": ("role",), "evidence_limit": 3, "memory_limit": 2}
        given = {
            "request": self.parts.request(),
            "decision": decision(**{**small, **(decided or {})}),
            "task": self.parts.task(),
            "candidates": self.parts.put(snapshot.model_dump_json()),
            **reads,
        }
        wrote = self.node.run(Reads(**given), scope)
        assert isinstance(wrote, Writes)
        assert wrote.model_fields_set == {"manifest"}
        return wrote.manifest

    def manifest(self, *given: Any, **more: Any) -> ContextManifest:
        """The stored manifest of a request that fits."""
        packed = self.run(*given, **more)
        assert packed.failure is None
        assert packed.ref is not None
        return ContextManifest.model_validate_json(self.parts.get(packed.ref))

    def replayed(self, manifest: ContextManifest) -> Request:
        """The request, rebuilt from nothing but the manifest and the stored bodies (M4)."""
        return render(manifest.items, self.parts.get, manifest.settings)

    def candidate(self, name: str, text: str | None = None, kind: Kind = Kind.EVIDENCE, **changes: Any) -> Candidate:
        """A candidate whose body is stored."""
        made = Candidate(
            item_id=name,
            kind=kind,
            source=f"memory://{name}" if kind is Kind.MEMORY else f"{name}@v1#top",
            trust=Trust.USER if kind is Kind.MEMORY else Trust.UNTRUSTED,
            ref=self.parts.put(f"the text of {name}" if text is None else text),
            version="v1",
            retrieved_at=NOW,
            tenant="t1",
            scope="desk",
            relevance=0.8,
            authority=1.0,
        )
        return made.model_copy(update=changes)


def ids(manifest: ContextManifest) -> list[str]:
    return [item.item_id for item in manifest.items]


def reasons(manifest: ContextManifest) -> dict[str, str]:
    return {dropped.item_id: dropped.reason.value for dropped in manifest.dropped}
