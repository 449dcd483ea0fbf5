"""The errors that tools and people reported, each once with how often, and what was said to have helped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memdir.memory.fence import harmless
from memdir.session.carried import FILE_TOOLS
from memdir.session.extractive import error_lines
from memdir.session.extractive.lines import Line
from memdir.session.extractive.signs import Sign, size
from memdir.session.extractive.talk import SECRET, Call, Sentence, Talk, shortened

NEAR = 12
"""So many sentences after an error may tell what helped."""

SHOWS = FILE_TOOLS | {"Grep", "Glob", "LS"}
"""Tools whose good results are what files hold."""


@dataclass(slots=True, kw_only=True)
class _Error:
    """One error, as often as it came. `at`: its last time."""

    who: str
    text: str
    at: int
    count: int = 1
    command: Line | None = None
    fix: Line | None = None


def errors(talk: Talk) -> list[Line]:
    """The errors, in order of their last time."""
    found: dict[str, _Error] = {}
    waiting: _Error | None = None  # the last one, while no remedy was told
    left = 0  # sentences that may still tell it
    for event in talk.events:
        new = [_noted(found, *one, event.at) for one in _reported(event, talk)]
        if new:
            waiting, left = new[-1], NEAR
            if isinstance(event, Call):
                new[0].command = _command(event)
        elif waiting and isinstance(event, Sentence):
            left -= 1
            if _helped(event):
                waiting.fix = Line(who=f"then the {event.who}", text=event.text, at=event.at)
            if _helped(event) or left <= 0:
                waiting = None
    return [_line(one) for one in sorted(found.values(), key=lambda one: one.at)]


def _reported(event: Sentence | Call, talk: Talk) -> Iterator[tuple[str, str]]:
    """The errors that an event reports, with who does."""
    if isinstance(event, Call):
        if event.failed:
            yield from (
                ("tool", line) for line in error_lines.of_failed(event.result, ran=bool(event.command))
            )
        elif event.failed is False and event.name not in SHOWS:
            yield from (("tool", line) for line in error_lines.reported(event.result))
        return
    if event.who == "person" and event.place == 0:  # all that stands in the message, pasted or not
        lines = error_lines.reported(talk.texts[event.at])
        yield from (("person, pasted", line) for line in lines if SECRET not in line)
    if Sign.FAILED in event.signs and Sign.UNSURE not in event.signs and error_lines.is_exact(event.text):
        yield event.who, event.text


def _noted(found: dict[str, _Error], who: str, text: str, at: int) -> _Error:
    key = error_lines.key(text)
    one = found.get(key)
    if one is None:
        one = found[key] = _Error(who=who, text=text, at=at)
    elif one.at != at:
        one.count += 1
    one.at, one.text, one.who = at, text, who
    return one


def _command(call: Call) -> Line | None:
    shown = harmless(shortened(call.command))
    return Line(who="command", text=shown, at=call.at) if shown else None


def _line(one: _Error) -> Line:
    times = f", {one.count} times" if one.count > 1 else ""
    below = tuple(line for line in (one.command, one.fix) if line)
    weight = 1.0 + (one.fix is not None) + (one.count > 1) - error_lines.is_exit(one.text)
    return Line(who=f"{one.who}{times}", text=one.text, at=one.at, weight=weight, below=below)


def _helped(sentence: Sentence) -> bool:
    unclear = sentence.signs & {Sign.QUESTION, Sign.UNSURE}
    return Sign.FIXED in sentence.signs and not unclear and size(sentence.text) >= 2
