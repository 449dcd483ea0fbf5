"""Before, after, and the model's reasons -> what becomes of each file, and of each line that went (D8). Pure.

A line is `moved` where it provably stands elsewhere; `reworded` where dream.json says so, the new words stand
there, and say the same; `dropped` where dream.json names it with a why; and `lost` if none of that holds.
Nothing that dream.json says is believed but a why.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Literal

from memdir.dream.files import Snapshot
from memdir.dream.plan.blocks import says_something
from memdir.dream.plan.page import Page, quoted, read
from memdir.dream.plan.reasons import LineReason, Reasons
from memdir.dream.plan.reworded import keeps, says_the_same, tells_all
from memdir.dream.plan.sentences import line_words
from memdir.dream.plan.standing import Fact, Standing, facts_of
from memdir.errors import UsageError
from memdir.memory import topic
from memdir.memory.pointer import key
from memdir.names import INDEX
from memdir.trust.terms import folded, runs

Action = Literal["created", "rewritten", "merged", "renamed", "deleted"]
Fate = Literal["moved", "reworded", "dropped", "lost"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What becomes of a topic file. `into`: of one that was merged or renamed, where it went."""

    file: str
    action: Action
    into: str | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """A line that does not stand in its file any more. `to`: the file where it stands now; `now`: how."""

    file: str
    text: str
    fate: Fate
    to: str | None = None
    now: str | None = None
    why: str | None = None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a dream would do. `topics`, `facts`: how many files and fact-bearing lines there were before.

    `needs`: a file, and those without which it must not be changed, since lines of it went there.
    """

    changes: tuple[Change, ...] = ()
    lines: tuple[Gone, ...] = ()
    index_changed: bool = False
    topics: int = 0
    facts: int = 0
    needs: Mapping[str, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))
    removed: tuple[str, ...] = ()
    """The files that count against the loss budget: those that are deleted; merged, and a line of theirs is
    dropped or lost (but for the description of a file that was merged with a why); or rewritten, and more
    than half of their lines are."""

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The topic files that it changes, by name: also those it makes, and those it takes away."""
        return tuple(sorted({change.file for change in self.changes}))

    @property
    def given_up(self) -> int:
        """How many lines are dropped or lost; also those of which a figure or a name is gone, whatever the
        why says of it: else a dream could turn around each number there is.
        """
        return sum(
            line.fate in ("dropped", "lost")
            or (line.fate == "reworded" and not tells_all(line.text, line.now or ""))
            for line in self.lines
        )

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.changes and not self.lines and not self.index_changed


def derive(before: Snapshot, after: Snapshot, reasons: Reasons) -> Plan:
    """The plan that leads from `before` to `after`, each line that went accounted for, or lost."""
    return _Deriving(before, after, reasons).plan()


def _unstamped(data: bytes) -> bytes:
    """A memory without when it was written and where it came from, which no plan is about."""
    with suppress(UsageError):
        return topic.edit(data, dict.fromkeys(_STAMPS))
    return data


_STAMPS = tuple(name for name in topic.KEYS if name == "modified" or name.startswith("origin."))


