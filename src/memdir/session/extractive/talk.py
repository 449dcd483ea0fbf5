"""The record of a conversation -> who said and did what, turn by turn (E11).

A turn begins with a message of the person. Of the person only their own words are sentences
(`trust.pasted`); what a tool gave is data. What memdir added, and instructions, is left out, and so is a line
with a secret in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from memdir import secrets
from memdir.memory.fence import visible
from memdir.model.messages import Message, ToolResult, ToolUse
from memdir.session.carried import is_request
from memdir.session.extractive.lines import beginning, end
from memdir.session.extractive.sentences import pieces
from memdir.session.extractive.signs import Sign, languages, signs
from memdir.trust.pasted import own_words

Who = Literal["person", "assistant", "tool"]

MOST_SENTENCES = 80
"""Of a message with more sentences only the first and the last half of that are read."""

MOST_TEXT = 40_000
"""So many characters of one message are read, half of them at its end."""

MOST_RESULT = 12_000
"""And of a tool's result."""

SAMPLE = 300
"""Characters of a message that tell its languages."""

USUAL = 0.15
"""The share of messages that makes a language one of the conversation."""

SECRET = "\ufffc"  # noqa: S105
"""Stands for a secret; no line that has it is taken."""

_GAP = f"\n{'·' * 20}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence. `at`: the number of its message; `place`: its number in there, from 0."""

    who: Who
    text: str
    at: int
    turn: int
    place: int
    item: str
    signs: frozenset[Sign]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call with what came of it. `failed` is None while there is no result."""

    name: str
    path: str
    command: str
    at: int
    turn: int
    failed: bool | None
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What the person asked for, and the last thing that the assistant said to it.

    `answered`: it was the end of the turn, and no call was left open.
    """

    number: int
    at: int
    request: tuple[Sentence, ...]
    answer: tuple[Sentence, ...]
    answered: bool
    asks: bool  # not only a greeting or a command


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A conversation as it is summarised."""

    turns: tuple[Turn, ...]
    said: tuple[Sentence, ...]
    calls: tuple[Call, ...]
    texts: Mapping[int, str]  # of people and the assistant, whole, by the number of the message

    @property
    def events(self) -> list[Sentence | Call]:
        """All of it in order; a call stands where its result came."""
        return sorted((*self.said, *self.calls), key=lambda one: one.at)


def talk(messages: Sequence[Message]) -> Talk:
    """The conversation in these messages."""
    told = [(at, one) for at, one in enumerate(messages) if one.origin in ("person", "assistant", "tool")]
    texts = _texts(told)
    read_in = _read_in(texts)
    said: list[Sentence] = []
    turns: list[Turn] = []
    request: tuple[Sentence, ...] = ()
    begun, answer, answered = -1, tuple[Sentence, ...](), False
    for at, message in told:
        text = texts.get(at, "")
        number = len(turns) + (begun >= 0)
        if message.origin == "person":
            if begun >= 0:
                turns.append(_turn(number, begun, texts.get(begun, ""), request, answer, answered=answered))
            begun, answer, answered = at, (), False
            request = tuple(_sentences(text, "person", at, number + 1, read_in))
            said += request
        elif message.origin == "assistant":
            found = tuple(_sentences(text, "assistant", at, number, read_in))
            said += found
            answer = found or answer
            answered = bool(found) and not message.tool_uses
    if begun >= 0:
        number = len(turns) + 1
        turns.append(_turn(number, begun, texts.get(begun, ""), request, answer, answered=answered))
    return Talk(turns=tuple(turns), said=tuple(said), calls=tuple(_calls(told)), texts=texts)


def without_secrets(texts: Sequence[str]) -> list[str]:
    """The texts, with a mark where a secret was: `SECRET`. Looked through as one, which is quicker."""
    if not texts:
        return []
    whole = _GAP.join(text.replace(SECRET, "\ufffd") for text in texts)
    parts, upto = list[str](), 0
    for finding in secrets.scan(whole):
        gaps = whole.count(_GAP, finding.start, finding.end)
        parts += [whole[upto : finding.start], SECRET, f"{_GAP}{SECRET}" * gaps]
        upto = finding.end
    return "".join((*parts, whole[upto:])).split(_GAP)


def shortened(text: str, most: int = MOST_TEXT) -> str:
    """A long text without its middle."""
    return text if len(text) <= most else f"{beginning(text, most // 2)}\n\n{end(text, most // 2)}"


def _texts(told: Sequence[tuple[int, Message]]) -> dict[int, str]:
    """What people and the assistant wrote, by the number of the message."""
    texts = {at: one.text for at, one in told if one.origin != "tool" and one.text.strip()}
    seen = [visible(shortened(text)).replace(_GAP, "\n") for text in texts.values()]
    return dict(zip(texts, without_secrets(seen), strict=True))


def _read_in(texts: Mapping[int, str]) -> dict[int, frozenset[str]]:
    """The languages of each message, and those of the conversation: a short one does not tell its own."""
    own = {at: languages(text[:SAMPLE]) for at, text in texts.items()}
    count = Counter(name for names in own.values() for name in names)
    least = max(1.0, USUAL * sum(count.values()))
    usual = frozenset(name for name, times in count.items() if times >= least)
    return {at: usual | frozenset(names) for at, names in own.items()}


def _turn(
    number: int,
    at: int,
    text: str,
    request: tuple[Sentence, ...],
    answer: tuple[Sentence, ...],
    *,
    answered: bool,
) -> Turn:
    return Turn(
        number=number,
        at=at,
        request=request,
        answer=answer,
        answered=answered,
        asks=bool(request) and is_request(text, " ".join(one.text for one in request)),
    )


def _sentences(
    text: str, who: Who, at: int, turn: int, read_in: Mapping[int, frozenset[str]]
) -> Iterator[Sentence]:
    own = own_words(text) if who == "person" else text
    whole = own is text or own.split() == text.split()
    found = [piece for piece in pieces(own, whole=whole) if SECRET not in piece.text]
    if len(found) > MOST_SENTENCES:
        found = found[: MOST_SENTENCES // 2] + found[-MOST_SENTENCES // 2 :]
    for place, piece in enumerate(found):
        yield Sentence(
            who=who,
            text=piece.text,
            at=at,
            turn=turn,
            place=place,
            item=piece.item,
            signs=signs(piece.text, read_in[at]),
        )


def _calls(told: Sequence[tuple[int, Message]]) -> Iterator[Call]:
    """The calls in order of their results, those without one last."""
    open_calls: dict[str, tuple[int, int, ToolUse]] = {}
    turn = 0
    for at, message in told:
        turn += message.origin == "person"
        for block in message.content:
            if isinstance(block, ToolUse) and message.origin == "assistant":
                open_calls[block.id] = (at, turn, block)
            elif isinstance(block, ToolResult):
                _, _, use = open_calls.pop(block.tool_use_id, (at, turn, _UNKNOWN))
                yield _call(use, at, turn, block)
    for at, turn, use in open_calls.values():
        yield _call(use, at, turn, None)


def _call(use: ToolUse, at: int, turn: int, result: ToolResult | None) -> Call:
    return Call(
        name=use.name,
        path=_text(use, "file_path") or _text(use, "notebook_path"),
        command=_text(use, "command"),
        at=at,
        turn=turn,
        failed=result.is_error if result else None,
        result=shortened(result.content, MOST_RESULT) if result else "",
    )


def _text(use: ToolUse, key: str) -> str:
    value = use.input.get(key)
    return value if isinstance(value, str) else ""


_UNKNOWN = ToolUse(id="", name="", input={})
