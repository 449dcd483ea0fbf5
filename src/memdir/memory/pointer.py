"""One line of the index <-> the `Pointer` it stands for (F6).

- [Title](file.md) — one-line hook
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from memdir.memory.manifest import harmless

LENGTH = 200
"""Characters of a pointer's line, about (F6). A longer hook is shortened; the file name never is."""
TITLE_LENGTH = 80

_BULLET = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_ITEM = re.compile(_BULLET.pattern + r"(?:\[[ xX]\][ \t]+)?[*_]{0,3}\[")
_LINK = re.compile(
    r"\][*_]{0,3}\([ \t]*(?:<(?P<angled>[^<>]*)>|(?P<bare>(?:[^\s()<>\\]|\\.|\([^\s()]*\))+))"
    r"(?:[ \t]+(?:\"[^\"]*\"|'[^']*'))?[ \t]*\)[*_]{0,3}"
)
_DASH = re.compile(r"[ \t]*(?:—|–|--|-|:|：)?[ \t]*")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointer:
    """One entry of the index. `file` is a path relative to the directory, with `/`."""

    title: str
    file: str
    hook: str


def written(pointer: Pointer) -> str:
    """An entry as it stands in the index, without its line end (F6): escaped, one line, not too long."""
    title = _shortened(_plain(pointer.title) or posixpath.basename(pointer.file), TITLE_LENGTH)
    head = "- [" + re.sub(r"([][<`\\])", r"\\\1", title) + f"]({_encoded(pointer.file)})"
    hook = _shortened(_plain(pointer.hook), LENGTH - len(head) - len(" — "))
    return f"{head} — {hook}" if hook else head


def _plain(text: str) -> str:
    """Text of an entry: harmless, and nothing in it ends a comment that somebody opened above."""
    return harmless(text).replace("-->", "→")


def rewritten(line: str, pointer: Pointer) -> str:
    """A line that is an entry with another one in its place: its bullet and its end stay."""
    bullet = _BULLET.match(line)
    end = line[len(line.rstrip("\r\n")) :]
    return (bullet[0] if bullet else "- ") + written(pointer).removeprefix("- ") + end


def entry(line: str) -> Pointer | None:
    """What a line points to, however it is spelled; None for one that is no entry."""
    item = _ITEM.match(line)
    links = _LINK.finditer(line, item.end()) if item else iter(())
    link = next((link for link in links if not _is_escaped(line, link.start())), None)
    file = _file(link) if link else None
    if not item or not link or not file:
        return None
    hook = line[link.end() :].strip()
    title = _ESCAPED.sub(r"\1", line[item.end() : link.start()]).strip()
    return Pointer(title=title, file=file, hook=_DASH.sub("", hook, count=1))


def links(line: str) -> Iterator[str]:
    """The files of the directory that a line links to anywhere, entry or not, as `key` gives them."""
    return (key(file) for link in _LINK.finditer(line) if (file := _file(link)))


def _is_escaped(line: str, at: int) -> bool:
    start = at
    while start and line[start - 1] == "\\":
        start -= 1
    return (at - start) % 2 == 1


def _file(link: re.Match[str]) -> str | None:
    """The file of the directory that a link leads to, or None for one that leads elsewhere."""
    target = link["bare"] or link["angled"].strip()
    target = re.split("[#?]", _ESCAPED.sub(r"\1", target), maxsplit=1)[0]
    if _SCHEME.match(target):
        return None
    path = posixpath.normpath(unquote(target))
    return path if path.endswith(".md") and not path.startswith(("../", "/")) else None


def _encoded(file: str) -> str:
    """A file name as a link's target; only what would end or bend the link is encoded."""

    def one(match: re.Match[str]) -> str:
        return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "surrogatepass"))

    return re.sub(r"[\s\x00-\x20\x7f()<>%#?\\:]", one, file)


def _shortened(text: str, length: int) -> str:
    """At most `length` characters, cut between words where there are words."""
    if len(text) <= length:
        return text
    if length < 2:
        return ""
    cut = text[: length - 1]
    words = cut.rsplit(" ", 1)[0] if " " in cut[length // 2 :] else cut
    return words.rstrip() + "…"


def same(one: str, other: str) -> bool:
    """Whether two names are of one file."""
    return key(one) == key(other)


def key(file: str) -> str:
    """A file name to compare by."""
    return unicodedata.normalize("NFC", posixpath.normpath(file))
