"""`MEMORY.md`, the index: what of it is loaded, and pointers put in and taken out (F6, F7).

    - [Title](file.md) — one-line hook

Only a list item that starts with a link to an `.md` file of the directory is a pointer. The same link in
a sentence, a code block or a comment is not, and is never touched. Nothing here reads or writes a file.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from memdir.memory import frontmatter
from memdir.memory.manifest import harmless

NAME = "MEMORY.md"
MAX_LINES = 200
MAX_BYTES = 25_000
POINTER_LENGTH = 200
"""Characters of a pointer's line, about (F6). A longer hook is shortened; the file name never is."""
TITLE_LENGTH = 80
SHOWN = 20
"""How many invisible entries an error names."""

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_BULLET = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_ITEM = re.compile(_BULLET.pattern + r"(?:\[[ xX]\][ \t]+)?[*_]{0,3}\[")
_LINK = re.compile(
    r"\][*_]{0,3}\([ \t]*(?:<(?P<angled>[^<>]*)>|(?P<bare>(?:[^\s()<>\\]|\\.|\([^\s()]*\))+))"
    r"(?:[ \t]+(?:\"[^\"]*\"|'[^']*'))?[ \t]*\)[*_]{0,3}"
)
_DASH = re.compile(r"[ \t]*(?:—|–|--|-|:|：)?[ \t]*")
_FENCE = re.compile(r"[ ]{0,3}(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}(?=[^`]*$)|~{3,})")
_COMMENT = re.compile(r"[ ]{0,3}<!--")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointer:
    """One entry of the index. `file` is a path relative to the directory, with `/`."""

    title: str
    file: str
    hook: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What of the index reaches a model, and what it measured before the cut.

    `lines` and `bytes` (UTF-8) are of what counts; `invisible` holds the pointer lines that were cut away.
    """

    text: str
    truncated: bool
    lines: int
    bytes: int
    invisible: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A line that counts. `number`: its place in the text, from 0; `plain`: neither code nor half comment."""

    number: int
    text: str
    plain: bool


# -- loading --------------------------------------------------------------------------------------------


def load(text: str) -> Loaded:
    """The index as a model gets it (F7): what counts, cut to the limits, with a warning if it was cut."""
    counted = list(_counting(frontmatter.without_halves(text)))
    whole = "".join(line.text for line in counted)
    lines, size = len(_LINE.findall(whole)), len(whole.encode())
    if lines <= MAX_LINES and size <= MAX_BYTES:
        return Loaded(text=whole, truncated=False, lines=lines, bytes=size)
    kept = _cut(whole)
    return Loaded(
        text=f"{kept}\n\n{_warning(lines, size)}",
        truncated=True,
        lines=lines,
        bytes=size,
        invisible=tuple(_beyond(counted, len(kept))),
    )


def over_limit(text: str) -> str | None:
    """What to tell a tool whose write left the index over a limit (F7), or None. The write stands."""
    loaded = load(text)
    if not loaded.truncated:
        return None
    files = [pointer.file for line in loaded.invisible if (pointer := _pointer(line))]
    more = f", and {len(files) - SHOWN} more" if len(files) > SHOWN else ""
    lost = (
        f"These entries are now invisible: {', '.join(map(harmless, files[:SHOWN]))}{more}. " if files else ""
    )
    return (
        f"The write succeeded, but it left {NAME} at {_excess(loaded.lines, loaded.bytes)}; what is beyond "
        f"that is dropped each time it is loaded. {lost}Rewrite it now to under {MAX_LINES * 7 // 10} lines "
        f"and {MAX_BYTES * 7 // 10:,} bytes: one short line an entry, details in topic files, nothing stale."
    )


def _warning(lines: int, size: int) -> str:
    return (
        f"> WARNING: {NAME} is {_excess(lines, size)}; only the first part of it is shown. Keep each entry "
        f"to one line under {POINTER_LENGTH} characters, move details into topic files, drop stale entries."
    )


