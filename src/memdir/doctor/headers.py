"""The headers of topic files: what can't be read as it was meant, and what is missing (F1, F2)."""

from __future__ import annotations

from collections.abc import Iterator

from memdir.doctor import filling
from memdir.doctor.finding import Finding, finding
from memdir.doctor.layouts import is_foreign
from memdir.doctor.survey import Survey
from memdir.memory import encoding, topic


def headers(survey: Survey) -> Iterator[Finding]:
    """What is wrong with a header, line by line; and, all in one, what it lacks."""
    for file, thing in survey.topics.items():
        if not is_foreign(thing):
            yield from _of(file, thing.data or b"")


def _of(file: str, data: bytes) -> Iterator[Finding]:
    read = topic.parse(data, filename=filling.NO_NAME)
    of_text = topic.parse(encoding.readable(data), filename=file).problems if read.problems else ()
    for problem in read.problems:
        if problem in of_text:
            cure = "mend it by hand, `memdir edit` opens it"
            yield finding(file, "frontmatter", problem.message, cure, line=problem.line)
        else:
            yield finding(file, "unreadable", problem.message, "save it as UTF-8", line=problem.line)
    lacking = filling.lacking(read)
    if not lacking or (read.fallback and of_text):
        return
    what = " and ".join(lacking)
    reason, cure = f"the header has no {what}", f"add {what} to it"
    if read.fallback:
        reason = "there is no header, so nothing says what it is about"
        cure = f"put {what} between two lines of --- at its beginning"
    added = filling.added(file, data)
    fix = f"adds {' and '.join(added)}" if added else None
    yield finding(file, "frontmatter", reason, cure, fix=fix)
