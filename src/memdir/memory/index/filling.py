"""What has changed in a directory -> the index: the only writer of its tables (M6)."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from memdir.memory.index import entry
from memdir.memory.index.database import Overtaken
from memdir.memory.index.entry import Entry, Found
from memdir.memory.index.packing import key_of, packed, unpacked

CHUNK = 2_000
"""Files in one transaction: in between others may write, and see what is there."""

STRONG = 5
"""Halves from which on a word has a second posting: it stands in the title, or is said again and again."""

_BATCH = 500  # variables in one statement
_UNPOST = "insert into postings (postings, rowid, terms) values ('delete', ?, ?)"


def fill(
    connection: sqlite3.Connection,
    root: str,
    changed: Sequence[str],
    gone: Sequence[str],
    *,
    clock: Callable[[], int],
    since: int | None = None,
) -> tuple[dict[str, int], list[str]]:
    """Read what has changed, and forget what is gone.

    Returns the stamps of what was read, and the files that are no longer there (or can't be read: they count
    as gone, M2).

    Raises:
        Overtaken: others have written since the index was of the version `since`. They may have seen a later
            state of a file than was read here, which would take its place.
    """
    stamps: dict[str, int] = {}
    lost = list(gone)
    for paths in _chunks(gone, CHUNK):
        with _writing(connection, since):
            _drop_unused(connection, _forget(connection, paths))
    for paths in _chunks(changed, CHUNK):
        fresh, same, unread = _read(connection, root, paths, clock)
        lost += unread
        if not fresh and not same and not _rows(connection, "id", unread):
            continue  # nothing but what could not be read before either: no reason to make others wait
        with _writing(connection, since):
            connection.executemany(
                "update files set modified = ?, size = ?, stamp = ? where path = ? and digest = ?",
                ((one.modified, one.size, one.stamp, key_of(one.path), one.digest) for one in same),
            )
            unsaid = _forget(connection, [*unread, *(one.found.path for one in fresh)])
            _keep(connection, fresh)
            _drop_unused(connection, unsaid)
        read = (*same, *(one.found for one in fresh))
        stamps.update((one.path, one.stamp) for one in read)
    return stamps, lost


def keep_vectors(connection: sqlite3.Connection, embedder: str, vectors: Mapping[bytes, bytes]) -> None:
    """Keep the vectors of these contents, and drop those of contents that no file has any more."""
    with _writing(connection):
        connection.executemany(
            "insert or replace into vectors (embedder, digest, vector) values (?, ?, ?)",
            ((embedder, digest, vector) for digest, vector in vectors.items()),
        )
        connection.execute("delete from vectors where digest not in (select digest from files)")


@contextmanager
def _writing(connection: sqlite3.Connection, since: int | None = None) -> Iterator[None]:
    """All or nothing, one writer at a time."""
    connection.execute("begin immediate")
    try:
        if since not in (None, connection.execute("pragma data_version").fetchone()[0]):
            raise Overtaken
        yield
    except BaseException:
        if connection.in_transaction:  # a full disk ends it by itself
            connection.execute("rollback")
        raise
    connection.execute("commit")


def _read(
    connection: sqlite3.Connection, root: str, paths: Sequence[str], clock: Callable[[], int]
) -> tuple[list[Entry], list[Found], list[str]]:
    """Files with new content; those whose content is in the tables already; and those that can't be read."""
    fresh: list[Entry] = []
    same: list[Found] = []
    unread: list[str] = []
    kept = {row[1]: row[2] for row in _rows(connection, "id, path, digest", paths)}
    for path in paths:
        found = entry.read(root, path, now_ns=clock())
        if found is None:
            unread.append(path)
        elif kept.get(key_of(path)) == found.digest:
            same.append(found)
        else:
            fresh.append(Entry(found))
    return fresh, same, unread


def _rows(connection: sqlite3.Connection, columns: str, paths: Iterable[str]) -> list[tuple[Any, ...]]:
    """The rows of those of the files that are in the table."""
    rows: list[tuple[Any, ...]] = []
    for batch in _chunks(paths, _BATCH):
        marks = ",".join("?" * len(batch))
        keys = [key_of(path) for path in batch]
        rows += connection.execute(f"select {columns} from files where path in ({marks})", keys)  # noqa: S608
    return rows


def _forget(connection: sqlite3.Connection, paths: Iterable[str]) -> Iterable[int]:
    """Take files out; the words that stood in them."""
    standing: Counter[int] = Counter()
    files = length = 0
    for id_, said, packed_words in _rows(connection, "id, length, words", paths):
        words = unpacked(packed_words)
        connection.execute(_UNPOST, (id_, _postings(words)))
        connection.execute("delete from files where id = ?", (id_,))
        standing.update(words.keys())
        files, length = files + 1, length + said
    connection.executemany(
        "update terms set standing = standing - ? where id = ?",
        ((times, term) for term, times in standing.items()),
    )
    _count(connection, -files, -length)
    return standing.keys()


def _drop_unused(connection: sqlite3.Connection, words: Iterable[int]) -> None:
    """Drop those of the words that stand in no file any more: what is written every day would only grow."""
    connection.executemany("delete from terms where id = ? and standing <= 0", ((word,) for word in words))


def _keep(connection: sqlite3.Connection, entries: Sequence[Entry]) -> None:
    ids = _term_ids(connection, Counter(word for one in entries for word in one.words))
    length = 0
    for one in entries:
        words = {ids[word]: halves for word, halves in one.words.items()}
        said = sum(words.values())
        length += said
        row = connection.execute(
            "insert into files values (null, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                key_of(one.found.path),
                one.found.modified,
                one.found.size,
                one.found.stamp,
                one.found.digest,
                _text(one.name),
                _text(one.description),
                one.kind,
                one.traits,
                "\n".join(map(_text, one.named)),
                said,
                packed(words),
            ),
        )
        connection.execute(
            "insert into postings (rowid, terms) values (?, ?)", (row.lastrowid, _postings(words))
        )
    _count(connection, len(entries), length)


def _term_ids(connection: sqlite3.Connection, standing: Mapping[str, int]) -> dict[str, int]:
    """The ids of words, each of which stands in so many files more than before."""
    connection.executemany(
        "insert into terms (term, standing) values (?, ?)"
        " on conflict (term) do update set standing = standing + excluded.standing",
        sorted(standing.items()),
    )
    ids: dict[str, int] = {}
    for words in _chunks(standing, _BATCH):
        marks = ",".join("?" * len(words))
        ids.update(connection.execute(f"select term, id from terms where term in ({marks})", words))  # noqa: S608
    return ids


def _postings(words: Mapping[int, int]) -> str:
    strong = [f"{term}t" for term, halves in words.items() if halves >= STRONG]
    return " ".join([*map(str, words), *strong])


def _count(connection: sqlite3.Connection, files: int, length: int) -> None:
    connection.execute("update totals set files = files + ?, length = length + ?", (files, length))


def _text(text: str) -> str:
    """Text without halves of characters, which file names may have."""
    return text.encode(errors="replace").decode()


def _chunks(items: Iterable[str], size: int) -> Iterator[list[str]]:
    rest = iter(items)
    while chunk := list(islice(rest, size)):
        yield chunk
