"""What the prompts of a session are about -> whether one brings new matter (R1, R9). Pure.

The first prompt of a session is chosen for widely. Later ones are a continuation of it more often than not:
"and the tests too", "go on". Only what they add to the subject is a reason to look again.
"""

from __future__ import annotations

from memdir.memory.words import weight, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

LONGEST = 20_000
"""Characters of a prompt that are looked at."""

TELLING = 0.5
"""The least weight of a word that says something of what a prompt is about; see `memory.words.weight`."""


def matter(prompt: str) -> frozenset[str]:
    """The words of a prompt that say what it is about."""
    return frozenset(word for word in words(prompt[:LONGEST]) if weight(word) >= TELLING)


def is_new_matter(prompt: str, earlier: Collection[str]) -> bool:
    """Whether a prompt is about something that the prompts before it were not. `earlier`: their matter."""
    return not matter(prompt) <= set(earlier)
