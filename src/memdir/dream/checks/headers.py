"""Are the topics, as a dream leaves them, in order? Do they say where they come from? (F1-F3, E11) Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from memdir.dream.files import Snapshot
from memdir.dream.plan.provenance import MOST, origins_of
from memdir.memory import encoding, frontmatter, shown
from memdir.memory.frontmatter import Header
from memdir.memory.topic import Topic, parse

FROM_THE_PERSON = frozenset({"user", "feedback"})
NOT_FROM_THEM = frozenset({"project", "reference"})


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a file."""

    code: Literal["lost", "frontmatter", "provenance", "size"]
    reason: str


def faults(
    file: str, before: Snapshot, after: Snapshot, origins: Sequence[str], *, new: bool
) -> Iterator[Fault]:
    """What is wrong with a file that was written anew from others. `new`: it is held to F3."""
    data = after.files[file]
    if not data.strip():
        yield Fault("lost", "it would be left empty; a memory that goes is deleted, with a reason")
        return
    old = {name: before.files[name] for name in origins if name in before.files}
    topic = parse(data, filename=file)
    if new:
        yield from _strict(data, topic)
    else:
        yield from _as_before(topic, parse(old[file], filename=file) if file in old else None)
    yield from _provenance(file, data, topic, old, before, after)
    if any(_bears(name, was) for name, was in old.items()) and not _bears(file, data):
        yield Fault("lost", "nothing but its name and headings would be left of it")
    if all(map(shown.is_whole, old.values())) and not shown.is_whole(data):
        lines, size = shown.size(data)
        most = f"{shown.BODY_LINES} lines and {shown.BODY_BYTES:,} bytes"
        now = f"{lines:,} lines and {size:,} bytes"
        yield Fault("size", f"it would grow to {now}, and recall shows {most} at most")


def _bears(file: str, data: bytes) -> bool:
    """Whether the text of a file says more than its headings."""
    body = parse(data, filename=file).body
    return any(re.search(r"\w", line) and not _HEADING.match(line) for line in body.splitlines())


_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s|\Z)")


# ---------------------------------------------------------------------------------- frontmatter


def _strict(data: bytes, topic: Topic) -> Iterator[Fault]:
    """A new file: what any YAML parser reads alike, all three keys, UTF-8, LF, a final newline (F3)."""
    if topic.fallback:
        yield Fault("frontmatter", "it would have no header with name, description and type")
        return
    for problem in topic.problems[:1]:
        yield Fault("frontmatter", f"line {problem.line} of it: {problem.message}")
    said = _said(data)
    if missing := [one for one in ("name", "description", "type") if not said.get(one)]:
        yield Fault("frontmatter", f"its header would lack {' and '.join(missing)}")
    header = frontmatter.read(encoding.readable(data))
    for entry in header.entries if header else ():
        if entry.key in ("name", "description") and entry.stop - entry.start > 1:
            yield Fault("frontmatter", f"its {entry.key} would take more than one line")
    if b"\r" in data or not data.endswith(b"\n") or data.startswith(encoding.MARK.encode()):
        yield Fault(
            "frontmatter", "a new file has plain line ends, one at its end, and no mark at its beginning"
        )


def _as_before(topic: Topic, was: Topic | None) -> Iterator[Fault]:
    """A file that was there: it lacks nothing that it had, and has no problem that it had not."""
    if was is None:
        return
    if topic.fallback and not was.fallback:
        yield Fault("frontmatter", "its header would not be read any more")
        return
    for one in ("description", "type"):
        if getattr(was, one) and not getattr(topic, one):
            yield Fault("frontmatter", f"its header would lose its {one}")
    if was.type in FROM_THE_PERSON and topic.type in NOT_FROM_THEM:
        yield Fault(
            "provenance", f"it is of type {was.type}, and would not count as the person's own any more"
        )
    known = {problem.message for problem in was.problems}
    for problem in topic.problems:
        if problem.message not in known:
            yield Fault("frontmatter", f"line {problem.line} of it: {problem.message}")
            return


def _said(data: bytes) -> Mapping[str, str | None]:
    """What a header says for the keys that count, in either shape."""
    topic, header = parse(data, filename=""), _header(data)
    name = header.entry("name") if header else None
    return {"name": name.value if name else None, "description": topic.description, "type": topic.type}


def _header(data: bytes) -> Header | None:
    return frontmatter.read(encoding.readable(data))


# ---------------------------------------------------------------------------------- provenance


def _provenance(
    file: str, data: bytes, topic: Topic, old: Mapping[str, bytes], before: Snapshot, after: Snapshot
) -> Iterator[Fault]:
    """Where a memory comes from is all that its sources say of it, and nothing else (E11)."""
    if not old:
        return
    were = [parse(one, filename=name) for name, one in old.items()]
    then = {origin for one in old.values() for origin in origins_of(one)}
    now = set(origins_of(data))
    if not topic.fallback and len(then) <= MOST and not then <= now:
        yield Fault("provenance", "it would not say any more from where all of it comes")
    if not now <= then:
        yield Fault("provenance", "it would say that it comes from elsewhere than its sources do")
    if topic.type in FROM_THE_PERSON and {was.type for was in were} <= NOT_FROM_THEM:
        yield Fault("provenance", f"it would become a memory of type {topic.type}, and its sources are none")
    written = [before.mtimes[name] for name in old if name in before.mtimes]
    if (mtime := after.mtimes.get(file)) is not None and written and mtime > max(written):
        yield Fault("provenance", "it would look younger than its sources are")
