"""What a request showed, as that of which is asked where a value comes from (X4)."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from pydantic import JsonValue

from state.checks.asked import asked_of
from state.checks.excepted import parted
from state.checks.known import Row
from state.checks.meaning import Meaning, meaning
from state.checks.origin import BY_TURN, Shown, bare
from state.checks.pasted import pasted_in, without_pasted
from state.checks.selection import Selection
from state.checks.told import Words
from state.context import Trust
from state.labels import Argument

_TURN = "turn://"


@dataclass(frozen=True)
class Sources:
    """What a request showed: texts, and the rows of observations with their labels."""

    shown: tuple[Shown, ...]
    rows: tuple[Row, ...]
    today: date
    own_names: frozenset[str] = frozenset()
    stems: tuple[str, ...] = ()
    reads: bool = False  # for a read: a question asks for it as well as a request does

    @cached_property
    def words(self) -> Meaning:
        """What the user's own words ask for, in every turn that was shown: without what they leave out."""
        return meaning("\n".join(self._asked_in(item) for item in self._turns), self.today)

    @cached_property
    def left_out(self) -> Meaning:
        """What the user's words name to leave it out."""
        return meaning("\n".join(parted(item.text, self.stems).left_out for item in self._turns), self.today)

    @cached_property
    def asked_about(self) -> Meaning:
        """What the user's own words say beside that: in questions too."""
        return meaning("\n".join(without_pasted(item.text) for item in self._turns), self.today)

    @cached_property
    def all_words(self) -> frozenset[str]:
        """Every word of the user's own, whatever it is said of: a title may say what is not."""
        return self.asked_about.words

    @cached_property
    def selection(self) -> Selection:
        return Selection(self.words, self.rows, self.own_names, self.stems, self.left_out)

    @cached_property
    def own(self) -> Words:
        """What the user's words ask for, and what they choose."""
        return Words(self.words, self.left_out, self.selection)

    @cached_property
    def _turns(self) -> tuple[Shown, ...]:
        return tuple(bare(item) for item in self.shown if item.trust is Trust.USER and _by_the_user(item))

    @cached_property
    def _records(self) -> tuple[tuple[Shown, Meaning], ...]:
        """What our state and the system of record say beside the results of calls."""
        rows = {name for row in self.rows for name in row.item_ids}
        found = [item for item in self.shown if item.item_id not in rows and item.trust in (Trust.SYSTEM, Trust.USER)]
        ours = (bare(item) for item in found if item.trust is Trust.SYSTEM or not _by_the_user(item))
        return tuple((item, meaning(item.text, self.today)) for item in ours)

    @cached_property
    def _foreign(self) -> tuple[tuple[Shown, Meaning], ...]:
        pasted = (item._replace(text=pasted_in(item.text)) for item in self._turns)
        foreign = [item for item in self.shown if item.trust is Trust.UNTRUSTED]
        return tuple((item, meaning(item.text, self.today)) for item in (*foreign, *pasted) if item.text)

    def _asked_in(self, item: Shown) -> str:
        """What a turn asks for. A question of an earlier turn may be what this one refers to."""
        whole = self.reads or item.source in BY_TURN
        text = without_pasted(item.text) if whole else asked_of(item.text, self.stems)
        return parted(text, self.stems).asked

    def in_turns(self, value: JsonValue, argument: Argument) -> tuple[str, ...]:
        """The user's turns that say a value: one that decides, in what they ask for. A paste may be read about."""
        whole = not argument.control or (self.reads and argument.role != "url")
        said = ((item, item.text if whole else self._asked_in(item)) for item in self._turns)
        return tuple(item.item_id for item, text in said if meaning(text, self.today).says(value, argument.role))

    def in_records(self, value: JsonValue, argument: Argument) -> Iterator[Shown]:
        return (item for item, text in self._records if text.says(value, argument.role))

    def in_foreign(self, value: JsonValue, argument: Argument) -> Iterator[Shown]:
        return (item for item, text in self._foreign if text.mentions(value, argument.role))


def _by_the_user(item: Shown) -> bool:
    """Facts may be in the user's words too, written at another time and for something else."""
    return not item.source or item.source.startswith(_TURN)
