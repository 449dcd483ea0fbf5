"""Bytes of a file <-> text, and what stays as it was found: encoding, byte-order mark, line ends (A2)."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from memdir.errors import ToolError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SNIFF = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How text is written down in one file. `newline` is the kind that most of its lines end with."""

    encoding: str = "utf-8"
    mark: bytes = b""
    newline: str = "\n"

    def encode(self, text: str) -> bytes:
        """The bytes of `text` in this shape; line ends are taken as they are.

        Raises:
            ToolError: the file's encoding can't hold the text.
        """
        try:
            return self.mark + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise ToolError(
                f"the file is in {self.encoding}, which can't hold every character of the new text. "
                "Use only characters that it has."
            ) from error


def decode(data: bytes) -> tuple[str, Shape] | None:
    """The text of a file and its shape, or None if it is no text (a NUL byte near the start).

    What is not valid UTF-8 is read as Latin-1, which gives every byte back unchanged.
    """
    mark, encoding = next(((m, e) for m, e in _MARKS if data.startswith(m)), (b"", "utf-8"))
    body = data[len(mark) :]
    if encoding == "utf-8" and b"\0" in body[:_SNIFF]:
        return None
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError:
        mark, encoding, text = b"", "latin-1", data.decode("latin-1")
    pairs = text.count("\r\n")
    newline = "\r\n" if pairs > text.count("\n") - pairs else "\n"
    return text, Shape(encoding=encoding, mark=mark, newline=newline)


def lines_of(text: str) -> list[str]:
    """The lines without their ends. Only LF and CRLF end a line; a final newline adds no empty line."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]
