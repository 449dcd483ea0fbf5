"""Messages that are too large for what there is room for -> the same, with the least left out (C4). Pure.

A compaction can't part a call from its results, and some results are larger than all the room there is. They
are cut in the middle, and a note says so where something is missing. In this order, each only if what comes
before it is not enough: texts of tool results, the largest first, down to a common length; pictures, the
oldest first; what memdir added; last, what the person typed. No block goes and none is added; what the model
said, its calls and its reasoning stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memdir.model.messages import Block, Image, Message, Text, ToolResult, new_id

LEAST = 1000
"""Characters to which a text is cut at the most."""

PICTURE = "[A picture was left out here; look at it again if you need it]"

_AGAIN = "; read it again, in parts, if you need them"

_LINE = 200
"""So many characters are given up for a cut at the end of a line."""

Levels = tuple[int, ...]
"""What is left: characters of a result, pictures, characters of what was added and of what was typed."""


def shorten(
    messages: Sequence[Message], *, room: int, count: Callable[[Message], int]
) -> tuple[Message, ...]:
    """The messages, cut so that they take at most `room` tokens; as small as they get, where that is more.

    A message that was cut is a new one with a new id, and names the one it was cut from (`original`). It
    shows no file whole any more, and its notes of what it shows (`attachment["seen"]`) say so. Every other
    message is the same object.
    """
    sizes = [count(message) for message in messages]
    if sum(sizes) <= room:
        return tuple(messages)
    pictures, longest = [_pictures(message) for message in messages], max(map(_longest, messages), default=0)
    whole: Levels = (longest, sum(pictures), longest, longest)

    def cut_to(levels: Levels) -> tuple[list[Message], int]:
        """The messages at these levels, and their tokens."""
        drop, shorter, total = sum(pictures) - levels[1], list[Message](), 0
        for message, size, held in zip(messages, sizes, pictures, strict=True):
            cut = _cut(message, levels, drop=min(drop, held))
            smaller = size if cut is message else count(cut)
            drop = max(0, drop - held)
            shorter.append(cut if smaller < size else message)
            total += min(size, smaller)
        return shorter, total

    levels, stage = whole, -1
    while cut_to(levels)[1] > room and stage + 1 < len(whole):
        stage += 1
        levels = _with(levels, stage, _LEAST[stage])
    # The last measure goes no further than it must; what that leaves is given back to those before it.
    if cut_to(levels)[1] <= room:
        for undone in range(stage, -1, -1):
            levels = _most(levels, undone, whole[undone], lambda tried: cut_to(tried)[1] <= room)
    return tuple(map(_named, messages, cut_to(levels)[0]))


def original(message: Message) -> str:
    """The id under which all of it was said: of the message that it was cut from, else its own. Of a cut
    message, what is left is no more than a part of somebody's words.
    """
    found = (message.attachment or {}).get(_CUT_FROM)
    return found if isinstance(found, str) else message.id


_CUT_FROM = "cut_from"

_LEAST: Levels = (LEAST, 0, LEAST, LEAST)


def _most(levels: Levels, stage: int, most: int, fits: Callable[[Levels], bool]) -> Levels:
    """The levels with one measure as weak as it may be; the messages fit at those given."""
    if fits(whole := _with(levels, stage, max(levels[stage], most))):
        return whole
    low, high = levels[stage], most
    while high - low > 1:
        middle = (low + high) // 2
        if fits(_with(levels, stage, middle)):
            low = middle
        else:
            high = middle
    return _with(levels, stage, low)


def _with(levels: Levels, stage: int, level: int) -> Levels:
    return (*levels[:stage], level, *levels[stage + 1 :])


# ── one message ────────────────────────────────────────────────────────────────────────────────────────


def _cut(message: Message, levels: Levels, *, drop: int) -> Message:
    """The message without its first `drop` pictures and the middle of long texts; itself, if it has none."""
    content = tuple(_blocks(message, levels, drop))
    return message if content == message.content else replace(message, content=content)


def _blocks(message: Message, levels: Levels, drop: int) -> Iterator[Block]:
    results, _, added, typed = levels
    for block in message.content:
        match block:
            case ToolResult():
                gone = min(drop, len(block.images))
                drop -= gone
                said = [_without_middle(block.content, results, _AGAIN), *[PICTURE] * gone]
                yield replace(block, content="\n".join(filter(None, said)), images=block.images[gone:])
            case Image() if drop:
                drop -= 1
                yield Text(text=PICTURE)
            case Text() if message.role == "user":
                yield Text(text=_without_middle(block.text, typed if message.origin == "person" else added))
            case _:
                yield block


def _without_middle(text: str, most: int, again: str = "") -> str:
    """At most `most` characters of it, the note included: how it begins and how it ends, in whole lines if
    they are no longer than usual."""
    if len(text) <= most:
        return text
    kept = max(0, most - len(_note(len(text), again)))
    head, tail = kept - kept // 2, len(text) - kept // 2
    if (end := text.rfind("\n", max(0, head - _LINE), head)) > 0:
        head = end
    if 0 <= (end := text.find("\n", tail, tail + _LINE)) < len(text) - 1:
        tail = end + 1
    return f"{text[:head]}{_note(tail - head, again)}{text[tail:]}"


def _note(left_out: int, again: str) -> str:
    return f"\n[… {left_out:,} characters were left out here{again} …]\n"


def _named(old: Message, new: Message) -> Message:
    """A cut message as one of its own, which shows only a part of each file that it showed."""
    if new is old:
        return old
    about = {**_in_part(old.attachment or {}), _CUT_FROM: original(old)}
    return replace(new, id=new_id(), attachment=about)


def _in_part(about: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(seen := about.get("seen"), list):
        return about
    notes = [{**each, "partial": True} if isinstance(each, Mapping) else each for each in seen]
    return {**about, "seen": notes}


def _pictures(message: Message) -> int:
    return sum(
        len(block.images) if isinstance(block, ToolResult) else isinstance(block, Image)
        for block in message.content
    )


def _longest(message: Message) -> int:
    """Characters of its longest text that could be cut."""
    lengths = (
        len(block.content if isinstance(block, ToolResult) else block.text)
        for block in message.content
        if isinstance(block, ToolResult | Text)
    )
    return max(lengths, default=0)
