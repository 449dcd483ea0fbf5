"""A text as people keep it -> what of it is for a model: without HTML comments that stand as a block."""

from __future__ import annotations

from memdir.memory.index_lines import counting


def stripped(text: str) -> str:
    """The text without block comments. One in a code block stays, and so does one that is never closed.

    Frontmatter stays: the empty line in front keeps it from being taken for one.
    """
    return "".join(line.text for line in counting("\n" + text.lstrip("\ufeff")))[1:].strip()
