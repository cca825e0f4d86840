"""What the guards see in a text (H17, X8), looked at once for each body that an address stands for."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from nodes.pack.drafts import Draft
from state.checks.hidden import hidden_characters
from state.checks.injection import Signs, injection_signs
from state.checks.personal import Personal, personal_data
from state.context import SCANNED, Flag

_REMEMBERED = 4_096


@dataclass(frozen=True)
class Scan:
    """Kinds and counts, never a part of the text: an address alone says nothing once the body is erased."""

    hidden: int
    signs: Signs
    personal: dict[Personal, int]


class Scans:
    """Scans by address. The same spans and turns stand in request after request; a changed text has another one."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Scan] = OrderedDict()

    def of(self, draft: Draft) -> Scan:
        """What stands in a draft's text."""
        known = self._known.pop(draft.item.ref, None)
        if known is None:
            text = draft.text
            known = Scan(hidden_characters(text), injection_signs(text), personal_data(text))
        self._known[draft.item.ref] = known
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return known

    def flags(self, entering: Sequence[Draft], seen: Sequence[Draft]) -> tuple[Flag, ...]:
        """Hidden characters in whatever was looked at, signs of an injection and personal data in what enters and was
        not written by the operator or by a system of record."""
        inside = {(draft.item.item_id, draft.item.ref) for draft in entering}
        found: list[Flag] = []
        for draft in (*entering, *(one for one in seen if (one.item.item_id, one.item.ref) not in inside)):
            item_id = draft.item.item_id
            enters = (item_id, draft.item.ref) in inside and draft.item.trust in SCANNED
            if not enters:
                if hidden := hidden_characters(draft.text):
                    found.append(Flag(item_id=item_id, name="hidden_characters", count=hidden))
                continue
            scan = self.of(draft)
            if scan.hidden:
                found.append(Flag(item_id=item_id, name="hidden_characters", count=scan.hidden))
            if scan.signs.count:
                found.append(
                    Flag(item_id=item_id, name="injection_signs", count=scan.signs.count, score=scan.signs.score)
                )
            found += [Flag(item_id=item_id, name=f"personal_{kind}", count=n) for kind, n in scan.personal.items()]
        return tuple(found)
