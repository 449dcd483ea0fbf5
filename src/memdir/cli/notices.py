"""An event -> what the person is told of it at the next pause, in one sentence; mostly nothing.

What failed beside the conversation is told once. Where rules have stepped in for a model, that is told, and
not the failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memdir.agent.events import (
    CHANGED_OUTSIDE,
    COMPACTED,
    DEGRADED,
    DISABLED,
    DREAMED,
    DREAMING,
    EXTRACTED,
    FAILED,
    HELD,
    INSTRUCTIONS,
    NO_SHARED_CACHE,
    NOTED,
    RESUMED,
    TURN_ENDED,
    WAITING,
    Event,
    Value,
)
from memdir.cli.context import change
from memdir.cli.output import visible
from memdir.dream.fork import LABEL as DREAM
from memdir.errors import Conflict
from memdir.extract.saved import LABEL as EXTRACTION
from memdir.session.notes import LABEL as NOTES

_JOBS = {EXTRACTION: "saving memories", NOTES: "the running summary", DREAM: "the dream"}
_RUNS = {EXTRACTION: "extraction", NOTES: "the running summary", DREAM: "the dream"}
_STEPS = {
    "marker": "noting that this conversation is not saved yet",
    "journal": "noting what a run is about to change",
}
_BY_RULES = {
    EXTRACTION: "memories are saved by rules",
    "recall": "memories are chosen by their words",
    NOTES: "the running summary is kept by rules",
}
_WHY_CONDENSED = {
    "auto": "the conversation had grown too long and was condensed",
    "overflow": "the model refused the conversation as too long, so it was condensed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A sentence for the person. `job` says what it is about; `passing`: that a failure will yet be made up
    for, or that something is under way, and `model` and `why` what it was, if it was a model's. Of those with
    the same `key` only the first is told.
    """

    text: str
    job: str | None = None
    passing: bool = False
    model: str | None = None
    why: str | None = None
    key: str | None = None

    def replaces(self, other: Notice) -> bool:
        """Whether the other, if it was not told yet, is out of date."""
        return other.passing and not self.passing and self.job == other.job

    def repeats(self, model: str, sentence: str) -> bool:
        """Whether it says no more than what the conversation's model failed with, which was told just now."""
        return (
            self.passing
            and self.why is not None
            and self.model == visible(model)
            and visible(sentence).startswith(self.why)  # an event holds the beginning of a long one
        )


def settles(event: Event, notice: Notice) -> bool:
    """Whether the event says that what will yet be made up for has been, or what was under way is over."""
    job = {EXTRACTED: EXTRACTION, NOTED: NOTES, DREAMED: DREAM}.get(event.name)
    return notice.passing and job is not None and notice.job == job


def notice_of(event: Event) -> Notice | None:
    """What to tell of an event, if it is anything to the person."""
    said = {key: visible(str(value)) for key, value in event.fields.items() if value is not None}
    if event.name == TURN_ENDED and event.fields.get("cut") and said.get("agent") == "main":
        return Notice(text="(the answer ended at its length limit; ask the model to go on)")
    if event.name in (WAITING, DISABLED):
        verb = "waits" if event.name == WAITING else "is off"
        text = f"({_JOBS.get(said['job'], said['job'])} {verb}: {said['why']})"
        return Notice(text=text, job=said["job"], key=f"{event.name} {said['job']}")
    if event.name == DREAMING:
        if event.fields.get("how") != "model":
            return None
        how = "/dream says how far it is, /dream stop breaks it off"
        text = f"(a dream has begun, to put the memories in order: {how})"
        return Notice(text=text, job=DREAM, passing=True)
    if event.name == CHANGED_OUTSIDE:
        return _outside(said)
    if event.name == HELD:
        text = "(a memory was not saved, and waits for your word: `memdir inbox`)"
        return Notice(text=text, job="inbox", key=text)
    if event.name == COMPACTED:
        return _condensed(event.fields)
    if event.name == INSTRUCTIONS:
        return Notice(text=f"({said['why']})", job="instructions", key=said["why"])
    if event.name == RESUMED and event.fields.get("skipped"):
        return _skipped(event.fields["skipped"])
    if event.name == FAILED:
        return _failed(said, again=event.fields.get("again"))
    if event.name == DEGRADED:
        return _degraded(said, lasting=bool(event.fields["lasting"]))
    if event.name == NO_SHARED_CACHE:
        job = _RUNS.get(said["job"], said["job"])
        again = (
            "reads the whole of it anew each time"
            if event.fields.get("free")
            else "pays for the whole of it each time"
        )
        what = f"it can't read this conversation's cache, and {again}"
        text = f"({job} runs on {said['model']}, not on {said['host']}: {what})"
        return Notice(text=text, job=said["job"], key=text)
    return None


