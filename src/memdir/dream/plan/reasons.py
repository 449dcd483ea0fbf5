"""`dream.json`: what the model says it took out or put elsewhere, and why (D5, D8). Bytes in, a value out.

    {"version": 1,
     "files": [{"file": "old.md", "into": "new.md", "why": "same subject"},
               {"file": "wrong.md", "why": "contradicted by new.md"}],
     "lines": [{"file": "a.md", "was": "Yesterday we chose X", "now": "On 2026-03-01 we chose X",
                "why": "absolute date"},
               {"file": "b.md", "was": "The build takes an hour", "why": "outdated: five minutes since May"}]}

A model wrote it, so nothing in it is believed: it says which lines to look at, and `plan` looks.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

NAME = "dream.json"
VERSION = 1
MAX_BYTES = 2_000_000
"""Of a larger one nothing is read."""
MAX_ENTRIES = 20_000
LONGEST = 20_000
"""Characters of one value; an entry with a longer one is left out."""
MAX_PROBLEMS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReason:
    """What is said of a file that is gone. `into`: where its content went; None: nowhere, it was wrong."""

    file: str
    into: str | None
    why: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineReason:
    """What is said of a line, or of a few that follow each other. `now` None: it was taken out."""

    file: str
    was: str
    now: str | None
    why: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasons:
    """All that is said. `problems`: sentences on what could not be read, without a word of a memory."""

    files: Mapping[str, FileReason] = field(default_factory=lambda: MappingProxyType({}))
    lines: tuple[LineReason, ...] = ()
    problems: tuple[str, ...] = ()


def read(data: bytes | None) -> Reasons:
    """Read `dream.json`; None: there is none. Never raises: what is wrong with it stands in `problems`."""
    if data is None or not data.strip():
        return Reasons()
    if len(data) > MAX_BYTES:
        return Reasons(problems=(f"{NAME} is over {MAX_BYTES:,} bytes and was not read",))
    try:
        value: object = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError, MemoryError):
        return Reasons(problems=(f"{NAME} is no JSON in UTF-8",))
    if not isinstance(value, dict):
        return Reasons(problems=(f"{NAME} is no JSON object",))
    return _Reading().of(value)


class _Reading:
    """Reading one object, and what was wrong on the way."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def of(self, value: Mapping[object, object]) -> Reasons:
        version = value.get("version", VERSION)
        if type(version) is not int or version != VERSION:
            self.problems.append(f"{NAME} has a version other than {VERSION}; it was read as if it had that")
        files: dict[str, FileReason] = {}
        for number, entry in self._entries(value, "files"):
            reason = _file(entry)
            known = files.setdefault(reason.file, reason)
            if known != reason:
                self._problem(f"`files` entry {number} is about a file that another one is about, too")
                files[reason.file] = min(known, reason, key=_claim)
        lines = [_line(entry) for _, entry in self._entries(value, "lines")]
        return Reasons(
            files=MappingProxyType(files),
            lines=tuple(dict.fromkeys(lines)),
            problems=tuple(self.problems[:MAX_PROBLEMS]),
        )

    def _entries(self, value: Mapping[object, object], key: str) -> Iterator[tuple[int, Mapping[str, str]]]:
        """The entries of a list that are objects of texts, with their numbers from 1."""
        found = value.get(key)
        if found is None:
            return
        if not isinstance(found, list):
            self._problem(f"`{key}` is no list")
            return
        if len(found) > MAX_ENTRIES:
            self._problem(f"`{key}` has over {MAX_ENTRIES:,} entries; the rest was not read")
        for number, entry in enumerate(found[:MAX_ENTRIES], 1):
            if not isinstance(entry, dict):
                self._problem(f"`{key}` entry {number} is no object")
                continue
            texts = {name: text for name, text in entry.items() if text is not None}
            wrong = [
                name
                for name in ("file", "into", "was", "now", "why")
                if name in texts and (not isinstance(texts[name], str) or len(texts[name]) > LONGEST)
            ]
            missing = [name for name in _NEEDED[key] if not str(texts.get(name, "")).strip()]
            if wrong or missing:
                word = "has no text, or one too long, for" if wrong else "lacks"
                self._problem(f"`{key}` entry {number} {word} {', '.join(wrong or missing)}")
                continue
            yield number, {name: text for name, text in texts.items() if isinstance(text, str)}

    def _problem(self, sentence: str) -> None:
        self.problems.append(f"{NAME}: {sentence}")


def _file(entry: Mapping[str, str]) -> FileReason:
    into = _text(entry, "into")
    return FileReason(file=_path(entry["file"]), into=_path(into) if into else None, why=_text(entry, "why"))


def _line(entry: Mapping[str, str]) -> LineReason:
    return LineReason(
        file=_path(entry["file"]), was=entry["was"], now=_text(entry, "now"), why=_text(entry, "why")
    )


_NEEDED: Mapping[str, tuple[str, ...]] = {"files": ("file",), "lines": ("file", "was")}


def _claim(reason: FileReason) -> tuple[bool, bool, str, str]:
    """How much a reason covers, the least first: where two differ, the one that claims less counts."""
    return reason.into is None, reason.why is not None, reason.into or "", reason.why or ""


def _text(entry: Mapping[str, str], key: str) -> str | None:
    return entry.get(key, "").strip() or None


def _path(file: str) -> str:
    """A file as a snapshot names it. What leads elsewhere stays what it is, and fits none."""
    return posixpath.normpath(file.strip().replace("\\", "/"))