class _Deriving:
    """One comparison of two snapshots."""

    def __init__(self, before: Snapshot, after: Snapshot, reasons: Reasons) -> None:
        self.before, self.after, self.reasons = before, after, reasons
        self.old = {file: read(file, before.files[file]) for file in before.topics}
        if before.index:
            self.old[INDEX] = read(INDEX, before.index)
        self.changed = {
            file: read(file, after.files[file])
            for file in sorted({*after.topics, *([INDEX] if after.index else [])})
            if before.files.get(file) != after.files.get(file)
        }
        self.gone_files = [file for file in before.topics if file not in after.files]
        self.lines_of: dict[str, list[LineReason]] = defaultdict(list)
        for line in sorted(reasons.lines, key=_order):
            self.lines_of[line.file].append(line)
        self.others: dict[str, set[str]] = defaultdict(set)
        """Files that were given lines of a file in other words."""

    def plan(self) -> Plan:
        """All of it."""
        facts = sum(len(page.facts) for page in self.old.values())
        if all(self._is_same(file) for file in {*self.old, *self.changed}):
            return Plan(topics=len(self.before.topics), facts=facts)
        self.now = Standing(self._pages_after(), self.known)
        missing = self._missing()
        fates = self._fates(missing)
        gone = [fate for _, fate in fates]
        changes = self._changes(gone)
        return Plan(
            changes=tuple(changes),
            lines=tuple(gone),
            index_changed=self.before.index != self.after.index,
            topics=len(self.before.topics),
            facts=facts,
            needs=self._needs(fates, changes),
            removed=self._removed(fates, changes),
        )

    def _pages_after(self) -> dict[str, Page]:
        """The pages of `after`. Of new files that a disk may take for one, only the first is sure to last."""
        pages = {file: page for file, page in self.old.items() if self._is_same(file)} | self.changed
        taken: set[str] = {key(file).casefold() for file in self.old if file in pages}
        for file in sorted(self.changed):
            if file in self.old:
                continue
            name = key(file).casefold()
            if name in taken:
                del pages[file]
            taken.add(name)
        return pages

    def _missing(self) -> list[Fact]:
        """The lines that do not stand in their file any more."""
        return [
            fact
            for file, page in self.old.items()
            if not self._is_same(file)
            for fact in facts_of(page)
            if not self.now.in_file(fact, file)
        ]

    def _is_same(self, file: str) -> bool:
        return self.before.files.get(file, b"") == self.after.files.get(file, b"") and (
            file == INDEX or (file in self.before.files) == (file in self.after.files)
        )

    @cached_property
    def known(self) -> frozenset[str]:
        """The sentences and names that there were."""
        return frozenset(
            text
            for page in self.old.values()
            for text in (*(unit.text for unit in page.fine), *(unit.text for unit in page.coarse), page.name)
        )

    @cached_property
    def then(self) -> Standing:
        """What stood where before."""
        return Standing(self.old, self.known)

    # -- what became of a line

    def _fates(self, missing: Sequence[Fact]) -> list[tuple[Fact, Gone]]:
        fates = [self._stands_elsewhere(fact) or self._told(fact) or _lost(fact) for fact in missing]
        self._follow_links(missing, fates)
        self._follow_rewordings(missing, fates)
        kept = {
            fact.file
            for fact, fate in zip(missing, fates, strict=True)
            if fate.fate in ("moved", "reworded") and _is_body(fact)
        }
        for number, fact in enumerate(missing):
            if fates[number].fate == "lost":
                fates[number] = self._told_of_file(fact, has_moved=fact.file in kept) or fates[number]
        return list(zip(missing, fates, strict=True))

    def _stands_elsewhere(self, fact: Fact, *, own: bool = False) -> Gone | None:
        files = [file for file in self.now.files(fact) if own or file != fact.file]
        if not files:
            return None
        return Gone(file=fact.file, text=fact.text, fate="moved", to=self._likeliest(fact.file, files))

    def _likeliest(self, file: str, candidates: Iterable[str]) -> str:
        """Of several places the one that dream.json speaks of, then one that was there before."""
        said = self.reasons.files.get(file)
        return min(
            candidates, key=lambda one: (said is None or said.into != one, one not in self.before.files, one)
        )

    def _told(self, fact: Fact) -> Gone | None:
        """What dream.json says of a line, as far as it holds. Each sentence that went has to be named."""
        left = {text for text in fact.fine if not self.now.has_part(fact, text)} or set(fact.fine)
        used: list[tuple[LineReason, str | None]] = []
        for line in self.lines_of.get(fact.file, ()):
            covered = _covered(line.was, fact, left)
            if not covered:
                continue
            to = self._where(fact, line.now) if line.now else None
            if line.now and to is None:
                continue  # it says that something stands there, and that is not so
            if line.now and _is_reworded(fact, line.was, line.now, line.why or ""):
                used.append((line, to))
            elif _is_reason(line.why):
                used.append((line, None))
            else:
                continue
            left -= covered
            if not left:
                return self._as_told(fact, used)
        return None

    def _as_told(self, fact: Fact, used: Sequence[tuple[LineReason, str | None]]) -> Gone:
        self.others[fact.file] |= {to for _, to in used if to is not None and not self._stood(used, to)}
        dropped = next((line for line, to in used if to is None), None)
        if dropped is not None:
            return Gone(file=fact.file, text=fact.text, fate="dropped", why=dropped.why)
        line, to = used[0]
        return Gone(file=fact.file, text=fact.text, fate="reworded", to=to, now=line.now, why=line.why)

    def _stood(self, used: Sequence[tuple[LineReason, str | None]], to: str) -> bool:
        """Whether all that was put in the place of a line stood in that file before."""
        return all(
            any(to in self.then.quotes(units, turned=True) for units in quoted(line.now or ""))
            for line, file in used
            if file == to
        )

    def _where(self, fact: Fact, now: str) -> str | None:
        """The file in which a text stands that dream.json says is there now."""
        files = [file for units in quoted(now) for file in self.now.quotes(units, turned=fact.block.turned)]
        if fact.file in files:
            return fact.file
        return self._likeliest(fact.file, files) if files else None

    def _told_of_file(self, fact: Fact, *, has_moved: bool) -> Gone | None:
        """What dream.json says of a file that is gone: all of it was wrong; or it went into another, and so
        what said what the file was is not needed any more.
        """
        said = self.reasons.files.get(fact.file)
        if said is None or fact.file not in self.gone_files or not _is_reason(said.why):
            return None
        if said.into is not None and (_is_body(fact) or not has_moved or said.into not in self.after.topics):
            return None
        return Gone(file=fact.file, text=fact.text, fate="dropped", why=said.why)

    def _follow_links(self, missing: Sequence[Fact], fates: list[Gone]) -> None:
        """Lines of which nothing has changed but a link, which follows the file that it leads to."""
        into = {file: to for file in self.gone_files if (to := self._into(file, fates)) is not None}
        links = tuple(
            pair
            for old, new in sorted(into.items())
            for pair in (
                (f"]({old})", f"]({new})"),
                (f"[[{old.removesuffix('.md')}]]", f"[[{new.removesuffix('.md')}]]"),
            )
        )
        for number, fact in enumerate(missing):
            if fates[number].fate == "lost" and ("](" in fact.text or "[[" in fact.text):
                own = [pair for pair in links if any(pair[0] in text for text in fact.fine)]
                moved = self._stands_elsewhere(replace(fact, links=tuple(own)), own=True) if own else None
                fates[number] = moved or fates[number]

    def _follow_rewordings(self, missing: Sequence[Fact], fates: list[Gone]) -> None:
        """Sentences that go over several lines, as far as one can tell, of which one was reworded."""
        for number, fact in enumerate(missing):
            if fates[number].fate != "lost" or len(fact.block.lines) < 2:
                continue
            rows = {line_words(row) for row in fact.block.lines}
            for line in self.lines_of.get(fact.file, ()):
                pair = (line_words(line.was), line_words(line.now or ""))
                if pair[0] not in rows or not says_something(pair[1]) or not _is_reason(line.why):
                    continue
                moved = self._stands_elsewhere(replace(fact, links=(pair,)), own=True)
                if moved is not None and says_the_same(line.was, line.now or "", line.why or ""):
                    self.others[fact.file] |= {moved.to} if moved.to and moved.to != fact.file else set()
                    if line_words(fact.text) == pair[0]:
                        moved = replace(moved, fate="reworded", now=line.now, why=line.why)
                    fates[number] = moved
                    break

    def _into(self, file: str, fates: Iterable[Gone]) -> str | None:
        """Where most of a file went; the one that dream.json names, if any of it did."""
        targets = Counter(
            fate.to for fate in fates if fate.file == file and fate.to is not None and fate.to != INDEX
        )
        if not targets:
            return None
        said = self.reasons.files.get(file)
        if said is not None and said.into is not None and targets[said.into]:
            return said.into
        return min(targets, key=lambda one: (-targets[one], one))

    # -- what becomes of a file

    def _changes(self, gone: Sequence[Gone]) -> list[Change]:
        went: dict[str, list[Gone]] = defaultdict(list)
        for line in gone:
            went[line.file].append(line)
        found = [self._departure(file, went[file]) for file in self.gone_files]
        taken = Counter(change.into for change in found if change.action == "renamed")
        found = [
            replace(change, action="merged")
            if change.action == "renamed" and taken[change.into] > 1
            else change
            for change in found
        ]
        for file in self.changed:
            if file == INDEX:
                continue
            if file not in self.before.files:
                found.append(Change(file=file, action="created"))
            elif _unstamped(self.before.files[file]) != _unstamped(self.after.files[file]):
                found.append(Change(file=file, action="rewritten"))
        return sorted(found, key=lambda change: change.file)

    def _departure(self, file: str, gone: Sequence[Gone]) -> Change:
        said = self.reasons.files.get(file)
        why = said.why if said else None
        into = self._into(file, gone)
        page = self.old[file]
        if into is None:
            same = [
                new
                for new in self.changed
                if not page.facts and new not in self.before.files and self._is_copy(file, new)
            ]
            if same:
                return Change(file=file, action="renamed", into=same[0], why=why)
            return Change(file=file, action="deleted", why=why)
        is_new = into in self.changed and into not in self.before.files
        if is_new and all(line.to == into and line.fate == "moved" for line in gone):
            was = Counter(fact.fine for fact in facts_of(page))
            if was == Counter(fact.fine for fact in facts_of(self.changed[into])):
                return Change(file=file, action="renamed", into=into, why=why)
        return Change(file=file, action="merged", into=into, why=why)

    def _is_copy(self, old: str, new: str) -> bool:
        return _unstamped(self.before.files[old]) == _unstamped(self.after.files[new])

    def _needs(
        self, fates: Sequence[tuple[Fact, Gone]], changes: Sequence[Change]
    ) -> Mapping[str, frozenset[str]]:
        needs: dict[str, set[str]] = defaultdict(set)
        for fact, gone in fates:
            if gone.fate == "moved" and gone.to is not None and not self.then.in_file(fact, gone.to):
                needs[gone.file].add(gone.to)
        for file, others in self.others.items():
            needs[file] |= others
        for change in changes:
            if change.action == "renamed" and change.into is not None:
                needs[change.file].add(change.into)
                needs[change.into].add(change.file)  # or there would be two of it
        return MappingProxyType(
            {file: frozenset(needs[file] - {file}) for file in sorted(needs) if needs[file] - {file}}
        )

    def _removed(self, fates: Sequence[tuple[Fact, Gone]], changes: Sequence[Change]) -> tuple[str, ...]:
        given_up: dict[str, list[tuple[Fact, Gone]]] = defaultdict(list)
        for fact, gone in fates:
            if gone.fate in ("dropped", "lost"):
                given_up[gone.file].append((fact, gone))
        removed = set()
        for change in changes:
            lines = given_up[change.file]
            if change.action == "deleted":
                removed.add(change.file)
            elif change.action == "merged":
                if any(_is_body(fact) or gone.fate == "lost" for fact, gone in lines):
                    removed.add(change.file)
            elif change.action == "rewritten" and 2 * len(lines) > len(self.old[change.file].facts):
                removed.add(change.file)
        return tuple(sorted(removed))


