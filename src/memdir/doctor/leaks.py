"""Secrets in files, and in forgotten memories, which are on the disk still (E10). No value goes anywhere."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from memdir.doctor.finding import Finding
from memdir.doctor.survey import Survey
from memdir.dream.lock import LOCK
from memdir.errors import MemdirError
from memdir.memory import encoding, frontmatter, leaks
from memdir.memory.frontmatter import LINE
from memdir.memory.index_lines import counting
from memdir.memory.manifest import visible
from memdir.memory.pointer import entry
from memdir.secrets import ALLOWED, allowed_lines, scan


def secrets(survey: Survey) -> Iterator[Finding]:
    """Secrets in files; and, as notes, those on lines that are marked as harmless."""
    for thing in survey.things:
        if thing.data and thing.path != LOCK:  # which holds a random word of ours
            yield from _in_file(thing.path, encoding.readable(thing.data))


def trash(survey: Survey) -> Iterator[Finding]:
    """Secrets in the trash."""
    bin_ = survey.memory.trash
    for thrown in bin_.entries():
        try:
            data = bin_.data(thrown)
        except (MemdirError, OSError):
            continue
        for line, rule, preview in _secrets(encoding.readable(data)):
            yield Finding(
                file=leaks.called(thrown.file),
                line=line,
                kind="secret",
                rule=rule,
                reason=f"it is in the trash, and holds what looks like a secret: {rule}, {preview}",
                cure=f"remove {bin_.folder / thrown.id}.md and .json, and change the secret where it is used",
            )


def _in_file(path: str, text: str) -> Iterator[Finding]:
    for line, rule, preview in _secrets(text):
        yield Finding(
            file=leaks.called(path),
            line=line,
            kind="secret",
            rule=rule,
            reason=f"it holds what looks like a secret: {rule}, {preview}",
            cure="take it out, and change it where it is used, for it has been on the disk; if it is none, "
            f"put <!-- {ALLOWED} --> at the end of the line",
        )
    marked = allowed_lines(text)
    for line, rule in sorted({(one.line(text), one.rule) for one in scan(text)} if marked else ()):
        if line in marked:
            yield Finding(
                file=leaks.called(path),
                line=line,
                kind="marked",
                rule=rule,
                reason=f"marked as harmless: {rule}",
                cure="take the mark out if you did not put it there",
            )


def _secrets(text: str) -> list[tuple[int, str, str]]:
    """Line, rule and preview of each secret, in the text and in what readers see of it.

    A line that the person marked has none: who is no person can't write the mark (`memory.leaks`).
    """
    found = dict[tuple[int, str], str]()
    for view in dict.fromkeys((text, visible(text))):
        if ones := scan(view, honour_marker=True):
            starts = [line.start() for line in LINE.finditer(view)]
            for one in ones:
                found.setdefault((bisect_right(starts, one.start), one.rule), one.preview)
    told = {line for line, _ in found} | allowed_lines(text)
    for lines, value in _values(text):
        if told.isdisjoint(lines):
            found |= {(lines.start, one.rule): one.preview for one in scan(value)}
    return sorted((line, rule, preview) for (line, rule), preview in found.items())


def _values(text: str) -> Iterator[tuple[range, str]]:
    """Keys with their values, and the parts of index entries, which stand otherwise in the text, for the
    escapes in it; each with its lines.
    """
    header = frontmatter.read(text)
    waiting = list(header.entries) if header else []
    while waiting:
        one = waiting.pop()
        waiting += one.children
        if one.key not in text or (one.value or "") not in text:
            yield range(one.start + 2, one.stop + 2), f"{one.key}: {one.value or ''}"
    for line in counting(text):
        if line.plain and (pointer := entry(line.text)):
            parts = [part for part in (pointer.title, pointer.file, pointer.hook) if part not in line.text]
            if parts:
                yield range(line.number + 1, line.number + 2), "\n".join(parts)