def _excess(lines: int, size: int) -> str:
    """Which limit, or both, and the size before the cut."""
    over = []
    if lines > MAX_LINES:
        over.append(f"{lines:,} lines (limit: {MAX_LINES})")
    if size > MAX_BYTES:
        over.append(f"{size:,} bytes (limit: {MAX_BYTES:,})")
    return " and ".join(over)


def _cut(text: str) -> str:
    """The first lines, then the first bytes up to a line's end, or to a character's where there is none."""
    kept = "".join(_LINE.findall(text)[:MAX_LINES]).rstrip("\r\n")
    data = kept.encode()
    if len(data) <= MAX_BYTES:
        return kept
    end = data.rfind(b"\n", 1, MAX_BYTES + 1)
    return data[: end if end > 0 else MAX_BYTES].decode("utf-8", "ignore").rstrip("\r")


def _beyond(counted: Sequence[_Line], kept: int) -> Iterator[str]:
    """The pointer lines that do not end within the first `kept` characters."""
    end = 0
    for line in counted:
        if end + len(line.text.rstrip("\r\n")) > kept and line.plain and _pointer(line.text):
            yield line.text.strip()
        end += len(line.text)


def _counting(text: str) -> Iterator[_Line]:
    """The lines that count: not those of the frontmatter, nor of comments that stand as a block (F7).

    A comment in a code block is text, and so is one that is never closed: the rest of the index is not lost.
    Blank lines before the first that counts go with what was taken out above them.
    """
    lines = _LINE.findall(text.lstrip("\ufeff"))
    last_close = max((number for number, line in enumerate(lines) if "-->" in line), default=-1)
    first = _front(text)
    started, fence, inside = first == 0, "", False
    for number in range(first, len(lines)):
        line = lines[number]
        if fence:
            closed = re.fullmatch(rf"[ ]{{0,3}}{fence[0]}{{{len(fence)},}}\s*", line)
            fence = "" if closed else fence
            yield _Line(number=number, text=line, plain=False)
            continue
        rest, inside = _without_comments(line, inside=inside, closes=number < last_close)
        if rest != line and not rest.strip():
            started = started and number > first
            continue
        if opened := _FENCE.match(rest.rstrip("\r\n")):
            fence = opened[1]
        if started or rest.strip():
            started = True
            yield _Line(number=number, text=rest, plain=rest == line and not fence)


def _without_comments(line: str, *, inside: bool, closes: bool) -> tuple[str, bool]:
    """A line without the block comments in it, and whether one goes on. `closes`: a later line can end it."""
    start = 0
    while True:
        opened = _COMMENT.match(line, start)
        if not inside and not opened:
            return line[start:], False
        end = line.find("-->", start if inside or not opened else opened.end() - len("--"))
        if end < 0:
            return ("", True) if inside or closes else (line[start:], False)
        start, inside = end + len("-->"), False


def _front(text: str) -> int:
    """How many lines the frontmatter takes."""
    header = frontmatter.read(text)
    return len(_LINE.findall(text[: len(text) - len(header.body)])) if header else 0


# -- pointers -------------------------------------------------------------------------------------------


def pointers(text: str) -> list[Pointer]:
    """All entries of the index, in order, those beyond the limits too."""
    return [pointer for _, pointer in _pointer_lines(text)]


def linked(text: str) -> set[str]:
    """The files that the index links to anywhere that counts: a table or a sentence will do."""
    links = (link for line in _counting(text) if line.plain for link in _LINK.finditer(line.text))
    return {unicodedata.normalize("NFC", file) for link in links if (file := _file(link))}


def add(text: str, pointer: Pointer) -> str:
    """The index with that entry: in the place of the one for the same file, else behind the last.

    Where it would be beyond what is loaded it goes to the front, so that a new memory is never the
    invisible one. Every other byte stays; a missing final newline is made up for.
    """
    bom, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    lines, entry, eol = _LINE.findall(text), written(pointer), _eol(text)
    there = [(line, old) for line, old in _pointer_lines(text) if _same(old.file, pointer.file)]
    if there:
        line, old = there[0]
        if old == _pointer(entry):
            return bom + text
        bullet = _BULLET.match(line.text)
        end = line.text[len(line.text.rstrip("\r\n")) :]
        lines[line.number] = (bullet[0] if bullet else "- ") + entry.removeprefix("- ") + end
        return bom + "".join(lines)
    for place in _places(text, lines):
        new = "".join(_inserted(lines, place, entry + eol, eol))
        if _is_visible(new, pointer.file):
            break
    return bom + new


