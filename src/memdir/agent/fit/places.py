"""Where a conversation may be cut: no tool call is parted from its result, by their ids (C4). Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

from memdir.model.messages import Message, ToolResult


def is_place(messages: Sequence[Message], at: int) -> bool:
    """Whether the conversation may be cut before `messages[at]`.

    No result there or later lacks its call, and no call before lacks its result. So a conversation that ends
    in calls which are not answered can't be cut behind them, and one with results of no call only behind
    these (`agent.closing` mends such ones). False for an `at` that is outside.
    """
    return at in places(messages)


def places(messages: Sequence[Message]) -> list[int]:
    """All places, in order; of a whole conversation also 0 and its length. In linear time."""
    bars = [0] * (len(messages) + 2)  # +1 where a stretch of no places begins, -1 behind its end

    def bar(first: int, last: int) -> None:
        bars[first] += 1
        bars[last + 1] -= 1

    calls: dict[str, int] = {}
    open_calls: dict[str, int] = {}
    for number, message in enumerate(messages):
        for block in message.content:
            if isinstance(block, ToolResult):
                # Some servers count their calls anew in each answer: an id means the last call that had it.
                bar(calls.get(block.tool_use_id, -1) + 1, number)
                open_calls.pop(block.tool_use_id, None)
        for call in message.tool_uses:
            if (before := open_calls.get(call.id, number)) != number:
                bar(before + 1, len(messages))
            calls[call.id] = open_calls[call.id] = number
    for number in open_calls.values():
        bar(number + 1, len(messages))
    return [at for at, barred in enumerate(accumulate(bars[:-1])) if not barred]


def sizes_from(messages: Sequence[Message], count: Callable[[Message], int]) -> list[int]:
    """The tokens of `messages[at:]` for each `at`, the length included."""
    return [*accumulate((count(message) for message in reversed(messages)), initial=0)][::-1]


def front(messages: Sequence[Message], *, room: int, count: Callable[[Message], int]) -> int:
    """The place from which on the messages take at most `room` tokens: as many of the newest as fit.

    Where not even the last step does, it is that one's place, so that whoever sends it is told that it is
    too long; `shorten` may help. 0 if there are no messages. The first message that is left may be the
    model's: a service may want one of the user's before it.
    """
    found, sizes = last_step(messages), sizes_from(messages, count)
    return next((at for at in places(messages) if at <= found and sizes[at] <= room), found)


def last_step(messages: Sequence[Message]) -> int:
    """The last place behind which there is more than what memdir added: a tail is never shorter.

    0 where there is none.
    """
    said = next(
        (
            at
            for at in range(len(messages) - 1, -1, -1)
            if messages[at].origin not in ("attachment", "system")
        ),
        0,
    )
    return max((at for at in places(messages) if at <= said), default=0)
