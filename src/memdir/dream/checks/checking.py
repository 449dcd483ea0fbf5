"""A plan of a dream -> what speaks against carrying it out (D8). Pure.

    lost         a line that is gone, and nobody says why        budget       too much at once
    frontmatter  a header that is worse than it was              index        incomplete, or over its limits
    dates        a date that no source has                       secret       in a memory, a name, a reason
    instructs    something new that is nobody's                  provenance   it hides where it is from
    reasons      reasons that give none, or can't be read        size         too long to be recalled whole
    probe        recall would not bring what it should        history      it could not be undone

The last two are not found here: `run` adds them, which asks recall and the history.

A plan with an objection waits for the person. So a false one costs them a look, and a missing one a memory.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import pairwise
from typing import Literal

from memdir.dream.checks import headers as check_headers
from memdir.dream.checks import index as check_index
from memdir.dream.checks import names as check_names
from memdir.dream.checks.dates import Sources, wrong_dates
from memdir.dream.checks.quoted import named, quoted
from memdir.dream.files import Snapshot
from memdir.dream.plan import Gone, Plan
from memdir.dream.plan.facts import same_words
from memdir.dream.plan.provenance import KEY as ORIGINS
from memdir.dream.plan.reasons import Reasons
from memdir.dream.plan.sentences import line_words
from memdir.dream.plan.standing import voids
from memdir.errors import MarkAdded, SecretFound
from memdir.memory import encoding, frontmatter, leaks
from memdir.memory.entrypoint import NAME
from memdir.memory.words import words
from memdir.names import is_topic
from memdir.secrets import scan
from memdir.trust.evidence import Evidence
from memdir.trust.vet import vet_rewritten

Code = Literal[
    "lost", "budget", "frontmatter", "index", "dates", "secret", "instructs", "provenance", "reasons", "size",
    "probe", "history",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Objection:
    """Why a plan waits for the person. `reason`: a sentence for them, with a few quoted words at most."""

    code: Code
    file: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a dream may take out: shares of the topic files, and of their fact-bearing lines (D8)."""

    files: float = 0.25
    lines: float = 0.30


def check(
    before: Snapshot,
    after: Snapshot,
    plan: Plan,
    *,
    limits: Limits,
    today: date,
    evidence: Callable[[], Evidence] | None,
    reasons: Reasons | None = None,
) -> tuple[Objection, ...]:
    """What speaks against a plan; nothing: it may be carried out.

    `after` has its provenance settled. `evidence`, what was said since, is asked for at most once, and only
    if something new stands in a memory that no memory bears out. `reasons`: what could not be read of them is
    told, if lines are lost.
    """
    made = _made_from(before, after, plan)
    heard = cache(evidence) if evidence is not None else None
    found = [
        *_lost(plan),
        *_budget(plan, limits),
        *_reasons(plan, reasons),
        *_names(before, after),
        *_voided(before, after, made),
        *_reordered(before, after, made),
        *_secrets(before, after, plan),
        *_headers(before, after, plan, made),
        *_index(before, after),
        *_dates(before, after, made, heard, today, plan),
        *_new(before, after, made, heard),
    ]
    told = {one.file for one in found if one.code == "instructs"}
    found += [one for one in _called(before, after, made) if one.file not in told]
    return tuple(dict.fromkeys(found))


# ---------------------------------------------------------------------------------- what goes


def _lost(plan: Plan) -> Iterator[Objection]:
    """Lines that are gone, and nobody says why."""
    lost: dict[str, list[Gone]] = {}
    for line in plan.lines:
        if line.fate == "lost":
            lost.setdefault(line.file, []).append(line)
    for file, gone in lost.items():
        what = f"{quoted(gone[0].text)} is" if len(gone) == 1 else f"{len(gone)} lines are"
        first = "" if len(gone) == 1 else f", the first {quoted(gone[0].text)}"
        yield Objection(code="lost", file=file, reason=f"{what} gone without a reason{first}")


