"""The state of a session -> whether the extraction runs now, and if not, why (E0, E3-E5, E7). All pure.

`decide` is the whole order of checks, and `rules_step_in` and `waits` say who does a run that a model failed
in. The others answer questions about messages: which are new, which of them go together, and is there a word
of the person in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from memdir.agent.attachments import memory_files_written
from memdir.errors import ContextTooLong, ModelError, OverBudget
from memdir.model.messages import Message

Reason = Literal[
    "not the main agent",
    "switched off",
    "memory is off",
    "remote",
    "one is running",
    "throttled",
    "the agent wrote memory itself",
    "nothing new",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What the checks look at when a turn has ended.

    `turns` counts those since the last run, this one not included; `every` is how many it takes (E3).
    `trailing`: this is about what is due already (E5). `wrote_memory`, `has_words`: of the first stretch of
    what is new, whether the main agent wrote memory files in it (E4), and whether the person said anything.
    """

    is_main: bool
    extract: bool
    memory: bool
    remote: bool
    running: bool
    turns: int
    every: int
    trailing: bool
    wrote_memory: bool
    has_words: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Extract now. `turns` is the new count."""

    turns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """Not now. `turns` is the new count; `move_cursor`: this stretch is dealt with; `keep`: run after this
    one.
    """

    reason: Reason
    turns: int
    move_cursor: bool = False
    keep: bool = False


def decide(now: Situation) -> Run | Skip:
    """Check in the order of E0: the first check that fails decides."""
    if not now.is_main:
        return Skip(reason="not the main agent", turns=now.turns)
    if not now.extract:
        return Skip(reason="switched off", turns=now.turns)
    if not now.memory:
        return Skip(reason="memory is off", turns=now.turns)
    if now.remote:
        return Skip(reason="remote", turns=now.turns)
    if now.running:
        return Skip(reason="one is running", turns=now.turns, keep=True)
    turns = now.turns if now.trailing else now.turns + 1
    if not now.trailing and turns < now.every:
        return Skip(reason="throttled", turns=turns)
    if now.wrote_memory:
        return Skip(reason="the agent wrote memory itself", turns=0, move_cursor=True)
    if not now.has_words:
        return Skip(reason="nothing new", turns=0, move_cursor=True)
    return Run()


def rules_step_in(error: ModelError, *, waiting: bool) -> bool:
    """Whether the rules do a run at once in which the model failed: if the error lasts, or if the messages
    have been waiting for this run since the one before. Otherwise they wait for the next (E7).
    """
    return not waits(error) and (error.lasts or waiting)


def ends_the_model(error: ModelError) -> bool:
    """Whether the model is not asked any more in this session. What is too long for it is one run: after the
    next compaction there is room again (C4).
    """
    return error.lasts and not isinstance(error, ContextTooLong)


def waits(error: ModelError) -> bool:
    """Whether the messages wait for the model, however long, and it is no failure: for another day's budget
    (H3).
    """
    return isinstance(error, OverBudget) and not error.lasts


# -- messages ------------------------------------------------------------------------------------------------


def place(messages: Sequence[Message], message: str | None) -> int:
    """Where the message with this id stands; -1 if nowhere."""
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].id == message:
            return at
    return -1


def is_before(messages: Sequence[Message], one: str | None, other: str | None) -> bool:
    """Whether a message stands before another; one that is nowhere stands before all (E7)."""
    return place(messages, one) < place(messages, other)


def since(messages: Sequence[Message], cursor: str | None, *, upto: str | None = None) -> tuple[Message, ...]:
    """The messages after the one with the cursor's id, to the end or `upto` one of them; from the first one
    on, if there is no cursor or compaction took it away (E7).
    """
    end = len(messages) if upto is None else place(messages, upto) + 1
    return tuple(messages[place(messages, cursor) + 1 : end])


def first_stretch(new: Sequence[Message]) -> tuple[Message, ...]:
    """Of what is new, the turns in front that have the same lot: those in which the agent wrote memory itself
    are left alone, and what the person said before and after them is not (E4).
    """
    for _, turns in groupby(_turns(new), lambda turn: bool(memory_files_written(turn))):
        return tuple(message for turn in turns for message in turn)
    return ()


def _turns(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    """Each from the person's word to the final answer; one that failed goes with the next."""
    begin = 0
    for at, message in enumerate(messages, start=1):
        is_answer = message.role == "assistant" and not message.tool_uses
        if at == len(messages) or (is_answer and _person_is_next(messages, at)):
            yield messages[begin:at]
            begin = at


def _person_is_next(messages: Sequence[Message], at: int) -> bool:
    """Whether the person speaks next, whatever memdir has put in between (a compaction, say)."""
    origins = (messages[number].origin for number in range(at, len(messages)))
    return next((origin for origin in origins if origin != "attachment"), None) == "person"


def has_words(messages: Iterable[Message]) -> bool:
    """Whether the person said anything: nothing else makes a memory (E11)."""
    return any(message.origin == "person" and message.text.strip() for message in messages)
