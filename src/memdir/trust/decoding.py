"""Text -> what is encoded in it: base64, hexadecimal, percent, entities, escapes (E11). Pure, linear."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from collections.abc import Iterator
from urllib.parse import unquote_plus

DEEPEST = 3
"""Encoded text in encoded text is followed so far."""
MOST = 200
"""So many encoded runs of one text are read."""


def decoded_forms(text: str) -> tuple[str, ...]:
    """What a reader who decodes would find in the text, without the text itself."""
    found: list[str] = []
    layer = [text]
    for _ in range(DEEPEST):
        layer = [plain for one in layer for plain in _decoded(one)]
        found += layer
    return tuple(dict.fromkeys(found))


def encoded_run(text: str) -> str | None:
    """The first run in a text that hides words: what it says, or None."""
    for run in _runs(text):
        return run
    return None


def _decoded(text: str) -> Iterator[str]:
    if "&" in text and (plain := html.unescape(text)) != text:
        yield plain
    if "%" in text and _PERCENT.search(text):
        yield unquote_plus(text, errors="replace")
    for count, run in enumerate(_runs(text)):
        if count >= MOST:
            return
        yield run


def _runs(text: str) -> Iterator[str]:
    """The words in base64, hexadecimal or escaped runs."""
    for match in _BASE64.finditer(text):
        if plain := _from_base64(match[0]):
            yield plain
    for match in _HEX.finditer(text):
        if plain := _readable(bytes.fromhex(match[0] if len(match[0]) % 2 == 0 else match[0][:-1])):
            yield plain
    for match in _ESCAPED.finditer(text):
        if plain := _unescaped(match[0]):
            yield plain
    for match in _PERCENTS.finditer(text):
        yield unquote_plus(match[0], errors="replace")
    for match in _ENTITIES.finditer(text):
        yield html.unescape(match[0])


def _from_base64(run: str) -> str | None:
    body = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        data = base64.b64decode(body + "=" * (-len(body) % 4))
    except (binascii.Error, ValueError):
        return None
    return _readable(data)


def _readable(data: bytes) -> str | None:
    """The bytes as text, if they are words rather than noise."""
    if len(data) < 8:
        return None
    for encoding in ("utf-8", "utf-16-le"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        plain = sum(char.isalpha() or char in " .-_/:,'" for char in text)
        if text.isprintable() and plain >= 0.75 * len(text) and (text.isascii() or encoding == "utf-8"):
            return text
    return None


def _unescaped(run: str) -> str | None:
    try:
        text = codecs.decode(run.encode("ascii"), "unicode_escape")
    except (UnicodeDecodeError, ValueError):
        return None
    return text if text.isprintable() else None


_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_=.-])[A-Za-z0-9+/_-]{12,20000}={0,2}(?![A-Za-z0-9+/_=])")
_HEX = re.compile(r"(?<![A-Za-z0-9])(?:[0-9A-Fa-f]{2}){8,10000}(?![A-Za-z0-9])")
_ESCAPED = re.compile(r"(?:\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\[0-3][0-7]{2}){3,2000}")
_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}|\w\+\w")
_PERCENTS = re.compile(r"(?:%[0-7][0-9A-Fa-f]){4,2000}")
_ENTITIES = re.compile(r"(?:&#(?:x[0-9A-Fa-f]{1,6}|\d{1,7});){3,2000}")
