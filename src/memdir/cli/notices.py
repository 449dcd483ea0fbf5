"""An event -> what the person is told of it at the next pause, in one sentence; mostly nothing.

What failed beside the conversation is told once. Where rules have stepped in for a model, that is told, and
not the failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memdir.agent.events import DEGRADED, FAILED, NO_SHARED_CACHE, Event
from memdir.cli.output import visible
from memdir.extract.saved import LABEL as EXTRACTION

_BY_RULES = {EXTRACTION: "memories are saved by rules", "recall": "memories are chosen by their words"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A sentence for the person. `job` and `error` (its type) say what it is about; `passing`: that a failure
    may yet be made up for. Of those with the same `key` only the first is told.
    """

    text: str
    job: str | None = None
    error: str | None = None
    passing: bool = False
    key: str | None = None

    def replaces(self, other: Notice) -> bool:
        """Whether the other, if it was not told yet, is out of date."""
        return other.passing and not self.passing and self.job == other.job


def notice_of(event: Event) -> Notice | None:
    """What to tell of an event, if it is anything to the person."""
    said = {key: visible(str(value)) for key, value in event.fields.items() if value is not None}
    if event.name == FAILED:
        return _failed(said, again=bool(event.fields.get("again")))
    if event.name == DEGRADED:
        return _degraded(said, lasting=bool(event.fields["lasting"]))
    if event.name == NO_SHARED_CACHE:
        job = "extraction" if said["job"] == EXTRACTION else said["job"]
        what = "it can't read this conversation's cache, and pays for the whole of it each time"
        text = f"({job} runs on {said['model']}, not on {said['host']}: {what})"
        return Notice(text=text, job=said["job"], key=text)
    return None


def _failed(said: Mapping[str, str], *, again: bool) -> Notice:
    job, error = said.get("where"), said.get("error")
    if again:
        text = f"({_why(said)}; saving will be tried again)"
        return Notice(text=text, job=job, error=error, passing=True, key=f"{job} again")
    text = f"({job} failed: {error}; the conversation goes on)"
    return Notice(text=text, job=job, error=error, key=text)


def _degraded(said: Mapping[str, str], *, lasting: bool) -> Notice:
    job = said["job"]
    what = _BY_RULES.get(job, f"{job} goes on by rules")
    cure = f". {said['cure']}" if lasting and "cure" in said else ""
    when = "from now on" if lasting else "meanwhile"
    return Notice(text=f"({_why(said)}; {what} {when}{cure})", job=job, error=said["error"])


def _why(said: Mapping[str, str]) -> str:
    """The error's sentence, which mostly names the model itself."""
    return said["why"] if said["model"] in said["why"] else f"{said['model']}: {said['why']}"
