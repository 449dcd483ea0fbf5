"""How near the memories of a directory are to a prompt by what they mean (M6).

A few vectors a memory, one a passage, kept in the index by content: what was embedded once is not embedded
again. One vector of a whole text says little of its parts: with the first 1,000 characters of LoCoMo's
sessions as one vector less was found than by words alone (recall@5 .848 against .865), with passages more
(.876).
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Mapping
from itertools import accumulate, islice, pairwise
from operator import mul
from pathlib import Path

from anyio import to_thread

from memdir import fs
from memdir.memory import topic
from memdir.memory.index import Index
from memdir.model.embedding.embedder import Embedder, may_get

BATCH = 32
"""Memories that are embedded at once: about a tenth of a second."""

PASSAGE, PASSAGES = 600, 8
"""Characters of a passage, and how many of a memory are embedded; the rest is found by its words."""

PROMPT = 2_000
"""Characters of a prompt that are embedded."""

_LARGEST = 64 * 1024


class Meaning:
    """The vectors of one directory by one embedder. One task at a time may `take_in`."""

    def __init__(self, index: Index, embedder: Embedder, directory: Path) -> None:
        self._index = index
        self._embedder = embedder
        self._directory = directory
        self._edition = -1
        self._files: list[str] = []
        self._places: list[int] = []  # where in the rows those of each file begin, and where the last ends
        self._rows = b""
        self._width = 0
        self._skipped: set[tuple[str, bytes]] = set()

    async def take_in(self, *, at_most: int | None = None) -> int:
        """Embed memories that have no vector yet, newest first; how many. The index must be fresh.

        A memory that can't be read, or must not leave the machine, is passed over.

        Raises:
            ModelError: the embedder failed.
        """
        done = 0
        while at_most is None or done < at_most:
            count = BATCH if at_most is None else min(BATCH, at_most - done)
            texts = await to_thread.run_sync(self._next, count, abandon_on_cancel=True)
            if not texts:
                break
            vectors = iter(await self._embedder.embed([one for parts in texts.values() for one in parts]))
            kept = {digest: b"".join(islice(vectors, len(parts))) for digest, parts in texts.items()}
            await to_thread.run_sync(self._index.keep_vectors, self._embedder.name, kept)
            self._edition = -1
            done += len(kept)
        return done

    async def nearness(self, query: str) -> dict[str, float]:
        """File -> the cosine of its nearest passage with the prompt, for the files that have vectors.

        Raises:
            ModelError: the embedder failed, or must not get this prompt.
        """
        query = query[:PROMPT]
        if not query.strip() or not may_get(self._embedder, query):
            return {}
        (vector,) = await self._embedder.embed([query])
        return await to_thread.run_sync(self._compare, vector, abandon_on_cancel=True)

    def _next(self, count: int) -> Mapping[bytes, list[str]]:
        """Content -> passages of memories that wait."""
        texts: dict[bytes, list[str]] = {}
        while not texts:
            found = self._index.without_vector(self._embedder.name, count + len(self._skipped))
            waiting = [one for one in found if one not in self._skipped]
            if not waiting:
                break
            for path, digest in waiting[:count]:
                if digest in texts:
                    continue
                text = _text_of(self._directory, path)
                if text is None or not may_get(self._embedder, text):
                    self._skipped.add((path, digest))
                else:
                    texts[digest] = passages(text)
        return texts

    def _compare(self, vector: bytes) -> dict[str, float]:
        if self._edition != self._index.edition or self._width != len(vector):
            self._edition, self._width = self._index.edition, len(vector)
            kept = self._index.vectors(self._embedder.name)
            fit = [(path, one) for path, one in kept if one and len(one) % len(vector) == 0]
            self._files = [path for path, _ in fit]
            self._places = [0, *accumulate(len(one) // len(vector) for _, one in fit)]
            self._rows = b"".join(one for _, one in fit)
        cosines = products(self._rows, vector)
        nearest = [max(cosines[first:end]) for first, end in pairwise(self._places)]
        return dict(zip(self._files, nearest, strict=True))


def products(rows: bytes, vector: bytes) -> list[float]:
    """The product of each row with the vector; all are little-endian float32, one behind the other.

    By numpy where it is: it comes with the extra `semantic`, which an embedder elsewhere does not need. By
    hand it takes a twentieth of a second for the passages of some 200 memories.
    """
    try:
        import numpy as np
    except ImportError:
        one, many = _numbers(vector), _numbers(rows)
        return [sum(map(mul, one, many[at : at + len(one)])) for at in range(0, len(many), len(one))]
    matrix = np.frombuffer(rows, dtype="<f4").reshape(-1, len(vector) // 4)
    found: list[float] = (matrix @ np.frombuffer(vector, dtype="<f4")).tolist()
    return found


def _numbers(packed: bytes) -> array[float]:
    numbers = array("f")
    numbers.frombytes(packed)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def passages(text: str) -> list[str]:
    """The first passages of a text, cut at the ends of lines where they are near enough."""
    found: list[str] = [""]
    for line in text.splitlines():
        rest = line.strip()
        while rest:
            room = PASSAGE - len(found[-1]) - 1
            if found[-1] and len(rest) > room:
                found.append("")
                continue
            found[-1] = f"{found[-1]}\n{rest[:PASSAGE]}".strip()
            rest = rest[PASSAGE:]
        if len(found) > PASSAGES:
            break
    return [one for one in found if one][:PASSAGES]


def _text_of(directory: Path, path: str) -> str | None:
    """What is embedded of a memory: what it is called, then what it says."""
    try:
        data = fs.read_file(fs.contain(directory, path), limit=_LARGEST)
        parsed = topic.parse(data, filename=path)
    except Exception:  # noqa: BLE001 - whatever is odd about one file, the others are still there
        return None
    file = path.rpartition("/")[2].removesuffix(".md")
    name = "" if parsed.name == file and parsed.description else parsed.name  # a label, and no sentence
    return "\n".join(filter(str.strip, (name, parsed.description or "", parsed.body))) or None
