"""Bytes of a file -> what sort of picture they are, its size, and whether it is whole; nothing is decoded.

A picture that a service refuses stays in the conversation and spoils each later request. So a file that is
broken, cut off or still being written must be found out before it is shown.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass

Size = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What a picture's bytes say of it. `size`: width and height in pixels, None if it is broken."""

    media_type: str
    size: Size | None

    @property
    def kind(self) -> str:
        """The format's name for a reader, such as `PNG`."""
        return "WebP" if self.media_type == "image/webp" else self.media_type.removeprefix("image/").upper()


def recognised(data: bytes) -> Picture | None:
    """The picture that begins with these bytes, or None: no PNG, JPEG, GIF or WebP."""
    for media_type, magic, measured in _FORMATS:
        if magic.match(data):
            try:
                size = measured(data)
            except struct.error:  # it ends within its header
                size = None
            return Picture(media_type=media_type, size=size if size and all(size) else None)
    return None


def _png(data: bytes) -> Size | None:
    is_whole = data[12:16] == b"IHDR" and b"IEND\xaeB`\x82" in data
    return struct.unpack_from(">II", data, 16) if is_whole else None


def _gif(data: bytes) -> Size | None:
    return struct.unpack_from("<HH", data, 6) if data.rstrip(b"\0").endswith(b";") else None


def _jpeg(data: bytes) -> Size | None:
    """From the frame header, behind segments of other kinds that each tell their own length.

    The end mark that counts stands behind the frame's last scan: a thumbnail in a segment has its own.
    """
    at = 2
    while data[at : at + 1] == b"\xff":
        marker, length = struct.unpack_from(">xBH", data, at)
        if 0xC0 <= marker <= 0xCF and marker not in _JPEG_TABLES:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return (width, height) if data.rfind(b"\xff\xd9") > data.rfind(b"\xff\xda") > at else None
        at += 1 if marker == _FILL else 2 + length
    return None


_JPEG_TABLES = frozenset({0xC4, 0xC8, 0xCC})
"""Numbered among the frame headers, and none: Huffman tables, an extension, arithmetic coding."""
_FILL = 0xFF


def _webp(data: bytes) -> Size | None:
    """From the first chunk: an extended header, or that of a lossless or a lossy picture."""
    (length,) = struct.unpack_from("<I", data, 4)
    if len(data) < 8 + length:
        return None
    match data[12:16]:
        case b"VP8X":
            low_w, high_w, low_h, high_h = struct.unpack_from("<HBHB", data, 24)
            return 1 + low_w + (high_w << 16), 1 + low_h + (high_h << 16)
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", data, 21)
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
        case _:
            return None


_FORMATS: tuple[tuple[str, re.Pattern[bytes], Callable[[bytes], Size | None]], ...] = (
    ("image/png", re.compile(rb"\x89PNG\r\n\x1a\n"), _png),
    ("image/jpeg", re.compile(rb"\xff\xd8\xff"), _jpeg),
    ("image/gif", re.compile(rb"GIF8[79]a"), _gif),
    ("image/webp", re.compile(rb"(?s)RIFF.{4}WEBP"), _webp),
)
