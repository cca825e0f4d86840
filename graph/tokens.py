"""Token counts: exact for the published encodings, offline (B5)."""

from collections.abc import Sequence

from toktok import batch_count

ENCODINGS = ("o200k_base", "cl100k_base", "o200k_harmony")


class UnknownTokenizer(ValueError):
    """No such encoding is bundled."""


class EncodingCounter:
    """Counts with one of the published encodings. Raises UnknownTokenizer."""

    def __init__(self, name: str) -> None:
        if name not in ENCODINGS:
            raise UnknownTokenizer(
                f"got tokenizer {name!r}; allowed: {', '.join(ENCODINGS)}; set EXPEDIENTE_TOKENIZER to one of them"
            )
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    def count(self, text: str) -> int:
        """The exact number of tokens."""
        return self.count_all([text])[0]

    def count_all(self, texts: Sequence[str]) -> list[int]:
        """The exact number of tokens of each text. A request's worth of texts wants no worker threads."""
        return [int(count) for count in batch_count(texts, self._name, threads=1)]
