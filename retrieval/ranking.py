"""How candidates are ranked: the numbers that `agent tune` fits on labelled questions, with their defaults."""

from enum import StrEnum
from pathlib import Path
from typing import Self

from pydantic import Field, ValidationError

from state.value import Value


class RerankerName(StrEnum):
    """What reads candidates again beside the question, after both branches found them."""

    NONE = "none"
    MAXSIM = "maxsim"
    CROSS_ENCODER = "cross_encoder"


class RankingUnusable(ValueError):
    """The file of tuned numbers cannot be read or holds something else."""


class Ranking(Value):
    """Weights of what is known of a candidate, and how much is looked at.

    `dense`, `lexical` and `rerank` weigh the three readings; `whole` weighs, for a question asked in parts, the
    nearness of the question as a whole. `pool` chunks are asked of each branch per part; the best `summed` parts of a
    document add up, each by how far it stands above the document at rank `background`; the best `reranked` documents
    are read again by `reranker`.
    """

    dense: float = Field(default=1.0, ge=0)
    lexical: float = Field(default=1.0, ge=0)
    whole: float = Field(default=1.0, ge=0)
    rerank: float = Field(default=1.0, ge=0)
    reranker: RerankerName = RerankerName.NONE
    pool: int = Field(default=60, ge=1, le=200)
    summed: int = Field(default=5, ge=1)
    background: int = Field(default=20, ge=2)
    reranked: int = Field(default=60, ge=1, le=200)

    @classmethod
    def read(cls, file: Path) -> Self:
        """The ranking in a file that `agent tune` wrote. Raises RankingUnusable."""
        try:
            return cls.model_validate_json(file.read_bytes())
        except (OSError, ValidationError) as fault:
            said = fault.errors()[0]["msg"] if isinstance(fault, ValidationError) else fault.strerror
            allowed = ", ".join(cls.model_fields)
            raise RankingUnusable(
                f"{file.name}: got what cannot be used ({said}); allowed keys: {allowed}; delete the file "
                "for the defaults, then run `agent tune` for better ones"
            ) from None
