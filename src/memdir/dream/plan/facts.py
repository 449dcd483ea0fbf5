"""The lines of a memory that say something: what may not vanish without a reason (D8). Pure.

    facts("a.md", data)     the fact-bearing lines of a topic, as they stand; of the index its prose
    same_words(line)        the form in which two lines are the same line

A line that says something has a letter or a figure in it. Headings are none, for they say what is below
them; one with nothing below it is. Lines in code, in comments and under keys of the header that are not
ours count, too: somebody wrote them down. The description counts as one line, and stands first.
"""

from __future__ import annotations

from memdir.dream.plan.page import read
from memdir.dream.plan.sentences import line_words


def facts(file: str, data: bytes) -> tuple[str, ...]:
    """The lines of a file that say something: the description, then the others."""
    return tuple(read(file, data).facts)


def same_words(text: str) -> str:
    """A line without what Markdown puts around its words: two lines with the same are the same line.

    List marks, quotes' marks, emphasis, backticks, white space and one full stop at the end go; typographic
    quotes and dashes are plain. Case stays, and so do ticks of tasks, links, and every character that is
    only like another, or not seen: where a text differs in those it is not the same.
    """
    return line_words(text)
