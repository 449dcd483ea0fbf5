"""A known memory and news about it become its new body: old values go, what stays true survives."""

from __future__ import annotations

import re
from datetime import date

from memdir.cues import Cue
from memdir.extract.local import compose
from memdir.extract.local.candidates import Candidate
from memdir.extract.local.values import Known
from memdir.memory.rank import similarity

SUPERSEDED = 0.25
"""An old sentence this near to a new one that changes something is its old version."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_DAY = re.compile(r"(?<!\d)(20\d\d)-(\d\d)-(\d\d)(?!\d)(?:\s?\((\w+)\))?")
_WEEKDAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ADDRESS = re.compile(r"https?://\S+|[\w.+-]+@[\w-]+\.[\w.]+")


def merged(known: Known, candidate: Candidate) -> tuple[str, str | None]:
    """The whole new body, and a new description where the old one is not true any more."""
    news = compose.body(candidate)
    if _only_the_day_moved(known, candidate):
        day = candidate.seed_days[0]
        description = moved(known.description, day)
        changed = description if description != known.description else None
        return f"{moved(known.body, day).rstrip()}\n\n{news}", changed
    kept = [piece for piece in _pieces(known.body) if not _superseded(piece, known, candidate)]
    if not kept:
        return news, compose.description(candidate)
    return f"{news}\n\n{' '.join(kept)}", None


def moved(text: str, day: date) -> str:
    """The text with its one date replaced, and the weekday in brackets with it."""

    def new(match: re.Match[str]) -> str:
        return f"{day.isoformat()} ({_WEEKDAY_NAMES[day.weekday()]})" if match.group(4) else day.isoformat()

    return _DAY.sub(new, text)


def _only_the_day_moved(known: Known, candidate: Candidate) -> bool:
    dates = {match.group(0)[:10] for match in _DAY.finditer(known.body)}
    return (
        Cue.CHANGE in candidate.cues
        and len(dates) == 1
        and len(candidate.seed_days) == 1
        and Cue.DURABLE not in candidate.cues
        and known.type == "project"
    )


def _pieces(text: str) -> list[str]:
    return [piece.strip() for piece in _SENTENCE.split(text) if piece.strip()]


def _superseded(piece: str, known: Known, candidate: Candidate) -> bool:
    """Is this old sentence replaced by the news? Only by something said about the same, or as a change."""
    changes = Cue.CHANGE in candidate.cues
    plain = _ADDRESS.sub(" ", piece)
    near = any(similarity(plain, _ADDRESS.sub(" ", one.text)) >= SUPERSEDED for one in candidate.sentences)
    if known.type == "feedback" and Cue.STANDING in candidate.cues:
        return near or changes
    if _DAY.search(piece):
        return bool(candidate.seed_days) and (near or changes)
    if _ADDRESS.search(piece):
        return bool(_ADDRESS.search(candidate.text)) and (near or changes)
    if not changes:
        return False
    names = set(_NAME.findall(piece.lower()))
    return any(
        similarity(piece, sentence.text) >= SUPERSEDED or names & set(_NAME.findall(sentence.text.lower()))
        for sentence in candidate.sentences
        if Cue.CHANGE in sentence.cues
    )


_NAME = re.compile(r"(?<=[\u4e00-\u9fff] )[a-z][\w-]{3,}|`[^`]+`|[a-z]+[-_.][\w-]+")
"""Names of tools and things: those that stand in Chinese text, quoted code, compound identifiers."""
