"""The index: topics that it does not name, entries that lead nowhere, more than is loaded (F6, F7)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import PurePosixPath

from memdir.doctor.finding import Finding, Kind, finding
from memdir.doctor.layouts import is_foreign
from memdir.doctor.survey import Survey, is_whole
from memdir.memory import encoding, entrypoint, index_mending, leaks
from memdir.memory.index_lines import counting
from memdir.memory.index_mending import Fault, Listed
from memdir.memory.pointer import entry
from memdir.names import INDEX, is_topic

_KINDS: dict[index_mending.Kind, Kind] = {
    "orphan": "orphan",
    "dead": "dead pointer",
    "twice": "entry",
    "long": "entry",
    "limit": "index",
}
_FIXES: dict[index_mending.Kind, str] = {
    "orphan": "adds an entry",
    "dead": "takes the entry out",
    "twice": "takes the second one out",
    "long": "shortens it",
    "limit": "shortens entries, and takes out what says no more than its topic",
}


def index(survey: Survey) -> Iterator[Finding]:
    """What is wrong with the index, and which of it rules can mend."""
    if survey.index is None:  # told among the files
        return
    text = encoding.readable(survey.index)
    topics, besides = listed(survey), beside(survey)
    found = index_mending.faults(text, topics, besides=besides)
    left = _after(survey, text, topics, besides) if found else frozenset()
    for one in found:
        yield _finding(text, one, mends=(one.kind, one.file) not in left)
    yield from _nowhere(survey, text)


def seen(survey: Survey) -> Iterator[Finding]:
    """The same, without asking what could be mended, which takes longer."""
    if survey.index is not None:
        text = encoding.readable(survey.index)
        for one in index_mending.faults(text, listed(survey), besides=beside(survey)):
            yield _finding(text, one, mends=False)
        yield from _nowhere(survey, text)


def listed(survey: Survey) -> list[Listed]:
    """The topics as the index should know them."""
    return [
        index_mending.listed(file, thing.data or b"", thing.status.st_mtime_ns)
        for file, thing in survey.topics.items()
        if not is_foreign(thing)
    ]


def beside(survey: Survey) -> frozenset[str]:
    """What entries may lead to besides: links, other programs' files, and what can't be read or looked at."""
    there = {
        thing.path
        for thing in survey.things
        if not thing.is_folder and (thing.path not in survey.topics or is_foreign(thing))
    }
    text = encoding.readable(survey.index or b"")
    files = {pointer.file for pointer in entrypoint.pointers(text)}
    return frozenset(there | {file for file in files - survey.topics.keys() if _may_be_there(survey, file)})


def _may_be_there(survey: Survey, file: str) -> bool:
    """Whether something has that name, or it is not known whether: in a folder that is closed to us."""
    place = survey.root / file
    return (os.path.lexists(place) and not os.path.isdir(place)) or any(  # noqa: PTH112 - never raises
        thing.error is not None
        for above in PurePosixPath(file).parents
        if (thing := survey.by_path.get(str(above)))
    )


def _nowhere(survey: Survey, text: str) -> Iterator[Finding]:
    """Entries for what is no memory, such as a log, that lead to nothing."""
    for line in counting(text):
        pointer = entry(line.text) if line.plain else None
        if pointer and not is_topic(pointer.file) and not _may_be_there(survey, pointer.file):
            reason = f"it points to {leaks.called(pointer.file)}, which is not there"
            yield finding(INDEX, "dead pointer", reason, "take the line out", line=line.number + 1)


def _finding(text: str, fault: Fault, *, mends: bool) -> Finding:
    reason = fault.reason
    if fault.kind == "limit" and (loaded := entrypoint.load(text)).invisible:
        reason += f" ({entrypoint.named(loaded)})"
    return finding(
        fault.file if fault.kind == "orphan" else INDEX,
        _KINDS[fault.kind],
        reason,
        fault.cure,
        line=fault.line,
        fix=_FIXES[fault.kind] if mends else None,
    )


def _after(
    survey: Survey, text: str, topics: list[Listed], besides: frozenset[str]
) -> frozenset[tuple[index_mending.Kind, str]]:
    """What is wrong with it still once it is mended: of which kind, about which file."""
    if is_whole(survey.index or b""):
        text = index_mending.mended(text, topics, besides=besides).text
    return frozenset((one.kind, one.file) for one in index_mending.faults(text, topics, besides=besides))
