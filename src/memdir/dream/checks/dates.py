"""Dates that no source has: a dream may make a date absolute, and may make none up (D8, M5). Pure.

A date in a line that was written anew must be that of a line that it was made from, or what that line meant
by "yesterday" on the day when its file was written. The day of the dream is none of these: an old memory that
bears it would pass for a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from types import MappingProxyType

from memdir.cues.dates import absolute
from memdir.dream.checks.mentions import Day, Mention, around, days, is_relative, meant, mentions, near
from memdir.dream.checks.quoted import quoted
from memdir.dream.checks.sources import Told
from memdir.dream.files import Snapshot
from memdir.dream.plan.sentences import line_words
from memdir.memory import encoding, frontmatter
from memdir.memory.entrypoint import NAME
from memdir.memory.frontmatter import Entry, Header
from memdir.memory.pointer import entry
from memdir.trust.evidence import Evidence
from memdir.trust.rewritten import Known
from memdir.trust.terms import keys, terms, without_dates

ALIKE = 0.5
"""The share of a line's words that one which it may be made from has to have."""
SAME = 0.7
"""The share from which on it is the same line: its date is not to change."""
LOOSE = timedelta(days=40)
"""How far from its file's day the "last month" of a language that is not understood may lie."""
OURS = frozenset({"modified", "updated", "last_modified", "mtime"})
"""Keys that tell when a file was written to; all others stay."""


@dataclass(frozen=True, kw_only=True)
class Sources:
    """The memories as they were, by line: text -> the days on which its files were written."""

    before: Snapshot
    evidence: Callable[[], Evidence]

    def text(self, file: str) -> str:
        return encoding.readable(self.before.files.get(file, b""))

    def written(self, file: str) -> set[date]:
        """When a file was written to last, and the days that its header gives for that."""
        found = {_day(self.before.mtimes[file])} if file in self.before.mtimes else set()
        header = frontmatter.read(self.text(file))
        for key, value in _values(header.entries) if header else ():
            if key.rpartition(".")[2] in OURS | {"created", "date"}:
                found |= {
                    date(one.year, one.month, one.day)
                    for one in days(value)
                    if one.year and one.month and one.day
                }
        return found

    @cached_property
    def lines(self) -> Mapping[str, set[str]]:
        """Each line that stands somewhere, and the files that have it."""
        found: dict[str, set[str]] = {}
        for file in self.before.files:
            for line in self.text(file).splitlines():
                if line.strip():
                    found.setdefault(line.strip(), set()).update(_owners(file, line))
        return found

    @cached_property
    def known(self) -> Known:
        return Known((line, file) for line, files in self.lines.items() for file in sorted(files))

    @cached_property
    def stated(self) -> frozenset[Day]:
        """All dates that stand in a memory."""
        return frozenset(day for line in self.lines for day in days(line))

    def later(self, file: str, origins: Sequence[str], among: Collection[Day]) -> set[Day]:
        """Those of the days that stand in a memory younger than the file, or were spoken of since."""
        if not among:
            return set()
        own = [self.before.mtimes[one] for one in (file, *origins) if one in self.before.mtimes]
        newer = [one for one, moment in self.before.mtimes.items() if own and moment > own[0]]
        stated = {day for one in newer for day in days(self.text(one))}
        return {day for day in among if day in stated or day in self.heard[0]}

    @cached_property
    def heard(self) -> tuple[frozenset[Day], Mapping[date, str]]:
        """The dates that were spoken of since, and what was said on which day."""
        evidence = self.evidence()
        said_on: Mapping[date, str] = evidence.said_on if isinstance(evidence, Told) else {}
        found = {day for text in (*evidence.person, *evidence.agreed, *evidence.agent) for day in days(text)}
        found |= {day for text in evidence.untrusted for day in days(text)}
        for on, text in said_on.items():
            found |= {Day.of(on)} | meant(text, [on])
        return frozenset(found), said_on


def _owners(file: str, line: str) -> set[str]:
    """The files whose age a line has: an entry of the index is as old as what it is about."""
    pointer = entry(line) if file == NAME else None
    return {pointer.file} if pointer else {file}


@dataclass(frozen=True, slots=True)
class Wrong:
    """A date that does not belong where it stands."""

    file: str
    reason: str


def wrong_dates(
    after: Snapshot,
    made_from: Mapping[str, Sequence[str]],
    sources: Sources,
    *,
    today: date,
    corrected: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Wrong]:
    """The dates that have no source. `made_from`: each file that was written anew, and those it came from;
    `corrected`: lines, in normal form, that stand for others, and why. One may get another date if the why
    names it, and a younger memory or a conversation does.
    """
    for file, origins in made_from.items():
        text = encoding.readable(after.files[file])
        header = frontmatter.read(text)
        if header is not None:
            yield from _in_header(file, header, origins, sources, today)
        for line in (header.body if header else text).splitlines():
            if line.strip() and line.strip() not in sources.lines:
                why = days(corrected.get(line_words(line), ""))
                given = sources.later(file, origins, why - {Day.of(one) for one in around(today)})
                yield from _in_line(file, line.strip(), origins, sources, today, given=given)


