"""Which skills' bodies a request is given (S9): those whose name and description share telling words with it.

As for examples no model is asked, so the same question brings the same skills everywhere. A word tells if few of the
texts that the operator wrote have it: in a desk of keys, `key` tells nothing.
"""

from collections import Counter
from collections.abc import Sequence

from retrieval.function_words import FUNCTION_WORDS
from retrieval.words import fold, index_words
from state.skill import Skill

_SHARED = 2  # telling words, for a skill to match
_TELLS_UNTIL = 1 / 8  # of the operator's texts may have a word that tells


class SkillChoice:
    """Skills with their words counted once. `others` are the operator's other texts: instructions, examples, tools."""

    def __init__(self, skills: Sequence[Skill], others: Sequence[str]) -> None:
        own = [frozenset(index_words(f"{skill.name} {skill.description}")) for skill in skills]
        texts = [*own, *(frozenset(index_words(text)) for text in others)]
        held_by = Counter(word for words in texts for word in words)
        most = max(2.0, len(texts) * _TELLS_UNTIL)
        self._skills = [
            (skill, frozenset(word for word in words if held_by[word] <= most))
            for skill, words in zip(skills, own, strict=True)
        ]

    def matching(self, question: str, k: int) -> tuple[Skill, ...]:
        """At most k skills that match a question, those that share most with it first, else by name."""
        asked = [index_words(word) for word in fold(question).split() if word.casefold() not in FUNCTION_WORDS]
        shared = [
            (len({min(common) for forms in asked if (common := words.intersection(forms))}), skill)
            for skill, words in self._skills
        ]
        found = sorted((pair for pair in shared if pair[0] >= _SHARED), key=lambda pair: (-pair[0], pair[1].name))
        return tuple(skill for _, skill in found[: max(0, k)])
