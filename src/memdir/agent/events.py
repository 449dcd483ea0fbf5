"""What happens in a session -> named events with counts and durations, never contents (H4).

Whoever wants to know subscribes: the log (`agent.log`), a progress line, a test. A subscriber that
fails is logged once a failure and never reaches the one who emitted.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memdir.errors import ModelError

INSTRUCTIONS = "instructions"
"""Something is wrong with the instructions of people, or a part is left out: why (a sentence). Once each."""
LOADED = "loaded"
"""The memory index went into a conversation: lines, bytes, truncated."""
RECALLED = "recalled"
"""Memories were put into a conversation: files, bytes, how (who chose: "model", "local"), seconds."""
EXTRACTED = "extracted"
"""A background run succeeded, mostly without a change: files (changed), refused (not saved), seconds."""
SKIPPED = "skipped"
"""A background job had nothing to do or may not run: job, why."""
DENIED = "denied"
"""A tool call was not allowed: agent, tool, reason."""
HELD = "held"
"""A write of a memory was not made, and waits for the person: agent, why (a code, or "by rules")."""
FORKED = "forked"
"""A fork ended: label, stop, turns, tokens in and out, cache reads and writes, hit percent, files (changed),
denied (calls), seconds (A7)."""
TURN_ENDED = "turn_ended"
"""A turn of a conversation ended with an answer: agent, requests so far, seconds, cut (whether the answer
ended at its length limit, twice)."""
ABORTED = "aborted"
"""A turn was broken off before its final answer: agent."""
CHANGED = "changed"
"""Files that the conversation knows changed on disk: agent, files (R8)."""
MENDED = "mended"
"""What a killed process left behind was put right: repairs."""
CHANGED_OUTSIDE = "changed_outside"
"""Memory files were changed outside memdir since they were looked at last: files, names, change (in the
history)."""
FAILED = "failed"
"""Something went wrong beside the conversation, which went on: where, and error (its type) if there was one.
In a conversation's own steps also agent. Of a run of the extraction also why (the error's sentence, if there
is one), again (whether it will be tried again), model (if it was its failure); of a cursor why and path; of
"earlier sessions" (what they left is looked at again at the next start) why."""
DEGRADED = "degraded"
"""A background job goes on by rules, since its model failed: job, model, error (its type), why (the error's
sentence), cure (what to do about it), lasting (whether the model is out of use for the whole session)."""
WAITING = "waiting"
"""A background job waits, for today's budget is used up or somebody else is at it; nothing is lost: job, why.
Once a session."""
DISABLED = "disabled"
"""A background job does nothing, though memory is on: job, why. Once a session."""
NOTED = "noted"
"""The running summary of a session was brought up to date: tokens, over (sections that are too long), how
("model", "rules"), seconds."""
COMPACTED = "compacted"
"""A conversation was made shorter: trigger ("auto", "manual", "overflow"), how (who wrote the summary:
"notes", "model", "rules"; "cut": nothing went, and long results were cut), before and after (tokens of the
next request), gone and kept (messages), seconds."""
RESUMED = "resumed"
"""A conversation was taken up again: messages (in its context), skipped (lines that could not be read)."""
DREAMING = "dreaming"
"""A dream began: how (by a "model", or by "rules"), sessions (that it is told of), memories."""
DREAMED = "dreamed"
"""A dream ended: outcome ("applied", "held": its plan waits for the person, "shown": a dry run, "nothing"),
files (topic files changed), left (not changed, for somebody has changed them meanwhile), objections, why
(their codes), turns, tokens in and out, seconds."""
PICKED_UP = "picked_up"
"""What an earlier session had left was learned from: files (changed), refused (not saved)."""
NO_SHARED_CACHE = "no_shared_cache"
"""A background job reads the conversation with another model, which can't share its cache: job, model, host
(the conversation's model), free (whether nobody sends a bill for that)."""

Value = str | int | float | bool | None

_LONGEST = 300
_log = logging.getLogger("memdir")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened. Fields are small values: numbers, names, paths, reasons."""

    name: str
    fields: Mapping[str, Value]


Sink = Callable[[Event], None]


class Events:
    """Takes events and hands each to all subscribers, in the order they came."""

    def __init__(self, *sinks: Sink) -> None:
        self._sinks: list[Sink] = list(sinks)

    def subscribe(self, sink: Sink) -> Callable[[], None]:
        """Call `sink` with each event from now on. Returns what ends that."""
        self._sinks.append(sink)
        return lambda: self._sinks.remove(sink) if sink in self._sinks else None

    def emit(self, name: str, /, **fields: Value) -> None:
        """Tell all subscribers. Never raises; text is cut at 300 characters."""
        event = Event(name=name, fields={key: _short(value) for key, value in fields.items()})
        for sink in tuple(self._sinks):
            try:
                sink(event)
            except Exception as error:  # noqa: BLE001 - a listener's fault is not the session's
                trace = "".join(traceback.format_tb(error.__traceback__))  # its text may quote a memory
                _log.warning("an event listener failed on %s: %s\n%s", name, type(error).__name__, trace)


class Degradation:
    """Tells that a job goes on without its model: once a session, and once more if what might have passed
    then turns out to last.
    """

    def __init__(self, job: str, events: Events) -> None:
        self._job = job
        self._events = events
        self._told: bool | None = None  # whether what was told lasts

    def tell(self, model: str, error: ModelError, *, lasts: bool) -> None:
        """The model failed with this, and the rules have stepped in. `lasts`: for the whole session."""
        if self._told is not None and (self._told or not lasts):
            return
        self._told = lasts
        self._events.emit(
            DEGRADED,
            job=self._job,
            model=model,
            error=type(error).__name__,
            why=str(error),
            cure=error.hint,
            lasting=lasts,
        )


def _short(value: Value) -> Value:
    return value[:_LONGEST] if isinstance(value, str) else value
