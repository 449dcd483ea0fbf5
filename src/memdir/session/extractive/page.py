"""What each section says -> one page, within its size, and without a secret (C1, E10)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memdir import secrets
from memdir.model.messages import Message
from memdir.model.tokens import estimate
from memdir.session.extractive import FIRST_LINE, HEADINGS, course
from memdir.session.extractive.decisions import corrections, decisions
from memdir.session.extractive.errors import errors
from memdir.session.extractive.files import files
from memdir.session.extractive.lines import Line, Section, fitted, limits
from memdir.session.extractive.points import open_points
from memdir.session.extractive.talk import SECRET, talk, without_secrets


def page(messages: Sequence[Message], *, section_tokens: int, total_tokens: int) -> str:
    """The summary of a conversation's record; a section and the whole take at most so many tokens."""
    sections = _sections(messages)
    frame = sum(estimate(f"\n# {one.title}\n\n") for one in sections) + estimate(f"{FIRST_LINE}\n")
    sizes = [sum(line.tokens for line in one.lines) for one in sections]
    limit = limits(sizes, section_tokens, max(0, total_tokens - frame))
    lines = [FIRST_LINE]
    for one in sections:
        lines += ["", f"# {one.title}", "", *"\n".join(fitted(one, limit)).splitlines()]
    return "\n".join(_without_secrets(lines)) + "\n"


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
