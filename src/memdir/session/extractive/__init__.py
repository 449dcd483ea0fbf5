"""A conversation -> a summary of it without a language model: `summarise(messages) -> str` (C1, C4).

    sentences  talk      the record: who said what, which calls came to what
    signs, phrases/      what a sentence is, in five languages
    decisions  errors  files  points  course      what each section says
    lines  page          how it is written, and what stays when there is too much

Every line was said, or stands in a result, word for word; of a long one the end is cut. Nothing is put into
other words, and the page says so. What tools gave is data: it can be an error or a result, never a decision
(E11). To teach it a phrase, add it to a file in `phrases/`.
"""

from __future__ import annotations

from collections.abc import Sequence

from memdir.model.messages import Message

__all__ = ["FIRST_LINE", "HEADINGS", "SECTION_TOKENS", "TOTAL_TOKENS", "summarise"]

SECTION_TOKENS = 2_000
TOTAL_TOKENS = 12_000
"""What a section, and the whole, take at most, estimated."""

HEADINGS = (
    "Title",
    "Where it stands",
    "Task",
    "Decisions",
    "Corrections",
    "Files",
    "Errors",
    "Open points",
    "Results",
    "Log",
)
"""The sections in order, as in the default template."""

FIRST_LINE = (
    "_Put together by rules, without a model: sentences and lines as they stood in the conversation, in "
    "order, some of them cut, nothing added._"
)


def summarise(
    messages: Sequence[Message], *, section_tokens: int = SECTION_TOKENS, total_tokens: int = TOTAL_TOKENS
) -> str:
    """The whole record of a conversation as sections of lines that were said in it.

    Pure, deterministic, and linear in the length. With less room than its headings take it is its headings.
    """
    from memdir.session.extractive.page import (
        page,
    )  # its tables are not for conversations that a model sums up

    return page(messages, section_tokens=section_tokens, total_tokens=total_tokens)