def remove(text: str, file: str) -> str:
    """The index without its entries for that file; every other byte stays."""
    return take(text, file)[0]


def take(text: str, file: str) -> tuple[str, tuple[tuple[int, str], ...]]:
    """`remove`, and the lines that went with their places, for `put_back`."""
    gone = {line.number for line, pointer in _pointer_lines(text) if _same(pointer.file, file)}
    lines = _LINE.findall(text)
    taken = tuple((number, lines[number].removeprefix("\ufeff")) for number in sorted(gone))
    bom = "\ufeff" if text.startswith("\ufeff") and 0 in gone else ""
    return bom + "".join(line for number, line in enumerate(lines) if number not in gone), taken


def put_back(text: str, taken: Sequence[tuple[int, str]], pointer: Pointer) -> str:
    """The inverse of `take`: exact if the index is as it was left, as near as can be if not.

    `pointer` is written where the old lines no longer count (they would be in a comment, say).
    """
    if any(_same(there.file, pointer.file) for there in pointers(text)):
        return text
    bom, rest = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    lines, eol = _LINE.findall(rest), _eol(rest)
    for number, line in taken:
        lines = _inserted(lines, min(number, len(lines)), line, eol)
    new = bom + "".join(lines)
    return new if any(_same(there.file, pointer.file) for there in pointers(new)) else add(text, pointer)


def written(pointer: Pointer) -> str:
    """An entry as it stands in the index, without its line end (F6): escaped, one line, not too long."""
    title = _shortened(harmless(pointer.title) or posixpath.basename(pointer.file), TITLE_LENGTH)
    head = "- [" + re.sub(r"([][<`\\])", r"\\\1", title) + f"]({_encoded(pointer.file)})"
    hook = _shortened(harmless(pointer.hook), POINTER_LENGTH - len(head) - len(" — "))
    return f"{head} — {hook}" if hook else head


def _pointer_lines(text: str) -> Iterator[tuple[_Line, Pointer]]:
    for line in _counting(text):
        if line.plain and (pointer := _pointer(line.text)):
            yield line, pointer


def _pointer(line: str) -> Pointer | None:
    item = _ITEM.match(line)
    links = _LINK.finditer(line, item.end()) if item else iter(())
    link = next((link for link in links if not _is_escaped(line, link.start())), None)
    file = _file(link) if link else None
    if not item or not link or not file:
        return None
    hook = line[link.end() :].strip()
    title = _ESCAPED.sub(r"\1", line[item.end() : link.start()]).strip()
    return Pointer(title=title, file=file, hook=_DASH.sub("", hook, count=1))


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


def _same(one: str, other: str) -> bool:
    return unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", posixpath.normpath(other))


def _places(text: str, lines: Sequence[str]) -> tuple[int, ...]:
    """Where a new entry may go, best first: behind the last one (or all), before the first, at the top."""
    numbers = [line.number for line, _ in _pointer_lines(text)]
    front = _front(text)
    if not numbers:
        return len(lines), front
    behind = numbers[-1] + 1
    while behind < len(lines) and lines[behind][0] in " \t" and lines[behind].strip():
        behind += 1  # what is indented below an entry belongs to it
    return behind, numbers[0], front


def _inserted(lines: Sequence[str], place: int, line: str, eol: str) -> list[str]:
    before, behind = list(lines[:place]), list(lines[place:])
    if before and not before[-1].endswith("\n"):
        before[-1] += eol
    if behind and not line.endswith("\n"):
        line += eol
    return [*before, line, *behind]


def _is_visible(text: str, file: str) -> bool:
    cut_away = load(text).invisible
    return any(
        _same(pointer.file, file) and line.text.strip() not in cut_away
        for line, pointer in _pointer_lines(text)
    )


def _eol(text: str) -> str:
    return "\r\n" if text.partition("\n")[0].endswith("\r") and "\n" in text else "\n"
