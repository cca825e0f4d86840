"""A long question in parts: each sentence asks for something of its own, and is looked for by itself (S5)."""

import re

from retrieval.words import query_words

LONG_WORDS = 32  # a question with more words to look for is asked in parts
MOST_PARTS = 64  # searches per branch; a text of more sentences is asked by its first ones
LEAST_WORDS = 2  # a sentence with fewer words to look for asks for nothing

_END = re.compile(r"(?<=[.!?…])[\s\"'”»)*]*\s+|(?<=[。！？])|\n+")


def parts(text: str) -> tuple[str, ...]:
    """The sentences of a long text, each once, in order; a short text is its own only part.

    Short is what one search can hold (`LONG_WORDS`): a question of two sentences is one question.
    """
    if len(query_words(text)) < LONG_WORDS:
        return (text,)
    sentences = (part.strip() for part in _END.split(text) if part)
    asked = [sentence for sentence in dict.fromkeys(sentences) if len(query_words(sentence)) >= LEAST_WORDS]
    return tuple(asked[:MOST_PARTS]) or (text,)