def _is_reason(why: str | None) -> bool:
    """Whether a why says anything."""
    return why is not None and says_something(why) and len(why.strip()) > 1


def _lost(fact: Fact) -> Gone:
    return Gone(file=fact.file, text=fact.text, fate="lost")


def _is_body(fact: Fact) -> bool:
    """Whether a line is more than what says what the file is."""
    return not fact.block.is_description and fact.block.place != "header"


def _covered(was: str, fact: Fact, left: AbstractSet[str]) -> set[str]:
    """The sentences of a line that a quotation names: those within it, or all where the line is within it."""
    quotation = _loose(was)
    if (line := _loose(fact.text)) and line in quotation:
        return set(left)
    return {text for text in left if (sentence := _loose(text)) and sentence in quotation}


def _is_reworded(fact: Fact, was: str, now: str, why: str) -> bool:
    """Whether new words say the same; of several lines put in one, each by itself too."""
    if not says_the_same(was, now, why):
        return False
    return _loose(was) in _loose(fact.text) or keeps(fact.text, now, why)


def _loose(text: str) -> str:
    """The words of a text in a row, as a model may quote them."""
    return f" {' '.join(runs(folded(text)))} " if says_something(text) else ""


def _order(line: LineReason) -> tuple[str, bool, str, str, str]:
    return line.file, line.now is None, line.was, line.now or "", line.why or ""
