"""Token counts: exact for the published encodings, offline (B5)."""

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
        """The exact number of tokens. One text at a time wants no worker threads."""
        return int(batch_count([text], self._name, threads=1)[0])