def _in_line(
    file: str,
    line: str,
    origins: Sequence[str],
    sources: Sources,
    today: date,
    *,
    given: Collection[Day] = (),
) -> Iterator[Wrong]:
    said = mentions(line)
    alike = _alike(line, sources)
    if not said:
        if _is_put_off(line, alike, today):
            yield Wrong(file, f"{quoted(line)} is dated from today, and its source gave a date")
        return
    allowed, loose = _allowed(line, alike, origins, sources)
    stated = {day for text, share, _ in alike if share >= SAME for day in days(text) if day.is_whole}
    for mention in said:
        if _is_known(mention, {*allowed, *given}, loose):
            continue
        told = _told(mention)
        if is_now := any(day.fits(Day.of(one)) for day in mention if day.is_whole for one in around(today)):
            if _was_said(line, mention, alike, sources):
                continue
        elif not (stated and any(day.is_whole for day in mention)) and (
            any(day.fits(one) for day in mention for one in sources.stated)
            or any(day.fits(one) for day in mention for one in sources.heard[0])
        ):
            continue
        if not any(day.month for day in mention) and not is_now and not _years(alike):
            continue  # a number of four digits, as far as one can tell
        if is_now and any(is_relative(text) for text, share, _ in alike if share >= ALIKE):
            reason = f"{quoted(line)} counts a date from today ({told}); its source is older"
        elif is_now:
            reason = f"{quoted(line)} is dated {told}, as if it were of today; no source of it says so"
        else:
            reason = f"{quoted(line)} is dated {told}, which its sources do not say"
        yield Wrong(file, reason)


_Alike = tuple[str, float, set[str]]


def _alike(line: str, sources: Sources) -> list[_Alike]:
    """The lines that a line may have been made from, the likest first, with their files."""
    return [
        (text, share, sources.lines.get(text, set()))
        for text, share in sources.known.alike(line)
        if share >= ALIKE
    ]


def _allowed(
    line: str, alike: Sequence[_Alike], origins: Sequence[str], sources: Sources
) -> tuple[set[Day], set[date]]:
    """The days that a line may name, and those around which it may name any, "last month" being there.

    All that was stated of it may be named. By what is relative, and by the age of a file, lines of its own
    files go first.
    """
    allowed = {day for text, _, _ in alike for day in days(text)}
    loose: set[date] = set()
    mine = set(origins)
    for text, _, files in [one for one in alike if one[2] & mine] or alike:
        written = {day for file in (files & mine or files) for day in sources.written(file)}
        allowed |= meant(text, written) | {Day.of(near) for day in written for near in around(day)}
        if is_relative(text):
            loose |= written
    if not alike or not terms(without_dates(line)):
        for file in origins:
            written = sources.written(file) if file != NAME else set()
            allowed |= {Day.of(near) for day in written for near in around(day)} | days(sources.text(file))
    return allowed, loose


def _is_known(mention: Mention, allowed: Iterable[Day], loose: Iterable[date]) -> bool:
    return any(day.fits(one) for day in mention for one in allowed) or any(
        near(day, loose, within=LOOSE) for day in mention
    )


def _was_said(line: str, mention: Mention, alike: Sequence[_Alike], sources: Sources) -> bool:
    """Whether something of that day says it: a memory with the date in it, or a conversation."""
    if not alike and any(day.fits(one) for day in mention for one in sources.stated):
        return True
    heard, said_on = sources.heard
    mine = {term.key for term in terms(without_dates(line))}
    for on, text in said_on.items():
        if any(day.fits(one) for day in mention for one in meant(text, [on]) | {Day.of(on)}):
            theirs = keys(text)
            if len([key for key in mine if key in theirs]) >= ALIKE * len(mine):
                return True
    return not alike and not said_on and any(day.fits(one) for day in mention for one in heard)


def _is_put_off(line: str, alike: Sequence[_Alike], today: date) -> bool:
    """Whether a line says "today" where the one it was made from gave a date."""
    if not is_relative(line) or Day.of(today) not in {
        Day.of(one) for one in absolute(line, today=today).days
    }:
        return False
    best = [text for text, share, _ in alike if share >= SAME]
    return bool(best) and not any(is_relative(text) for text in best) and any(map(days, best))


def _years(alike: Sequence[_Alike]) -> bool:
    return any(day.year for text, share, _ in alike if share >= SAME for day in days(text))


def _told(mention: Mention) -> str:
    return " or ".join(sorted(map(str, mention)))


# ---------------------------------------------------------------------------------- headers


def _in_header(
    file: str, header: Header, origins: Sequence[str], sources: Sources, today: date
) -> Iterator[Wrong]:
    """A key with a date keeps it: `created` of a memory that was merged is that of one of its sources."""
    known: set[Day] = set()
    for origin in origins:
        known |= days(sources.text(origin)) | {
            Day.of(near) for day in sources.written(origin) for near in around(day)
        }
    if not origins:
        known = {Day.of(one) for one in around(today)} | set(sources.stated)
    for key, value in _values(header.entries):
        if key in ("name", "description"):
            yield from _in_value(file, value, origins, sources, today)
        elif key.rpartition(".")[2] in OURS:
            if any(
                one.year and (one.year, one.month or 1) > (today.year, today.month + 1) for one in days(value)
            ):
                yield Wrong(file, f"its header says `{key}` of a day that has not come")
        elif "origin" not in key and not all(_is_known(one, known, ()) for one in mentions(value)):
            yield Wrong(file, f"its header gives a date for `{key}` that its sources do not have")


def _in_value(
    file: str, value: str, origins: Sequence[str], sources: Sources, today: date
) -> Iterator[Wrong]:
    if value.strip() and not any(value.strip() in line for line in sources.lines):
        yield from _in_line(file, value.strip(), origins, sources, today)


def _values(entries: Iterable[Entry], above: str = "") -> Iterator[tuple[str, str]]:
    for one in entries:
        if one.value:
            yield above + one.key, one.value
        yield from _values(one.children, f"{above}{one.key}.")


def _day(mtime_ns: int) -> date:
    try:
        return datetime.fromtimestamp(mtime_ns / 1e9, UTC).date()
    except (OverflowError, ValueError, OSError):  # a clock that was far off
        return date(1970, 1, 1)
