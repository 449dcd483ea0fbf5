"""A line of a memory -> a few words of it that may be shown; never a secret's. Pure."""

from __future__ import annotations

from memdir.memory.leaks import called
from memdir.memory.manifest import harmless
from memdir.secrets import scan

LENGTH = 60
"""Characters."""


def quoted(text: str) -> str:
    """The beginning of a line in quotation marks; of one with a secret in it nothing."""
    if scan(text):
        return "a line that holds a secret"
    words = " ".join(harmless(text).split())
    return f"“{words if len(words) <= LENGTH else words[: LENGTH - 1].rstrip() + '…'}”"


def named(file: str) -> str:
    """A file's name as it may stand in a sentence."""
    return harmless(called(file))