def _budget(plan: Plan, limits: Limits) -> Iterator[Objection]:
    """Too much at once. Equality passes; one file, and its lines, may go where a share would round to none,
    unless the limit is 0; all of them never.
    """
    removed, given_up = len(plan.removed), plan.given_up
    most = at_most(limits.files, plan.topics)
    if removed > most:
        share = f"{removed} of {plan.topics} memories would go"
        yield Objection(code="budget", file=None, reason=f"{share}; a dream may take out {most}")
    lines = at_most(limits.lines, plan.facts)
    if most >= 1 > limits.files * plan.topics and limits.lines and removed:
        file = plan.removed[0]
        own = sum(one.file == file and one.fate in ("dropped", "lost") for one in plan.lines)
        lines = max(lines, min(own, plan.facts // 2))
    if given_up > lines:
        share = f"{given_up} of {plan.facts} lines would go"
        yield Objection(code="budget", file=None, reason=f"{share}; a dream may take out {lines}")


def at_most(share: float, there: int) -> int:
    """How many of so many may go: one at least, unless the share is 0, and never all."""
    if not share or there < 2:
        return 0
    return min(max(int(share * there + 1e-9), 1), there - 1)


def _reasons(plan: Plan, reasons: Reasons | None) -> Iterator[Objection]:
    """Reasons that give none: nothing, one word again and again, the line itself."""
    if reasons is not None and reasons.problems and any(one.fate == "lost" for one in plan.lines):
        yield Objection(code="reasons", file=None, reason=reasons.problems[0])
    said: dict[str, tuple[Gone, int]] = {}
    for line in plan.lines:
        if line.fate == "dropped" and not says_something(line.why, of=line.text):
            said[line.file] = (line, said.get(line.file, (line, 0))[1] + 1)
    for file, (line, times) in said.items():
        what = quoted(line.text) if times == 1 else f"{times} lines"
        yield Objection(code="reasons", file=file, reason=f"the reason why {what} would go says nothing")


def says_something(why: str | None, *, of: str = "") -> bool:
    """Whether a reason is one: two words at least that say something, and not those of the line itself."""
    if not why or same_words(why) == same_words(of):
        return False
    told = set(words(why))
    if any(not word.isascii() and len(word) > 1 for word in told):
        return len(re.findall(r"[^\W_]", why)) >= 4 and len(set(why)) >= 4
    real = {word for word in re.findall(r"[^\W_]+", why.casefold()) if word not in _EMPTY}
    return len(real) >= 2


_EMPTY = frozenset(
    {"a", "an", "and", "are", "as", "be", "because", "been", "for", "grund", "has", "have", "in", "is", "it",
     "its", "n", "na", "no", "none", "not", "of", "on", "or", "porque", "reason", "so", "tbd", "test", "that",
     "the", "this", "to", "todo", "was", "weil", "were", "why", "xxx", "yes"}
)  # fmt: skip


# ---------------------------------------------------------------------------------- what stands there then


def _made_from(before: Snapshot, after: Snapshot, plan: Plan) -> Mapping[str, tuple[str, ...]]:
    """Each file, also the index, that was written anew -> the files that it was made from."""
    origins: dict[str, dict[str, None]] = {}
    for file, data in after.files.items():
        if before.files.get(file) != data:
            origins[file] = {file: None} if file in before.files else {}
    for change in plan.changes:
        if change.into in origins and change.file in before.files:
            origins[change.into][change.file] = None
    for line in plan.lines:
        if line.to in origins and line.file in before.files and line.file != NAME:
            origins[line.to][line.file] = None
    return {file: tuple(names) for file, names in origins.items()}


def _names(before: Snapshot, after: Snapshot) -> Iterator[Objection]:
    """Files that a dream may not make: others than memories, and such as some disks take for another one."""
    alike: dict[str, str] = {}
    for file in sorted(after.files, key=lambda file: (file not in before.files, file)):
        if file not in before.files and file.rpartition("/")[2].casefold() in _READ_BY_OTHERS:
            why = f"{named(file)} is what other programs take for their instructions"
            yield Objection(code="instructs", file=file, reason=why)
        if file != NAME and not is_topic(file):
            yield Objection(code="index", file=file, reason=f"{named(file)} is no name of a memory")
        folded = unicodedata.normalize("NFC", file).casefold()
        if folded in alike and file not in before.files:
            where = f"{named(alike[folded])} and {named(file)} are one file on some disks"
            yield Objection(code="lost", file=file, reason=where)
        alike.setdefault(folded, file)


_READ_BY_OTHERS = frozenset({"claude.md", "claude.local.md", "agents.md", "gemini.md", "skill.md"})


def _voided(before: Snapshot, after: Snapshot, made: Mapping[str, Sequence[str]]) -> Iterator[Objection]:
    """New lines that say of a whole file that it does not hold: they take back what is still there."""
    known = {line.strip() for data in before.files.values() for line in encoding.readable(data).splitlines()}
    for file in made:
        lines = dict.fromkeys(map(str.strip, encoding.readable(after.files[file]).splitlines()))
        for line in (line for line in lines if line not in known and voids(line)):
            yield Objection(code="lost", file=file, reason=f"{quoted(line)} would take back all beside it")


def _reordered(before: Snapshot, after: Snapshot, made: Mapping[str, Sequence[str]]) -> Iterator[Objection]:
    """Steps and lines of code that change places: all of them are still there, and do another thing."""
    for file, origins in made.items():
        lines = [line.strip() for line in encoding.readable(after.files[file]).splitlines()]
        bare = [_STEP.sub("", line) for line in lines]
        times = Counter(bare)
        at = {line: number for number, line in enumerate(bare) if times[line] == 1}
        for origin in origins:
            for row in _rows(encoding.readable(before.files[origin])):
                own = Counter(row)
                places = [(at[line], line) for line in row if line in at and own[line] == 1]
                if turned := next((two for one, two in pairwise(places) if two[0] < one[0]), None):
                    yield Objection(
                        code="lost",
                        file=file,
                        reason=f"{quoted(turned[1])} would come before what it follows",
                    )


def _rows(text: str) -> Iterator[list[str]]:
    """The lines that have an order: numbered ones, those of a block of code."""
    row, fence = list[str](), ""
    for line in (line.strip() for line in text.splitlines()):
        mark = line[:3] if line.startswith(("```", "~~~")) else ""
        if mark and (not fence or fence == mark):
            fence = "" if fence else mark
        elif fence or _STEP.match(line):
            row.append(line if fence else _STEP.sub("", line))
            continue
        elif line and not line.startswith(("-", "*", "+", ">")):
            pass
        else:
            continue
        if row:
            yield row
        row = []
    yield row


_STEP = re.compile(r"\A\d{1,3}[.)]\s+")


def _secrets(before: Snapshot, after: Snapshot, plan: Plan) -> Iterator[Objection]:
    """Secrets where none stood: in a memory, in a name, in what we would show of the reasons (E10)."""
    for file, data in after.files.items():
        was = before.files.get(file)
        if was == data:
            continue
        try:
            if was is None:
                leaks.refuse_name(file, below=())
            leaks.refuse(encoding.readable(data), encoding.readable(was or b""), name=file)
        except SecretFound:
            yield Objection(
                code="secret", file=named(file), reason="a secret would stand in it that did not before"
            )
        except MarkAdded:
            yield Objection(
                code="secret", file=named(file), reason="it would allow a secret, which only you may"
            )
    told = [text for one in plan.changes for text in (one.why, one.into) if text]
    told += [text for one in plan.lines for text in (one.why, one.now) if text]
    if any(map(scan, dict.fromkeys(told))):
        yield Objection(
            code="secret", file=None, reason="a secret stands in the reasons that the dream gives"
        )


def _headers(
    before: Snapshot, after: Snapshot, plan: Plan, made: Mapping[str, Sequence[str]]
) -> Iterator[Objection]:
    """What is wrong with a file by itself."""
    renamed = {change.into for change in plan.changes if change.action == "renamed"}
    for file, origins in made.items():
        if file == NAME or not is_topic(file):
            continue
        new = file not in before.files and file not in renamed
        for fault in check_headers.faults(file, before, after, origins, new=new):
            yield Objection(code=fault.code, file=file, reason=fault.reason)


def _index(before: Snapshot, after: Snapshot) -> Iterator[Objection]:
    for fault in check_index.faults(before, after):
        yield Objection(code="index", file=NAME, reason=fault.reason)


def _called(before: Snapshot, after: Snapshot, made: Mapping[str, Sequence[str]]) -> Iterator[Objection]:
    """What memories would be called, and don't say."""
    for fault in check_names.faults(before, after, made):
        code: Code = "index" if fault.file == NAME else "frontmatter"
        yield Objection(code=code, file=fault.file, reason=_shown(fault.reason))


def _dates(
    before: Snapshot,
    after: Snapshot,
    made: Mapping[str, Sequence[str]],
    evidence: Callable[[], Evidence] | None,
    today: date,
    plan: Plan,
) -> Iterator[Objection]:
    corrected = {line_words(one.now): one.why for one in plan.lines if one.now and one.why}
    sources = Sources(before=before, evidence=evidence or Evidence)
    for wrong in wrong_dates(after, made, sources, today=today, corrected=corrected):
        yield Objection(code="dates", file=wrong.file, reason=wrong.reason)


def _new(
    before: Snapshot,
    after: Snapshot,
    made: Mapping[str, Sequence[str]],
    evidence: Callable[[], Evidence] | None,
) -> Iterator[Objection]:
    """What is new, and stands in no source (E11)."""
    texts = {file: _text(data) for file, data in before.files.items()}
    written = {file: _text(after.files[file]) for file in made}
    vouched = {file: _text(data) for file, data in after.files.items() if file != NAME}
    for file, held in vet_rewritten(written, sources=texts, vouched=vouched, origins=made, evidence=evidence):
        code: Code = "lost" if held.code == "path" else "instructs"
        yield Objection(code=code, file=named(file), reason=_shown(held.reason))


def _text(data: bytes) -> str:
    """A memory without the list of its origins, which `provenance` writes."""
    text = encoding.readable(data)
    header = frontmatter.read(text)
    for entry in header.entries if header else ():
        for one in (entry, *entry.children):
            if header is not None and one.key == ORIGINS:
                return header.with_lines(one.start, one.stop, [])
    return text


def _shown(reason: str) -> str:
    return "something new stands in it that has no source" if scan(reason) else reason