def _outside(said: Mapping[str, str]) -> Notice:
    """Memory files were changed by no tool of ours, which the person has done, or somebody else."""
    what = f"since the last time, {said['names']} changed outside memdir"
    change = said["change"]
    text = f"({what}: `memdir diff {change}` shows how, `memdir undo {change}` takes it back)"
    return Notice(text=text, job="memory", key=text)


def _condensed(fields: Mapping[str, Value]) -> Notice | None:
    """The conversation was made shorter. Who asked for it was told already."""
    why = _WHY_CONDENSED.get(str(fields["trigger"]))
    if why is None:
        return None
    before, after, gone = (int(fields[key] or 0) for key in ("before", "after", "gone"))
    told = change(before, after, gone, str(fields["how"]))
    return Notice(text=f"({why}: {told})", job="compaction")


def _skipped(lines: Value) -> Notice:
    """Parts of the transcript that was taken up are lost."""
    what = "1 line" if lines == 1 else f"{lines} lines"
    text = f"({what} of the transcript could not be read: the conversation lacks what stood there)"
    return Notice(text=text, job="transcript", key=text)


def _failed(said: Mapping[str, str], *, again: Value) -> Notice:
    job, error = said.get("where"), said.get("error")
    why = said.get("why", error)
    if job == EXTRACTION and again is not None:
        return _not_saved(said, again=bool(again))
    if job == NOTES:
        text = f"(the running summary was not brought up to date: {why}; this is tried again)"
        return Notice(text=text, job=NOTES, passing=True, key=text)
    text = f"({_STEPS.get(job or '', job)} failed: {error}; the conversation goes on)"
    if job == "compaction":
        text = f"(the model could not write a summary of the conversation: {why})"
    if job == DREAM:
        text = f"(a dream came to nothing, and the memories are as they were: {why})"
    if job == "earlier sessions":
        text = f"(what earlier conversations left is not saved: {why}; the next tries again)"
    if job == "cursor":
        text = (
            f"(how far this conversation is saved can't be noted in {said['path']}: {why}. Nothing is lost, "
            f"but a part may be looked at again later; see that the folder can be written, and has room)"
        )
    return Notice(text=text, job=job, key=text)


def _not_saved(said: Mapping[str, str], *, again: bool) -> Notice:
    """A run of the extraction failed."""
    later = "; saving will be tried again" if again else ""
    if "model" in said:
        text = f"({_why(said)}{later})" if again else f"(what was said is not saved: {_why(said)})"
        return Notice(
            text=text,
            job=EXTRACTION,
            passing=again,
            model=said["model"],
            why=said["why"],
            key=f"{EXTRACTION} again" if again else text,
        )
    why, cure = said.get("why", said["error"]), ""
    if said["error"] != Conflict.__name__:
        cure = ". `memdir status` says in which folder; see that it can be written, and has room"
    text = f"(what was said is not saved{' yet' if again else ''}: {why}{later}{cure})"
    return Notice(text=text, job=EXTRACTION, passing=again, key=text)


def _degraded(said: Mapping[str, str], *, lasting: bool) -> Notice:
    job = said["job"]
    what = _BY_RULES.get(job, f"{job} goes on by rules")
    cure = f". {said['cure']}" if lasting and "cure" in said else ""
    when = "from now on" if lasting else "meanwhile"
    text = f"({_why(said)}; {what} {when}{cure})"
    return Notice(text=text, job=job, key=text)


def _why(said: Mapping[str, str]) -> str:
    """The error's sentence, which mostly names the model itself."""
    return said["why"] if said["model"] in said["why"] else f"{said['model']}: {said['why']}"
