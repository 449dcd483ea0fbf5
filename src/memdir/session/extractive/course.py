"""What the conversation was about and how it went: its title, task, results, log, and where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memdir.memory.fence import harmless
from memdir.session.extractive.lines import Line, beginning, end, short
from memdir.session.extractive.signs import Sign, size
from memdir.session.extractive.talk import Call, Sentence, Talk

TITLE = 90
"""Characters of a title."""

MOST_OF_REQUEST, MOST_OF_ANSWER = 12, 8
"""Sentences of the first request, of the last answer."""


OUTCOME = 3_000
"""Characters at the end of a result in which it says how it went."""


def title(talk: Talk) -> list[Line]:
    """The first sentence of the first request that says something."""
    request = _first_request(talk)
    first = next((one for one in request if size(one.text) >= 3), request[0] if request else None)
    return [Line(who="person", text=short(first.text, TITLE), at=first.at)] if first else []


def task(talk: Talk) -> list[Line]:
    """The first request."""
    request = _first_request(talk)[:MOST_OF_REQUEST]
    return [_line(one, weight=float(len(request) - place)) for place, one in enumerate(request)]


def stands(talk: Talk) -> list[Line]:
    """The last request, and what the assistant last said to it."""
    turn = next((turn for turn in reversed(talk.turns) if turn.asks), None)
    request = [_line(one, weight=3.0) for one in turn.request[:4]] if turn else []
    last = next((one for one in reversed(talk.said) if one.who == "assistant"), None)
    if last is None or (turn and last.at < turn.at):
        return request
    answer = [one for one in talk.said if one.at == last.at][:MOST_OF_ANSWER]
    return [*request, *(_line(one, weight=1.0 / (1 + one.place)) for one in answer)]


def log(talk: Talk) -> list[Line]:
    """Each turn: the first sentence of the request, and below it that of the answer."""
    lines = []
    for turn in talk.turns:
        said = _telling(turn.request)
        answer = _telling(turn.answer)
        below = (Line(who="assistant", text=short(answer.text, 160), at=answer.at),) if answer else ()
        if said:
            lines.append(Line(who="person", text=short(said.text, 160), at=said.at, below=below))
        elif answer:
            lines += below
    return lines


def results(talk: Talk) -> list[Line]:
    """Tests that passed, commits, and what the assistant reports as done at the end of a turn."""
    found: dict[str, Line] = {}
    for line in sorted((*_of_tools(talk.calls), *_reported(talk)), key=lambda line: line.at):
        key = _TIME.sub("", line.text)
        found.pop(key, None)
        found[key] = line
    return list(found.values())


def _of_tools(calls: Sequence[Call]) -> Iterator[Line]:
    for call in calls:
        if not call.command or call.failed is not False:
            continue
        shown = (beginning(raw, 300) for raw in end(call.result, OUTCOME).splitlines())
        lines = [harmless(raw) for raw in shown if _RESULT.search(raw)]
        for line in lines[-3:]:
            if line:
                yield Line(who="tool", text=line, at=call.at, weight=2.0)


def _reported(talk: Talk) -> Iterator[Line]:
    for turn in talk.turns:
        for one in turn.answer[:3]:
            if Sign.DONE in one.signs and not one.signs & {Sign.QUESTION, Sign.UNSURE, Sign.OPEN}:
                yield _line(one)
                break


def _first_request(talk: Talk) -> tuple[Sentence, ...]:
    return next((turn.request for turn in talk.turns if turn.asks), ())


def _telling(sentences: Sequence[Sentence]) -> Sentence | None:
    """The first sentence that is more than a word or two."""
    return next((one for one in sentences if size(one.text) >= 3), sentences[0] if sentences else None)


def _line(sentence: Sentence, weight: float = 1.0) -> Line:
    return Line(who=sentence.who, text=sentence.text, at=sentence.at, weight=weight)


_RESULT = re.compile(
    r"\b[1-9]\d* (?:passed|passing|tests? passed)\b|^test result: ok|^ok\s+\S+\s+[\d.]+s|^OK \(\d+ tests?"
    r"|\bAll checks passed|\bSuccess: no issues|BUILD SUCCESS|[Bb]uild succeeded|[Cc]ompiled successfully"
    r"|\b0 (?:errors|failed|failures)\b|^\[[\w./-]{1,80}(?: \(root-commit\))? [0-9a-f]{7,40}\] "
    r"|^Tests:\s.*passed|^\s*\d+ files? changed",
    re.MULTILINE,
)
_TIME = re.compile(r"\s?in [\d.]+ ?m?s\b|[=\s]+")
