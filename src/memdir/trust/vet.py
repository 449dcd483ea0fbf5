"""A proposed change of a memory + the evidence -> held, with a reason, or not (E11). Pure.

vet             a change that was made in a conversation
vet_rewritten   memories that were put in order: only what is new in them, whatever went
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from memdir.trust.evidence import Evidence
from memdir.trust.forgetting import asked_to_forget
from memdir.trust.hidden import hidden_in
from memdir.trust.judging import Judged, judge
from memdir.trust.news import News
from memdir.trust.removal import unspoken
from memdir.trust.rewritten import Question, bearing_on, questions, says_much, spoken
from memdir.trust.stated import short
from memdir.trust.statements import Statement, added, is_index, new_lines, removed, statements
from memdir.trust.subject import Subject

Code = Literal[
    "untrusted",  # its words come from tools, pages, files or pasted text alone
    "carries",  # a link, address, path, package, command or flag that the person did not state
    "permits",  # a permission or relaxation that the person did not state
    "instructs",  # a rule that the person did not state
    "unsupported",  # nothing of it comes from the person
    "hidden",  # characters, comments or encoded text that a reader does not see
    "repeats",  # it says what known memories say already
    "deletes",  # the person did not ask to forget it
    "removes",  # it takes out what the person did not speak of
    "path",  # the file's name leads elsewhere
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """A change of one file. `before` None: it is new; `after` None: it goes."""

    file: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Why a change waits for the person. `reason` is a sentence for them, with a few quoted words at most."""

    code: Code
    reason: str


def vet(proposed: Proposed, evidence: Evidence) -> Held | None:
    """Whether a change may be made as it is (None), or has to wait for the person. Never raises."""
    return next(_objections(proposed, evidence), None)


def _objections(proposed: Proposed, evidence: Evidence) -> Iterator[Held]:
    before, after = proposed.before, proposed.after
    if _LEADS_ELSEWHERE.search(proposed.file):
        yield Held(code="path", reason="the file's name leads out of the memory directory")
    if hidden := hidden_in(proposed.file):
        yield Held(code="hidden", reason=f"the file's name holds {hidden}")
    if after is None or not after.strip():
        if before and before.strip() and not _is_to_go(proposed.file, before, evidence):
            yield Held(code="deletes", reason="you did not ask to forget this memory")
        return
    if hidden := hidden_in(new_lines(before, after)):
        yield Held(code="hidden", reason=f"it holds {hidden}, which a reader does not see")
    yield from _of_added(proposed, after, evidence)
    if before:
        yield from _of_removed(proposed, before, after, evidence)


# ---------------------------------------------------------------------------------- what is new


def _of_added(proposed: Proposed, after: str, evidence: Evidence) -> Iterator[Held]:
    new = added(proposed.file, proposed.before, after)
    news = News.of(proposed.file, proposed.before, after, evidence.known, evidence.injected)
    fresh = [one for one in new if not news.is_old(one)]
    if proposed.before is None and not is_index(proposed.file) and new and not _says_anything(fresh):
        yield Held(code="repeats", reason="it says only what your memories say already")
    lines: set[str] = set()
    judged = []
    for statement in fresh:
        judged.append(judge(statement, evidence, news, line=statement.raw not in lines))
        lines.add(statement.raw)
    for check in _CHECKS:
        for one in judged:
            if held := check(one):
                yield held
    if judged and not _is_supported(judged, evidence):
        yield Held(code="unsupported", reason="nothing in it comes from what you said")


def _says_anything(fresh: Sequence[Statement]) -> bool:
    return any(one.part != "file" for one in fresh)


def _is_supported(judged: Sequence[Judged], evidence: Evidence) -> bool:
    """Whether the change as a whole has the person's words behind it."""
    worth = sum(one.told for one in judged)
    asked = sum(one.asked for one in judged)
    size = sum(one.size for one in judged)
    if not evidence.heard:
        return bool(evidence.said.spoken)
    return worth >= 1.5 or (worth > 0 and (worth >= 0.34 * size or worth + asked >= 0.5 * size))


def _carries(one: Judged) -> Held | None:
    return Held(code="carries", reason=one.carried) if one.carried else None


