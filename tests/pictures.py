"""Small real pictures, made byte by byte."""

from __future__ import annotations

import base64
import struct
import zlib


def png(width: int = 1, height: int = 1) -> bytes:
    """A black picture."""
    rows = zlib.compress(bytes((width + 1) * height), 1)
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)),
        (b"IDAT", rows),
        (b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def jpeg(width: int = 1, height: int = 1, *, thumbnail: bytes = b"") -> bytes:
    """A grey picture: each block of 8 x 8 pixels is two bits. `thumbnail` stands in a segment of its own."""
    blocks = -(-width // 8) * -(-height // 8)
    bits = "00" * blocks + "1" * (-2 * blocks % 8)
    table = bytes([1]) + bytes(15) + b"\0"  # one code, of one bit, for the symbol 0
    segments = [
        (0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0"),
        *([(0xE1, b"Exif\0\0" + thumbnail)] if thumbnail else []),
        (0xDB, b"\0" + b"\1" * 64),
        (0xC4, b"\x00" + table),
        (0xC4, b"\x10" + table),
        (0xC0, struct.pack(">BHHB", 8, height, width, 1) + b"\1\x11\0"),
        (0xDA, b"\1\1\0\0\x3f\0"),
    ]
    head = b"".join(struct.pack(">BBH", 0xFF, kind, len(data) + 2) + data for kind, data in segments)
    scan = int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\0")
    return b"\xff\xd8" + head + scan + b"\xff\xd9"


GIF = bytes.fromhex("47494638396101000100800000000000ffffff2c00000000010001000002024401003b")
"""1 x 1."""
WEBP_LOSSY = base64.b64decode("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
"""1 x 1."""
WEBP_LOSSLESS = base64.b64decode("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
"""1 x 1."""
WEBP_EXTENDED = base64.b64decode(
    "UklGRkoAAABXRUJQVlA4WAoAAAAQAAAAAAAAAAAAQUxQSAwAAAARBxAR/Q9ERP8DAABWUDggGAAAABQBAJ0BKgEAAQAAAP4AAA3AAP7m"
    "tQAAAA=="
)
"""1 x 1, with transparency."""
