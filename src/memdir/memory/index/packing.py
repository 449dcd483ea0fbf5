"""What the tables hold in place of Python's values: paths, counted words, vectors. Pure."""

from __future__ import annotations

import os
import sys
from array import array
from binascii import crc32

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
    """Word ids, then how much each occurs in halves, then a checksum; 32 bits each."""
    data = array("I", words).tobytes() + array("I", words.values()).tobytes()
    return data + _checksum(data)


def unpacked(data: bytes) -> dict[int, int]:
    """What `packed` was given.

    Raises:
        ValueError: it did not make this. SQLite takes long values as they come, damaged or not.
    """
    data, checksum = data[:-4], data[-4:]
    if _checksum(data) != checksum:
        raise ValueError("a damaged list of words")
    both = array("I")
    both.frombytes(data)
    half = len(both) // 2
    return dict(zip(both[:half], both[half:]))  # noqa: B905 - equal halves; `strict` costs


def _checksum(data: bytes) -> bytes:
    return crc32(data).to_bytes(4, sys.byteorder)
