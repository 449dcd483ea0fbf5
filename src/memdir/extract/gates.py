"""The state of a session -> whether the extraction runs now, and if not, why (E0, E3-E5, E7). All pure.

`decide` is the whole order of checks. `since` and `has_words` answer its questions about messages: which
are new, and is there a word of the person in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from memdir.errors import ModelError
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
    `trailing`: this is the run that follows one during which a turn ended (E5). `wrote_memory`,
    `has_words`: of what is new, whether the main agent wrote memory files in it (E4), and whether the
    person said anything. `waiting`: a model failed at the run before, and its messages wait for the next one.
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
    waiting: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Extract now. `turns` is the new count; `only_waiting`: what waits since a failure, and then decide
    anew about the rest.
    """

    turns: int = 0
    only_waiting: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """Not now. `turns` is the new count; `move_cursor`: what is new is dealt with; `keep`: run after this
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
    if now.wrote_memory and now.waiting:  # what the agent wrote is of the turns since then
        return Run(only_waiting=True)
    if now.wrote_memory:
        return Skip(reason="the agent wrote memory itself", turns=0, move_cursor=True)
    if not now.has_words:
        return Skip(reason="nothing new", turns=0, move_cursor=True)
    return Run()


def rules_step_in(error: ModelError, *, waiting: bool) -> bool:
    """Whether the rules do a run at once in which the model failed: if the error lasts, or if the messages
    have been waiting for this run since the one before. Otherwise they wait for the next (E7).
    """
    return error.lasts or waiting


def since(messages: Sequence[Message], cursor: str | None) -> tuple[Message, ...]:
    """The messages after the one with the cursor's id; all, if there is none or compaction took it away
    (E7).
    """
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].id == cursor:
            return tuple(messages[place + 1 :])
    return tuple(messages)


def has_words(messages: Iterable[Message]) -> bool:
    """Whether the person said anything: nothing else makes a memory (E11)."""
    return any(message.origin == "person" and message.text.strip() for message in messages)
