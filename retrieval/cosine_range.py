"""What a model's cosines say, measured on texts whose kinship is known."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from state.search import CosineRange

# Eight questions, each with what answers it: eight pairs that belong together and 56 that do not.
ASKED = (
    ("How do I reset my password?", "To reset your password, open the login page and choose Forgotten password."),
    ("When does the museum open on Sundays?", "On Sundays the museum opens at ten in the morning."),
    ("What is the boiling point of water?", "Water boils at one hundred degrees Celsius at sea level."),
    ("Who may approve an expense report?", "Expense reports are approved by the head of the department."),
    ("How often should tomatoes be watered?", "Water tomato plants every second day, in the evening."),
    ("Which train goes to the airport?", "The train to the airport leaves from platform four every half hour."),
    ("Why was my parcel returned?", "A parcel is returned when nobody collects it within a week."),
    ("Can I cancel my subscription early?", "A subscription may be cancelled at any time before its end."),
)
UNRELATED_BELOW = 0.9  # of the pairs that do not belong together


class Embeds(Protocol):
    """The two ways of an embedder."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]: ...

    def embed_queries(self, texts: Sequence[str]) -> list[list[float]]: ...


def measured_range(embedder: Embeds) -> CosineRange:
    """The range of a model that nobody has measured: sixteen short texts are embedded.

    `unrelated` is what nine in ten of the strangers stay below, `same` the middle between the farthest and the median
    of the pairs. A model that tells none apart gets the range of cosines as such. MiniLM gets 0.16 and 0.69.
    """
    queries = np.asarray(embedder.embed_queries([question for question, _ in ASKED]))
    passages = np.asarray(embedder.embed([answer for _, answer in ASKED]))
    cosines = queries @ passages.T
    pairs = np.sort(cosines.diagonal())
    strangers = cosines[~np.eye(len(ASKED), dtype=bool)]
    unrelated = float(np.quantile(strangers, UNRELATED_BELOW))
    same = float((pairs[0] + np.median(pairs)) / 2)
    if not -1 <= unrelated < same <= 1:
        return CosineRange(unrelated=0.0, same=1.0)
    return CosineRange(unrelated=unrelated, same=same)
