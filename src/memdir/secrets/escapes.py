"""Text as it is written -> as a reader, a program or a decoder has it, with the place of every character."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

from memdir.secrets.values import readable

_AROUND = 800
_ROUNDS = 3
"""So often an escape may be escaped itself (`%255F`)."""

# What stands for nothing: colours of a terminal, what no eye sees, markup in the middle of a word, the seam
# of a string put together from two, the end of a line that goes on.
_UNSEEN = (
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000e0000-\U000e0fff]+"
)
_NOTHING = (
    r"\x1b\[[0-9;?]{0,20}[A-Za-z]",
    _UNSEEN,
    r"(?<=\w)(?:\*{1,3}|`{1,2}|~~|</?[A-Za-z]{1,9} ?/?>|<!--[^<>\n]{0,40}-->){1,3}(?=\w)",
    r"[\"'`]\s{0,40}(?:\+|\.\.?|&|\\?\n)\s{0,40}[\"'`]",
    r"\\\r?\n[ \t]{0,40}",
)
_NAMED = {
    "lowbar": "_", "UnderBar": "_", "hyphen": "-", "dash": "-", "amp": "&", "equals": "=", "colon": ":",
    "period": ".", "sol": "/", "plus": "+", "num": "#", "quot": '"', "apos": "'",
}  # fmt: skip


def _of(base: int) -> Callable[[str], str]:
    return lambda digits: chr(int(digits, base))


# What stands for one character, or letters each for one: how it is written, and how to read the group in it.
_ONE: tuple[tuple[str, Callable[[str], str]], ...] = (
    (r"(?:%|\\x|\\u00|\\U000000)([2-7][0-9A-Fa-f])", _of(16)),
    (r"\\u\{0{0,4}([2-7][0-9A-Fa-f])\}", _of(16)),
    (r"&#[xX]0{0,5}([2-7][0-9A-Fa-f]);?", _of(16)),
    (r"&#0{0,5}(3[2-9]|[4-9]\d|1[01]\d|12[0-6])(?!\d);?", _of(10)),
    (r"\\(0[4-7][0-7]|1[0-7]{2})", _of(8)),
    (rf"&({'|'.join(_NAMED)});", lambda name: _NAMED[name]),
    (r"\\([nrt])(?=[A-Za-z0-9])", lambda _: "\n"),
    (r"\\([_.*~=+/#:-])", lambda itself: itself),
    (
        "([\uff10-\uff19\uff21-\uff3a\uff3f\uff41-\uff5a\U0001d400-\U0001d7ff]+)",  # full-width, mathematical
        lambda letters: unicodedata.normalize("NFKC", letters),
    ),
)
_ESCAPE = re.compile("|".join((*_NOTHING, *(written for written, _ in _ONE))))

_BASE64 = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{24,100000}+={0,2}(?![A-Za-z0-9+/=])")
_HEX = re.compile(
    r"(?<![A-Za-z0-9])(?:0x)?((?:[0-7][0-9a-f]){20,2000}|(?:[0-7][0-9A-F]){20,2000})(?![A-Za-z0-9])"
)
# A word at the end of a line and one that begins the next; between them what quotes and lists begin with.
_WRAPPED = re.compile(
    r"(?<![\w./+=-])[\w./+=-]{1,300}(?:[ \t]{0,3}\r?\n[ \t>*#|]{0,12}[\w./+=-]{1,300}){1,120}", re.ASCII
)
_DIGIT = re.compile(r"\d")
_SHORTEST = 24
_PART = re.compile(r"[\w./+=-]+", re.ASCII)
_WORD = re.compile(r"[A-Za-z][a-z]{2,20}[.]?")


def unescaped(text: str) -> Iterator[tuple[str, list[int]]]:
    """What is around escapes, without them; the place in `text` of each character and of the end."""
    for start, end in _windows(text):
        clear, places = text[start:end], list(range(start, end + 1))
        for _ in range(_ROUNDS):
            if not _ESCAPE.search(clear):
                break
            clear, inner = _once(clear)
            places = [places[place] for place in inner]
        yield clear, places


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """The text around escapes: as much as a name and its value take, and whole words."""
    start = end = -1
    for match in _ESCAPE.finditer(text):
        if match.start() > end:
            if end >= 0:
                yield start, end
            least = max(0, end, match.start() - 2 * _AROUND)
            wanted = max(least, match.start() - _AROUND)
            start = max(least, *(text.rfind(blank, least, wanted) + 1 for blank in " \n"))
        end = min(len(text), match.end() + _AROUND)
    if end >= 0:
        yield start, end


def _once(text: str) -> tuple[str, list[int]]:
    pieces: list[str] = []
    places: list[int] = []
    position = 0
    for match in _ESCAPE.finditer(text):
        pieces.append(text[position : match.start()])
        places.extend(range(position, match.start()))
        if match.lastindex:
            plain = _ONE[match.lastindex - 1][1](match[match.lastindex])
            pieces.append(plain)
            places.extend(range(match.start(), match.start() + len(plain)))  # each letter has one of its own
        position = match.end()
    pieces.append(text[position:])
    places.extend(range(position, len(text) + 1))
    return "".join(pieces), places


def wrapped(text: str, begins: tuple[str, ...]) -> Iterator[tuple[str, list[int]]]:
    """What machines made and line breaks cut in pieces: put together, with the place of each character.

    Words of a sentence are no such pieces; nor is, but as the first, what begins as a token does.
    """
    for match in _WRAPPED.finditer(text):
        if len(match[0]) < _SHORTEST or not _DIGIT.search(match[0]):
            continue
        pieces: list[str] = []
        places: list[int] = []
        for part in _PART.finditer(text, match.start(), match.end()):
            is_word = _WORD.fullmatch(part[0]) is not None
            if is_word or part[0].startswith(begins):
                if len(pieces) > 1 and len(places) >= _SHORTEST:
                    yield "".join(pieces), places
                pieces, places = [], []
            if not is_word:
                pieces.append(part[0])
                places += range(part.start(), part.end())
        if len(pieces) > 1 and len(places) >= _SHORTEST:
            yield "".join(pieces), places


def encoded(text: str) -> Iterator[tuple[int, int, str]]:
    """Runs of base64 or hexadecimal that are readable text: start, end, and what they say."""
    for match in _BASE64.finditer(text):
        if plain := readable(match[0]):
            yield match.start(), match.end(), plain
    for match in _HEX.finditer(text):
        plain = bytes.fromhex(match[1]).decode("ascii").strip("\0\r\n")
        if plain.isprintable():
            yield match.start(), match.end(), plain
