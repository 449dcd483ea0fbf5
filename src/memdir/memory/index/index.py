"""A memory directory -> the memories that share words with a query, at any size, as they are now (M6)."""

from __future__ import annotations

import os
import sqlite3
from itertools import islice
from math import fsum
from threading import RLock

from memdir.memory.index import database as databases
from memdir.memory.index.freshness import look
from memdir.memory.index.packing import key_of, path_of, unpacked
from memdir.memory.index.ranking import Hit, Known, Query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any, TypeVar

    from memdir.memory.index.database import Database
    from memdir.memory.index.ranking import Term

    Result = TypeVar("Result")
    Shared = tuple[Known, Mapping[int, float]]

DEPTH = 128
"""Files that are scored exactly; with ties at the end a few more."""

SMALL = 256
"""So few files are all scored."""

BUDGET, REFINED = 4_000, 8_000
"""Postings that are looked at: of the rarest words, which bring files in, then of the others among these. A
word that stands in thousands of files brings in nothing by itself."""

PLAIN, STRONG = 0.4, 0.27
"""What a posting is worth of all that a word can add, before the file is looked at: standing in it, and
beside that in its title."""

MOST = 512
"""Of files whose prospects are level with those of the last one, so many are scored exactly: the newest."""

LISTED = 10_000
"""File numbers that are written into one statement. SQLite takes a million bytes."""

TRIES = 5
"""How often changes are looked for anew because others have written meanwhile. Then they are taken in anyway:
at worst one answer has an older state of a file, and the next one does not."""

KEPT = 1_024
"""Files whose words are kept in memory between queries."""

_LEVEL = 1 - 1e-9  # scores are sums, and the last digits of a sum say nothing
_DAMAGE = (sqlite3.Error, ValueError, ArithmeticError, TypeError, AttributeError, LookupError)
"""What comes of reading a damaged file: SQLite doesn't notice everything, and hands out what can't be."""
_POSTINGS = "select rowid from postings where postings match ?"
_BATCH = 500  # variables in one statement
_KNOWN = "id, path, name, description, type, traits, named, modified, size, length, words"


