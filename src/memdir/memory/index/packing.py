"""What the tables hold in place of Python's values: paths, counted words, vectors. Pure."""

from __future__ import annotations

import os
from array import array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def key_of(path: str) -> bytes:
    """A path for a table: file names need not be text."""
    return os.fsencode(path)


def path_of(key: bytes) -> str:
    """The path for a key."""
    return os.fsdecode(key)


def packed(words: Mapping[int, int]) -> bytes:
    """Word ids, then how much each occurs in halves; 32 bits each."""
    return array("I", words).tobytes() + array("I", words.values()).tobytes()


def unpacked(data: bytes) -> dict[int, int]:
    """What `packed` was given.

    Raises:
        ValueError: it did not make this.
    """
    both = array("I")
    both.frombytes(data)
    half, odd = divmod(len(both), 2)
    if odd:
        raise ValueError("a cut list of words")
    return dict(zip(both[:half], both[half:]))  # noqa: B905 - equal halves; `strict` costs
