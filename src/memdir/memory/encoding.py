"""Bytes <-> text: one way to read a memory file, one to write it back, for all who do (F1, F2, F6).

    readable(data)                 what people, models and rules read; always an answer
    encode(decode(data), like=data) == data

`decode` keeps every byte, also those that are no text, so that an edit changes what it means to and nothing
else. The rare text that can't be kept so is refused: nothing of ours is ever put behind it.
"""

from __future__ import annotations

import codecs

from memdir.errors import UsageError

MARK = "\ufeff"

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins as the mark of UTF-16 does
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def encoding(data: bytes) -> str:
    """The encoding of a text: UTF-8, unless a mark, or an ASCII letter of two bytes, begins it."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    if len(data) > 1 and (data[0] == 0) != (data[1] == 0):
        return "utf-16-le" if data[1] == 0 else "utf-16-be"
    return "utf-8"


def readable(data: bytes) -> str:
    """The text without its mark. What is no text in there shows as U+FFFD."""
    return data.decode(encoding(data), "replace").removeprefix(MARK)


def decode(data: bytes, *, name: str = "this file") -> str:
    """The exact text, mark included, for `encode`. Raises UsageError where that could not give it back."""
    kind = encoding(data)
    try:
        text = data.decode(kind, _errors(kind))
    except UnicodeDecodeError:
        text = None
    if text is None or encode(text, like=data) != data:
        raise UsageError(f"{name} is in broken {kind[:6].upper()}", hint="save it as UTF-8 first")
    return text


def encode(text: str, *, like: bytes) -> bytes:
    """The bytes of a text in the encoding of a file that `decode` read."""
    kind = encoding(like)
    return text.encode(kind, _errors(kind))


def _errors(kind: str) -> str:
    return "surrogateescape" if kind == "utf-8" else "surrogatepass"
