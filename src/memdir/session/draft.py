"""One compaction of one conversation, before it is put in its place (C4).

What will stand in front is gathered from the disk and from the record; what stays is a tail of the messages.
Nothing of the conversation is changed here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from memdir.agent.attachments import compaction_boundary, date_news
from memdir.agent.attachments.compaction import How, Trigger
from memdir.agent.events import FAILED
from memdir.agent.file_state import FileState, noted
from memdir.agent.fit.shorten import original, shorten
from memdir.agent.loop import Agent
from memdir.model import tokens
from memdir.model.messages import Message, Request
from memdir.session import carried
from memdir.session.again import shown_again
from memdir.session.notes import Summary
from memdir.session.plan import AIM, Limits, Plan, plan

Fresh = Callable[[FileState], Sequence[Message]]
"""The first messages of a conversation as they would be now; notes in the table what they show of files."""

HEAD = frozenset({"context", "index", "compaction", "file", "date"})
"""Kinds of attachments that a compaction puts in front, and the next one replaces."""

CARRIED = 2_000
"""Tokens that the boundary, the requests of the person and what is to be done may take."""

LEFT = 1_000
"""Tokens of the room that stay free in any case."""


class Draft:
    """What a compaction would make of the conversation as it is now. Reads the disk; `files` is the table of
    what the new messages show.
    """

    def __init__(self, agent: Agent, fresh: Fresh, limits: Limits) -> None:
        self.files = FileState()
        self._agent, self._limits = agent, limits
        self._now = agent.context.now()
        self._lead = _lead(agent.messages)
        begin = self._begun(fresh)
        day = date_news(begin, self._now)
        self._fresh = noted([*begin, *([day] if day else [])], self.files.take_shown())
        self._record = tuple(agent.record)  # before the messages: what comes in meanwhile is not gone
        self._body = agent.messages[self._lead :]
        self._end = self._lead + len(self._body)
        prefix = tokens.estimate_request(Request(prefix=agent.prefix, messages=()))
        self._prefix = math.ceil(prefix * agent.model.scale)
        self._fixed = self._prefix + self._sum(self._fresh) + CARRIED

    def _begun(self, fresh: Fresh) -> list[Message]:
        """The first messages anew; as they are, if that fails: the person is to be able to go on."""
        try:
            return list(fresh(self.files))
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the disk
            self._agent.events.emit(FAILED, where="compaction", error=type(error).__name__)
            self.files = FileState()
            lead = self._agent.messages[: self._lead]
            return [one for one in lead if (one.attachment or {}).get("kind") in ("context", "index")]

    @property
    def summary_limit(self) -> int:
        """Tokens that a summary may have: less in a small window."""
        return self._limits.summary()

    def plan(self, summary: Summary | None, *, everything: bool = False) -> Plan:
        """What goes and what stays. `everything`: all that can go does, however little it is."""
        taken = self.summary_limit if summary is None else self._tokens(summary.text)
        limits = replace(self._limits, tail_tokens=1, tail_messages=1) if everything else self._limits
        return plan(
            self._body,
            summarised=summary.upto if summary is not None else None,
            fixed=self._fixed + min(taken, self.summary_limit),
            limits=limits,
            count=self._count,
            afresh=everything,
        )

    def going(self, at: int) -> tuple[Message, ...]:
        """What goes if the tail begins `at` that place, with what the last compaction put in front."""
        return tuple(self._agent.messages[: self._lead + at])

    def said_before(self, at: int) -> tuple[Message, ...]:
        """All that was said until this was begun, and that the tail does not hold."""
        kept = {original(message) for message in self._body[at:]}
        return tuple(message for message in self._record if original(message) not in kept)

    def said_since(self) -> tuple[Message, ...]:
        """What came into the conversation since this was begun, which stays as it is."""
        return tuple(self._agent.messages[self._end :])

    def made(
        self, summary: str, *, trigger: Trigger, how: How, at: int
    ) -> tuple[list[Message], tuple[Message, ...]]:
        """The new head of the conversation, and what stays of the messages."""
        agent, tail = self._agent, self._body[at:]
        gone = self.said_before(at)
        asked = [message for message in tail if message.origin == "person" and message.text.strip()]
        boundary = compaction_boundary(
            trigger=trigger,
            how=how,
            summary=summary,
            gone=len(gone),
            intent=carried.first_request(gone),
            latest=None if asked else carried.last_request(gone),
            todos=carried.open_todos(agent.record),
            tail=len(tail),
            now=self._now,
            transcript=agent.transcript.path if agent.transcript is not None else None,
        )
        head = [*self._fresh, boundary]
        taken = self._fixed - CARRIED + self._count(boundary)
        kept = shorten(tail, room=self._limits.room() - LEFT - taken, count=self._count)
        room = self._limits.room() * AIM // 100 - taken - self._sum(kept)
        again = shown_again(agent, kept, files=self.files, room=room, scale=agent.model.scale, now=self._now)
        return [*head, *noted(again, self.files.take_shown())], kept

    def shortened(self) -> tuple[list[Message], tuple[Message, ...]]:
        """The same for a conversation of which nothing can go: what it began with, and the rest cut."""
        head, self.files = self._agent.messages[: self._lead], FileState()  # it shows what it did
        room = self._limits.room() - LEFT - self._prefix - self._sum(head)
        return list(head), shorten(self._body, room=room, count=self._count)

    def size(self, head: Sequence[Message], kept: Sequence[Message]) -> int:
        """About how many tokens the next request would be with these."""
        return self._prefix + self._sum(head) + self._sum(kept)

    def _count(self, message: Message) -> int:
        return math.ceil(self._agent.size_of(message) * self._agent.model.scale)

    def _sum(self, messages: Iterable[Message]) -> int:
        return sum(map(self._count, messages))

    def _tokens(self, text: str) -> int:
        return math.ceil(tokens.estimate(text) * self._agent.model.scale)


def _lead(messages: Sequence[Message]) -> int:
    """How many messages stand in front that the next compaction replaces."""
    kinds = ((message.attachment or {}).get("kind") for message in messages)
    return next((at for at, kind in enumerate(kinds) if kind not in HEAD), len(messages))
