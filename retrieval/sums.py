"""A question asked in parts: what each part says of a document adds up, and its chunks follow its sum (S5).

One sentence of a long question finds a dozen documents that share a phrase with it. The document that answers is the
one that several sentences lead to, each better than they lead anywhere else.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from state.knowledge import Chunk

Table = NDArray[np.float64]
"""One row per part, one column per chunk or document."""

TYPICAL = 10  # a reading is measured by the mean of its ten best documents, so that readings can be added


@dataclass(frozen=True)
class Columns:
    """Which document each of some chunks belongs to, as columns of a table."""

    document: NDArray[np.int64]
    documents: int

    @classmethod
    def of(cls, chunks: Sequence[Chunk]) -> "Columns":
        """The documents in order of their first chunk. Two versions of one are two: both may be in force elsewhere."""
        places: dict[tuple[str, str, str], int] = {}
        column = [places.setdefault((c.tenant, c.document_id, c.version), len(places)) for c in chunks]
        return cls(np.asarray(column, dtype=np.int64), len(places))

    def best(self, by_chunk: Table) -> Table:
        """Of each document its best chunk, part by part."""
        found = np.full((by_chunk.shape[0], self.documents), -np.inf)
        np.maximum.at(found.T, self.document, by_chunk.T)
        return found


def above(table: Table, background: int) -> Table:
    """How far each document stands above the one at rank `background` of its part; 0 for the others.

    A part that says the same of every document says nothing: what all have in common is taken off. Where there are not
    so many documents nothing is. Expects no number below 0.
    """
    if table.shape[1] <= background:
        return table
    floor = np.partition(table, -background, axis=1)[:, -background][:, None]
    return np.maximum(table - floor, 0.0)


def summed(table: Table, most: int) -> Table:
    """The sum of each document's best parts, measured by what the ten best documents have on average."""
    rows = np.sort(table, axis=0)[-most:] if table.shape[0] > most else table
    return typical(rows.sum(axis=0))


def typical(sums: Table) -> Table:
    """Sums as multiples of the mean of the ten highest; 0 throughout where nothing was found."""
    mean = float(np.sort(sums)[-TYPICAL:].mean()) if sums.size else 0.0
    return sums / mean if mean > 0 else np.zeros_like(sums)
