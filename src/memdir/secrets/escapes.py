"""Text as it is written -> as a reader decodes it, with the place of every character."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memdir.secrets.values import decoded

_INVISIBLE = "\u00ad\u034f\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufe0f\ufeff"
_ESCAPE = re.compile(
    rf"[{_INVISIBLE}]+|%[2-7][0-9A-Fa-f]|\\u00[2-7][0-9A-Fa-f]|\\u\{{[2-7][0-9A-Fa-f]\}}|\\x[2-7][0-9A-Fa-f]"
    r"|&#x[2-7][0-9A-Fa-f];|&#(?:3[2-9]|[4-9]\d|1[01]\d|12[0-6]);|&(?:lowbar|hyphen|amp|equals|colon|"
    r"period|sol|plus);"
    r"|\\[_.*~=+/#:-]|\\\r?\n[ \t]{0,40}|[\uff10-\uff19\uff21-\uff3a\uff3f\uff41-\uff5a]"
)
_NAMED = {
    "lowbar": "_",
    "hyphen": "-",
    "amp": "&",
    "equals": "=",
    "colon": ":",
    "period": ".",
    "sol": "/",
    "plus": "+",
}
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{24,1200}={0,2}(?![A-Za-z0-9+/=])")
_HEX = re.compile(r"(?<![A-Za-z0-9])(?:[2-7][0-9a-f]){20,300}(?![A-Za-z0-9])")


def unescaped(text: str) -> tuple[str, list[int]] | None:
    """The text without escapes; the place in `text` of each character and of the end. None: it has none."""
    if not _ESCAPE.search(text):
        return None
    pieces: list[str] = []
    places: list[int] = []
    position = 0
    for match in _ESCAPE.finditer(text):
        pieces.append(text[position : match.start()])
        places.extend(range(position, match.start()))
        if plain := _meant(match[0]):
            pieces.append(plain)
            places.append(match.start())
        position = match.end()
    pieces.append(text[position:])
    places.extend(range(position, len(text) + 1))
    return "".join(pieces), places


def _meant(escape: str) -> str:
    """The one character that the escape stands for, or nothing."""
    if escape[0] in _INVISIBLE or escape[1:2] in ("\n", "\r"):
        return ""
    if escape[0] == "%" or escape[:2] in ("\\u", "\\x"):
        return chr(int(re.findall(r"[0-9A-Fa-f]{2}", escape)[-1], 16))
    if escape[:2] == "&#":
        return chr(int(escape[3:-1], 16)) if escape[2] == "x" else chr(int(escape[2:-1]))
    if escape[0] == "&":
        return _NAMED[escape[1:-1]]
    if escape[0] == "\\":
        return escape[1]
    return chr(ord(escape) - 0xFEE0)  # full-width letters stand in the order of ASCII


def encoded(text: str) -> Iterator[tuple[int, int, str]]:
    """Runs of base64 or hexadecimal that are readable text: start, end, and what they say."""
    for match in _BASE64.finditer(text):
        if plain := decoded(match[0]):
            yield match.start(), match.end(), plain
    for match in _HEX.finditer(text):
        plain = bytes.fromhex(match[0]).decode("ascii")
        if plain.isprintable():
            yield match.start(), match.end(), plain
