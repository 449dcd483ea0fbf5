"""A conversation -> a summary of it without a language model: `summarise(messages) -> str` (C1, C4).

    sentences  talk      the record: who said what, which calls came to what
    signs, phrases/      what a sentence is, in five languages
    decisions  errors  files  points  course      what each section says
    lines                how it is written, and what stays when there is too much

Every line was said, or stands in a result, word for word; of a long one the end is cut. Nothing is put into
other words, and the page says so. What tools gave is data: it can be an error or a result, never a decision
(E11). To teach it a phrase, add it to a file in `phrases/`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memdir import secrets
from memdir.model.messages import Message
from memdir.model.tokens import estimate
from memdir.session.extractive import course
from memdir.session.extractive.decisions import corrections, decisions
from memdir.session.extractive.errors import errors
from memdir.session.extractive.files import files
from memdir.session.extractive.lines import Line, Section, fitted, limits
from memdir.session.extractive.points import open_points
from memdir.session.extractive.talk import SECRET, talk, without_secrets

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
    sections = _sections(messages)
    frame = sum(estimate(f"\n# {one.title}\n\n") for one in sections) + estimate(f"{FIRST_LINE}\n")
    sizes = [sum(line.tokens for line in one.lines) for one in sections]
    limit = limits(sizes, section_tokens, max(0, total_tokens - frame))
    page = [FIRST_LINE]
    for one in sections:
        page += ["", f"# {one.title}", "", *"\n".join(fitted(one, limit)).splitlines()]
    return "\n".join(_without_secrets(page)) + "\n"


def _sections(messages: Sequence[Message]) -> list[Section]:
    told = talk(messages)
    lines = (
        course.title(told),
        course.stands(told),
        course.task(told),
        decisions(told),
        corrections(told),
        files(told),
        errors(told),
        open_points(told),
        course.results(told),
        course.log(told),
    )
    return [
        Section(title=title, lines=tuple(found), by_weight=title == "Files")
        for title, found in zip(HEADINGS, _harmless(lines), strict=True)
    ]


def _harmless(sections: Sequence[Sequence[Line]]) -> Iterator[list[Line]]:
    """The sections without the lines that hold a secret: they are cut later, and half of one is one, too."""
    texts = without_secrets(["\n".join(_texts(line)) for lines in sections for line in lines])
    marked = iter(texts)
    for lines in sections:
        yield [line for line in lines if SECRET not in next(marked)]


def _texts(line: Line) -> Iterator[str]:
    yield line.text
    for one in line.below:
        yield one.text


def _without_secrets(lines: Sequence[str]) -> list[str]:
    """The lines without those in which, side by side, a secret shows after all."""
    text = "\n".join(lines)
    bad = {number for finding in secrets.scan(text) for number in _numbers(text, finding)}
    return [
        line for number, line in enumerate(lines) if number not in bad or not line.lstrip().startswith("- ")
    ]


def _numbers(text: str, finding: secrets.Finding) -> Iterator[int]:
    first = text.count("\n", 0, finding.start)
    yield from range(first, first + text.count("\n", finding.start, finding.end) + 1)