def _permits(one: Judged) -> Held | None:
    if not one.permits:
        return None
    return Held(
        code="permits",
        reason=f"it permits or relaxes something (“{short(one.permits)}”) that you did not say",
    )


def _untrusted(one: Judged) -> Held | None:
    if not one.tainted:
        return None
    return Held(
        code="untrusted",
        reason=f"“{short(one.tainted)}” comes from a tool, a page or a file, and you did not say it",
    )


def _turned(one: Judged) -> Held | None:
    if not one.turned:
        return None
    return Held(code="unsupported", reason="it turns around what the memory said, and you did not say so")


def _instructs(one: Judged) -> Held | None:
    if not one.instructs:
        return None
    return Held(code="instructs", reason=f"you did not state the rule “{short(one.instructs)}”")


_CHECKS: tuple[Callable[[Judged], Held | None], ...] = (_carries, _permits, _untrusted, _turned, _instructs)


# ---------------------------------------------------------------------------------- what goes


def _is_to_go(file: str, text: str, evidence: Evidence) -> bool:
    return asked_to_forget(Subject.of_memory(file, text), evidence)


def _of_removed(proposed: Proposed, before: str, after: str, evidence: Evidence) -> Iterator[Held]:
    after = _STRUCK.sub("", after)
    gone = removed(proposed.file, _STRUCK.sub("", before), after)
    if not gone:
        return
    for one in unspoken(gone, statements(proposed.file, after), evidence):
        yield Held(code="removes", reason=f"it takes out “{short(one.text)}”, of which you did not speak")


_STRUCK = re.compile(r"~~(?=\S)[^~]+~~")
_LEADS_ELSEWHERE = re.compile(r"(?:\A|[/\\])\.|\A[/\\~]|\A[A-Za-z]:|[\x00-\x1f]|\$\{?\w")


# ---------------------------------------------------------------------------------- memories put in order


def vet_rewritten(
    written: Mapping[str, str],
    *,
    sources: Mapping[str, str],
    vouched: Mapping[str, str],
    origins: Mapping[str, Collection[str]],
    evidence: Callable[[], Evidence] | None,
) -> Iterator[tuple[str, Held]]:
    """What is new in memories that were written anew, and has no source: the file, and why. Never raises.

    `sources`: all memories as they were; `vouched`: the memories as they would be, which the index may speak
    of; `origins`: the files of which each was made, if not of itself. `evidence`, what was said since, is
    asked for only if something is new that the memories do not bear out. What goes, and what is said twice,
    is not looked at.
    """
    lines = "\n".join(sources.values())
    for file, text in written.items():
        if hidden := hidden_in(file):
            yield file, Held(code="hidden", reason=f"the file's name holds {hidden}")
        if _LEADS_ELSEWHERE.search(file):
            yield file, Held(code="path", reason="the file's name leads out of the memory directory")
        if hidden := hidden_in(new_lines(lines, text)):
            yield file, Held(code="hidden", reason=f"it holds {hidden}, which a reader does not see")
    asked = list(questions(written, sources=sources, vouched=vouched, origins=origins))
    if not asked:
        return
    heard = bearing_on(asked, evidence() if evidence is not None else Evidence())
    said = spoken(heard)
    for question in asked:
        file = question.file
        news = News.of(file, sources.get(file), written[file], (), ())
        judged = judge(question.statement, heard, news)
        held = next((held for look in (_carries, _permits, _untrusted) if (held := look(judged))), None)
        if held is None and not said.bears_out(question.statement.text, order=question.is_order):
            held = _unsourced(question, judged)
        if held is not None:
            yield file, held


def _unsourced(question: Question, judged: Judged) -> Held | None:
    """An order that is nobody's, or a statement of which hardly a word is somebody's."""
    text = question.statement.text
    if question.is_order:
        return Held(code="instructs", reason=f"nobody stated the rule “{short(text)}”")
    said = max(judged.told + judged.asked, question.known * judged.size)
    if says_much(text) and said < LEAST_KNOWN * judged.size:
        return Held(code="unsupported", reason=f"“{short(text)}” stands in no memory, and nobody said it")
    return None


LEAST_KNOWN = 0.25
"""The share of a statement's words that somebody has to have used."""