class Index:
    """The index of one memory directory. May be shared by threads; other processes may have it open too.

    `cache`: the folder for its file; None: it is kept in memory. `clock`: the time in nanoseconds since 1970.
    Damage, an old format, a lock that is not given back, a full disk: the answer is the same, only slower.
    """

    def __init__(self, directory: str, *, cache: str | None, clock: Callable[[], int]) -> None:
        self._directory = os.path.abspath(directory)
        self._cache = cache
        self._clock = clock
        self._lock = RLock()
        self._database: Database | None = None
        self._version = 0
        self._stamps: dict[str, int] | None = None
        self._terms: dict[str, tuple[int, int] | None] = {}
        self._kept: dict[int, Known] = {}
        self._totals = (-1, 1.0)
        self._edition = 0

    def refresh(self) -> int:
        """Take in what has changed on disk; how many files that were. One stat a file."""
        return self._guarded(self._refresh)

    @property
    def size(self) -> int:
        """How many files there are."""
        return self._guarded(lambda: self._totals_now()[0])

    def standing(self, words: Collection[str]) -> dict[str, int]:
        """In how many files each of the words stands; those that stand in none are left out."""
        found = self._guarded(lambda: self._together(lambda: self._standing(words)))
        return {word: files for word, (_, files) in found.items()}

    def rank(self, terms: Sequence[Term], *, depth: int = DEPTH) -> list[Hit]:
        """The files that share words with the terms, best first, equals by path; about `depth` at most.

        Each term adds at most weight x rarity, see `memory.rank`.
        """
        return self._guarded(lambda: self._together(lambda: self._rank(terms, depth)))

    def newest(self, count: int) -> list[Known]:
        """The files that were changed last, latest first, equals by path."""
        return self._guarded(lambda: self._together(lambda: self._newest(count)))

    def moments(self) -> list[tuple[str, int]]:
        """All files and the nanosecond of their last change, latest first, equals by path."""
        query = "select path, modified from files order by modified desc, path"
        return self._guarded(lambda: self._with_paths(query))

    def files(self, paths: Iterable[str]) -> list[Known]:
        """What is known of these files, in their order; those that are not there are left out."""
        wanted = list(paths)
        return self._guarded(lambda: self._together(lambda: self._files(wanted)))

    def without_vector(self, embedder: str, count: int) -> list[tuple[str, bytes]]:
        """At most so many files without vectors by this embedder, newest first: path, and which content."""
        query = (
            "select path, digest from files where not exists"
            " (select 1 from vectors where embedder = ? and vectors.digest = files.digest)"
            " order by modified desc, path limit ?"
        )
        return self._guarded(lambda: self._with_paths(query, embedder, count))

    def keep_vectors(self, embedder: str, vectors: Mapping[bytes, bytes]) -> None:
        """Keep the vectors of contents, one or several behind each other; those of contents that no file has
        any more are dropped."""
        from memdir.memory.index.filling import keep_vectors

        self._guarded(lambda: keep_vectors(self._connection, embedder, vectors))

    def vectors(self, embedder: str) -> list[tuple[str, bytes]]:
        """The files that have vectors by this embedder, and these, by path."""
        query = "select path, vector from files join vectors using (digest) where embedder = ? order by path"
        return self._guarded(lambda: self._with_paths(query, embedder))

    @property
    def edition(self) -> int:
        """Another number whenever the answers may be others."""
        return self._guarded(self._edition_now)

    def close(self) -> None:
        """Let go of the file. It is opened again at the next use."""
        with self._lock:
            if self._database is not None:
                self._database.close()
            self._database = None

    # -- where it is kept --

    def _guarded(self, work: Callable[[], Result]) -> Result:
        """Do the work; once more with a new file if this one is damaged, or in memory if it can't be used."""
        with self._lock:
            try:
                self._open()
                return work()
            except _DAMAGE as error:
                failure = error
            try:
                self._move(failure)
                return work()
            except _DAMAGE:
                self._begin(databases.in_memory())
            self._refresh()
            return work()

    def _open(self) -> None:
        if self._database is not None and not self._database.is_replaced:
            return
        self._begin(databases.open_database(self._cache))
        if self._edition:  # another file than the one that gave answers: it need not know all that was known
            self._refresh()

    def _move(self, error: Exception) -> None:
        """Away from a file that is damaged, locked, or can't be written."""
        old = self._database
        if old is None or old.path is None or self._cache is None:
            self._begin(databases.in_memory())
        elif databases.is_damage(error):
            self._begin(databases.renewed(self._cache))
        else:
            self._begin(_copied(old))
        self._refresh()

    def _begin(self, database: Database) -> None:
        if self._database is not None:
            self._database.close()
        self._database = database
        self._version = -1

    @property
    def _connection(self) -> sqlite3.Connection:
        assert self._database is not None  # noqa: S101 - `_guarded` has opened it
        return self._database.connection

    def _notice(self) -> None:
        """Forget what was kept in memory, if anybody has written since."""
        version = self._connection.execute("pragma data_version").fetchone()[0]
        if version != self._version:
            self._version = version
            self._forget()

    def _forget(self) -> None:
        self._stamps = None
        self._forget_words()

    def _forget_words(self) -> None:
        self._edition += 1
        self._terms = {}
        self._kept = {}
        self._totals = (-1, 1.0)

    # -- freshness --

    def _refresh(self) -> int:
        for _ in range(TRIES):
            try:
                return self._take_in(unless_overtaken=True)
            except databases.Overtaken:
                self._forget()
        return self._take_in(unless_overtaken=False)

    def _take_in(self, *, unless_overtaken: bool) -> int:
        root = os.path.realpath(self._directory)  # now: a link may lead elsewhere since
        known = self._together(self._stamps_now)
        changed, gone = look(root, known)
        if not changed and not gone:
            return 0
        from memdir.memory.index.filling import fill

        since = self._version if unless_overtaken else None
        stamps, lost = fill(self._connection, root, changed, gone, clock=self._clock, since=since)
        if stamps or not known.keys().isdisjoint(lost):
            self._forget_words()
        known.update(stamps)
        for path in lost:
            known.pop(path, None)
        return len(changed) + len(gone)

    def _stamps_now(self) -> dict[str, int]:
        """Path -> its stamp when it was read."""
        if self._stamps is None:
            rows = self._connection.execute("select path, stamp from files")
            self._stamps = {path_of(path): stamp for path, stamp in rows}
            if len(self._stamps) != self._totals_now()[0]:
                raise ValueError("files that were counted are not there")
        return self._stamps

    # -- answers --

    def _edition_now(self) -> int:
        self._notice()
        return self._edition

    def _rank(self, terms: Sequence[Term], depth: int) -> list[Hit]:
        size, mean = self._totals_now()
        standing = self._standing({word for term in terms for word in (term.word, *term.kin)})
        query = Query(terms, standing, size=size, mean=mean)
        shared = [(one, query.shares(one)) for one in self._candidates(query, depth)]
        hits = [query.hit(memory, shares) for memory, shares in _best(shared, depth)]
        return sorted(hits, key=lambda one: (-one.score, one.file))

    def _together(self, work: Callable[[], Result]) -> Result:
        """What the work reads is of one moment, and so is what was kept: others may be writing."""
        self._connection.execute("begin")
        try:
            self._notice()
            return work()
        finally:
            if self._connection.in_transaction:  # some failures end it
                self._connection.execute("commit")

    def _candidates(self, query: Query, depth: int) -> Iterable[Known]:
        """The files that a full score may be worth the time for: all, if they are few."""
        if not query.gains:
            return []
        files = self._totals_now()[0]
        if files > SMALL:
            return self._by_id(self._promising(query, depth))
        if len(self._kept) != files:
            self._keep(f"select {_KNOWN} from files")  # noqa: S608
        return self._kept.values()

    def _promising(self, query: Query, depth: int) -> list[int]:
        """The files with the best prospects, and all that are level with the last one.

        The rarest words bring files in; the others only tell these apart.
        """
        gains = {word: max(gain for _, gain, _ in one) for word, one in query.gains.items()}
        standing = dict(found for found in self._terms.values() if found is not None)
        rarest = sorted(gains, key=lambda word: (standing[word], -gains[word]))
        driving = _within(BUDGET, rarest, standing)
        prospects: dict[int, float] = {}
        for word in driving:
            self._look_up(str(word), gains[word] * PLAIN, prospects)
            self._look_up(f"{word}t", gains[word] * STRONG, prospects)
        self._refine(rarest[len(driving) :], driving, gains, standing, prospects)
        if len(prospects) <= depth:
            return list(prospects)
        last = sorted(prospects.values(), reverse=True)[depth - 1]
        best = [file for file, prospect in prospects.items() if prospect > last / _LEVEL]
        level = [file for file, prospect in prospects.items() if last * _LEVEL <= prospect <= last / _LEVEL]
        return best + (level if len(level) <= MOST else self._newest_of(level))

    def _refine(
        self,
        words: Sequence[int],
        driving: Sequence[int],
        gains: Mapping[int, float],
        standing: Mapping[int, int],
        prospects: dict[int, float],
    ) -> None:
        """Add what the other words are worth to the files that the driving ones brought in.

        SQLite can look among these only, at the price of all driving words again for each word; a word that
        stands in few files is had for less by looking it up whole.
        """
        share = len(prospects) / self._totals_now()[0]
        among = f"({' OR '.join(map(str, driving))}) AND "
        narrow = {word: len(driving) + round(standing[word] * share) for word in words}
        costs = {word: min(standing[word], narrow[word]) for word in words}
        for word in _within(REFINED, words, costs):
            where = among if narrow[word] < standing[word] else ""
            self._add(f"{where}{word}", gains[word] * PLAIN, prospects)
            self._add(f"{where}{word}t", gains[word] * STRONG, prospects)

    def _add(self, words: str, adds: float, prospects: dict[int, float]) -> None:
        for (file,) in self._connection.execute(_POSTINGS, (words,)).fetchall():
            if file in prospects:
                prospects[file] += adds

    def _look_up(self, words: str, adds: float, prospects: dict[int, float]) -> None:
        for (file,) in self._connection.execute(_POSTINGS, (words,)).fetchall():
            prospects[file] = prospects.get(file, 0.0) + adds

    def _newest_of(self, ids: Collection[int]) -> list[int]:
        if len(ids) > LISTED:
            wanted = set(ids)
            every = self._connection.execute("select id from files order by modified desc, path")
            return list(islice((id_ for (id_,) in every if id_ in wanted), MOST))
        query = (
            f"select id from files where id in ({_numbers(ids)}) order by modified desc, path limit {MOST}"  # noqa: S608
        )
        return [row[0] for row in self._connection.execute(query)]

    def _with_paths(self, query: str, *values: object) -> list[tuple[str, Any]]:
        return [(path_of(key), value) for key, value in self._connection.execute(query, values)]

    def _newest(self, count: int) -> list[Known]:
        rows = self._connection.execute("select id from files order by modified desc, path limit ?", (count,))
        return self._by_id([row[0] for row in rows])

    def _files(self, paths: Sequence[str]) -> list[Known]:
        find = "select id from files where path = ?"
        rows = [self._connection.execute(find, (key_of(path),)).fetchone() for path in paths]
        return self._by_id([row[0] for row in rows if row is not None])

    def _by_id(self, ids: Sequence[int]) -> list[Known]:
        missing = [id_ for id_ in ids if id_ not in self._kept]
        if missing:
            if len(self._kept) + len(missing) > KEPT:
                self._kept = {id_: self._kept[id_] for id_ in ids if id_ in self._kept}
            self._keep(f"select {_KNOWN} from files where id in ({_numbers(missing)})")  # noqa: S608
        return [self._kept[id_] for id_ in ids if id_ in self._kept]

    def _keep(self, query: str) -> None:
        for row in self._connection.execute(query):
            id_, path, name, description, type_, traits, named, modified, size, length, words = row
            counted = unpacked(words)
            if sum(counted.values()) != length:
                raise ValueError("a garbled list of words")
            self._kept[id_] = Known(
                id_,
                path_of(path),
                name,
                description,
                type_,
                traits,
                named.split("\n") if named else (),
                modified,
                size,
                length,
                counted,
            )

    def _standing(self, words: Iterable[str]) -> dict[str, tuple[int, int]]:
        """The words that stand in some file: their ids, and in how many."""
        words = list(words)
        missing = [word for word in words if word not in self._terms]
        if missing:
            self._terms.update(dict.fromkeys(missing))
            for at in range(0, len(missing), _BATCH):
                batch = missing[at : at + _BATCH]
                marks = ",".join("?" * len(batch))
                query = f"select term, id, standing from terms where term in ({marks}) and standing > 0"  # noqa: S608
                rows = self._connection.execute(query, batch)
                self._terms.update((word, (id_, files)) for word, id_, files in rows)
        return {word: found for word in words if (found := self._terms[word]) is not None}

    def _totals_now(self) -> tuple[int, float]:
        """How many files there are, and their mean length in halves."""
        if self._totals[0] < 0:
            files, length = self._connection.execute("select files, length from totals").fetchone()
            self._totals = (files, max(length, 1) / max(files, 1))
        return self._totals


def _within(budget: int, words: Sequence[int], cost: Mapping[int, int]) -> list[int]:
    """The first of the words, as many as the budget allows; one at least."""
    found: list[int] = []
    for word in words:
        if found and cost[word] > budget:
            break
        budget -= cost[word]
        found.append(word)
    return found


def _best(shared: Iterable[Shared], depth: int) -> list[Shared]:
    """The `depth` files that share most, and all that are level with the last one."""
    found = [(fsum(one[1].values()), one) for one in shared if one[1]]
    if len(found) <= depth:
        return [one for _, one in found]
    last = sorted((total for total, _ in found), reverse=True)[depth - 1] * _LEVEL
    return [one for total, one in found if total >= last]


def _numbers(ids: Iterable[int]) -> str:
    return ",".join(map(str, ids))


def _copied(old: Database) -> Database:
    """In memory, what could be read of a file that can't be used."""
    try:
        return databases.in_memory(old)
    except sqlite3.Error:
        return databases.in_memory()
