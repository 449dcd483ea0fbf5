"""`MEMORY.md`, the index: what of it is loaded, and pointers put in and taken out (F6, F7).

    - [Title](file.md) — one-line hook

Only a list item that starts with a link to an `.md` file of the directory is a pointer; what is indented
below it belongs to it, and goes and comes back with it. The same link in a sentence, a code block or a
comment is none, and is never touched. Nothing here reads or writes a file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import takewhile

from memdir.memory.frontmatter import LINE, line_end, without_halves
from memdir.memory.index_lines import Line, counting, front_lines
from memdir.memory.manifest import harmless
from memdir.memory.pointer import LENGTH, Pointer, entry, key, links, rewritten, same, written
from memdir.names import INDEX as NAME

__all__ = [
    "MAX_BYTES", "MAX_LINES", "NAME", "Loaded", "Pointer", "add", "add_all", "excess", "linked", "load",
    "named", "over_limit", "pointers", "put_back", "remove", "take", "written",
]  # fmt: skip

MAX_LINES = 200
MAX_BYTES = 25_000
SHOWN = 20
"""How many invisible entries an error names."""
TITLES = 4_000
"""Characters for the titles of what was cut away, in the warning that is loaded with the rest."""
TITLE = 80
"""Characters of one of them."""
LONGEST_NAME = 255
"""Characters of a file's name that is told with its title; no disk has longer ones."""
_PROBE = "probe.md"


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


# -- loading --------------------------------------------------------------------------------------------


def load(text: str) -> Loaded:
    """The index as a model gets it (F7): what counts, cut to the limits, with a warning if it was cut."""
    counted = list(counting(without_halves(text)))
    whole = "".join(line.text for line in counted)
    lines, size = len(LINE.findall(whole)), len(whole.encode())
    if lines <= MAX_LINES and size <= MAX_BYTES:
        return Loaded(text=whole, truncated=False, lines=lines, bytes=size)
    kept = _cut(whole)
    return Loaded(
        text=f"{kept}\n\n{_warning(lines, size, list(_cut_away(counted, len(kept))))}",
        truncated=True,
        lines=lines,
        bytes=size,
        invisible=tuple(line for line in _cut_away(counted, len(kept)) if entry(line)),
    )


def over_limit(text: str) -> str | None:
    """What to tell a tool whose write left the index over a limit (F7), or None. The write stands."""
    loaded = load(text)
    if not loaded.truncated:
        return None
    lost = f"These entries are now invisible: {named(loaded)}. " if loaded.invisible else ""
    return (
        f"The write succeeded, but it left {NAME} at {excess(loaded)}; what is beyond that is dropped each "
        f"time it is loaded. {lost}Rewrite it now to under {MAX_LINES * 7 // 10} lines and "
        f"{MAX_BYTES * 7 // 10:,} bytes: one short line an entry, details in topic files, nothing stale."
    )


def excess(loaded: Loaded) -> str:
    """Which limit it is over, or both, with the size before the cut; empty within them."""
    return _excess(loaded.lines, loaded.bytes)


def named(loaded: Loaded) -> str:
    """The files of the entries that were cut away, not all where there are many."""
    files = [pointer.file for line in loaded.invisible if (pointer := entry(line))]
    more = f", and {len(files) - SHOWN} more" if len(files) > SHOWN else ""
    return ", ".join(map(harmless, files[:SHOWN])) + more


def _warning(lines: int, size: int, lost: Sequence[str]) -> str:
    """What stands below an index that was cut. `lost`: the lines that were cut away."""
    titles = _titles(lost)
    below = f" What is not shown, the last first: {titles}. Read what bears on your work." if titles else ""
    return (
        f"> WARNING: {NAME} is {_excess(lines, size)}; only the first part of it is shown.{below} Keep each "
        f"entry to one line under {LENGTH} characters, move details into topic files, drop stale entries."
    )


def _titles(lost: Sequence[str]) -> str:
    """What lines were about, from the last: an entry's title and file, or how another line begins.

    Who adds to the end of an index adds the newest there, so that is named first.
    """
    titles, room = list[str](), TITLES
    for line in reversed(lost):
        pointer = entry(line)
        title = harmless(pointer.title if pointer else line.strip("#>-*+ \t"))
        title = title if len(title) <= TITLE else f"{title[: TITLE - 1].rstrip()}…"
        if pointer and len(pointer.file) <= LONGEST_NAME:
            title += f" ({harmless(pointer.file)})"
        room -= len(title) + 2
        if room < 0:
            break
        titles.append(title)
    more = f"; and {len(lost) - len(titles)} more" if len(titles) < len(lost) else ""
    return "; ".join(titles) + more


def _excess(lines: int, size: int) -> str:
    over = []
    if lines > MAX_LINES:
        over.append(f"{lines:,} lines (limit: {MAX_LINES})")
    if size > MAX_BYTES:
        over.append(f"{size:,} bytes (limit: {MAX_BYTES:,})")
    return " and ".join(over)


def _cut(text: str) -> str:
    """The first lines, then the first bytes up to a line's end, or to a character's where there is none."""
    lines = LINE.findall(text)[:MAX_LINES]
    kept = "".join(lines).rstrip("\r\n")
    if len(kept.encode()) <= MAX_BYTES:
        return kept
    room, whole = MAX_BYTES, list[str]()
    for line in lines:
        if len(line.rstrip("\r\n").encode()) > room:
            break
        whole.append(line)
        room -= len(line.encode())
    first = "".join(whole).rstrip("\r\n")
    return first or kept.encode()[:MAX_BYTES].decode("utf-8", "ignore")


def _cut_away(counted: Sequence[Line], kept: int) -> Iterator[str]:
    """The lines that do not end within the first `kept` characters and say something of their own: entries,
    also indented ones, and text that goes on none.
    """
    end = 0
    for line in counted:
        text = line.text.strip()
        is_own = entry(line.text) or (text.strip("#>-*+ ") and not line.text.startswith((" ", "\t")))
        if end + len(line.text.rstrip("\r\n")) > kept and line.plain and is_own:
            yield text
        end += len(line.text)


# -- pointers -------------------------------------------------------------------------------------------


def pointers(text: str) -> list[Pointer]:
    """All entries of the index, in order, those beyond the limits too."""
    return [pointer for _, pointer in _pointer_lines(text)]


def linked(text: str) -> set[str]:
    """The files that the index links to anywhere that counts: a table or a sentence will do."""
    return {file for line in counting(text) if line.plain for file in links(line.text)}


def add(text: str, pointer: Pointer) -> str:
    """The index with that entry: in the place of the one for the same file, else behind the last.

    Where it would be beyond what is loaded it goes to the front, so that a new memory is never the
    invisible one. Every other byte stays; a missing final newline is made up for.
    """
    return add_all(text, [pointer])


def add_all(text: str, new: Sequence[Pointer]) -> str:
    """`add` of several, in one pass; the last of them is the newest. No file is in there twice."""
    bom, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    lines, missing = LINE.findall(text), list[Pointer]()
    there = {key(old.file): (line, old) for line, old in reversed(list(_pointer_lines(text)))}
    for pointer in new:
        line, old = there.get(key(pointer.file), (None, None))
        if line is None:
            missing.append(pointer)
        elif old != entry(written(pointer)):
            lines[line.number] = rewritten(line.text, pointer)
    return bom + (_with_new(text, lines, missing) if missing else "".join(lines))


def _with_new(text: str, lines: Sequence[str], new: Sequence[Pointer]) -> str:
    """The lines, which are those of `text`, with entries for files that have none, where they are seen."""
    eol = line_end(text)
    entries = [written(pointer) + eol for pointer in new]
    behind, *before = _places(text, lines)
    result = "".join(_inserted(lines, behind, entries, eol))
    for place in before:
        if _is_visible(result, new[-1].file):
            break
        result = "".join(_inserted(lines, place, entries[::-1], eol))
    return result


def remove(text: str, file: str) -> str:
    """The index without its entries for that file; every other byte stays."""
    return take(text, file)[0]


def take(text: str, file: str) -> tuple[str, tuple[tuple[int, str], ...]]:
    """`remove`, and the lines that went with their places, for `put_back`."""
    lines, found = LINE.findall(text), list(_pointer_lines(text))
    gone = {line.number for line, pointer in found if same(pointer.file, file)}
    entries = {line.number for line, _ in found}
    own = gone.union(*(_own(lines, number, _indent(lines[number]), entries) for number in gone))
    left = [(key(pointer.file), pointer) for _, pointer in found if not same(pointer.file, file)]
    for numbers in (own, gone):  # the second where a code block or comment begins in those lines
        new = "".join(line for number, line in enumerate(lines) if number not in numbers)
        if [(key(pointer.file), pointer) for pointer in pointers(new)] == left:
            break
    if merging := _merging(lines, numbers):
        numbers = numbers | merging
        new = "".join(line for number, line in enumerate(lines) if number not in numbers)
    bare = [lines[0].removeprefix("\ufeff"), *lines[1:]] if lines else []
    taken = tuple((number, bare[number]) for number in sorted(numbers))
    return ("\ufeff" if text.startswith("\ufeff") and 0 in numbers else "") + new, taken


def put_back(text: str, taken: Sequence[tuple[int, str]], pointer: Pointer) -> str:
    """The inverse of `take`: exact if the index is as it was left, as near as can be if not.

    `pointer` is written where the old lines no longer count, or would hide others (in a comment, say).
    """
    old = pointers(text)
    if any(same(there.file, pointer.file) for there in old):
        return text
    bom, rest = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    lines, eol = LINE.findall(rest), line_end(rest)
    for number, line in taken:
        lines = _inserted(lines, min(number, len(lines)), [line], eol)
    new = bom + "".join(lines)
    now = [there for there in pointers(new) if not same(there.file, pointer.file)]
    return new if now == old and len(pointers(new)) > len(old) else add(text, pointer)


def _pointer_lines(text: str) -> Iterator[tuple[Line, Pointer]]:
    for line in counting(text):
        if line.plain and (pointer := entry(line.text)):
            yield line, pointer


def _own(lines: Sequence[str], number: int, indent: int, entries: AbstractSet[int]) -> list[int]:
    """The numbers of the lines that belong to an entry on line `number`: those indented below it.

    A code block or comment that does not end among them is somebody else's, with all that follows.
    """
    own = list(_below(lines, number, indent, entries))
    text = "- x\n" + "".join(lines[below] for below in own)
    if any(one.file == _PROBE for one in pointers(f"{text}- [x]({_PROBE})\n-->\n")):
        return own
    plain = {line.number for line in counting(text) if line.plain}
    own = own[: len(list(takewhile(plain.__contains__, range(1, len(own) + 1))))]
    return own[: max((at for at, below in enumerate(own, 1) if lines[below].strip()), default=0)]


def _below(lines: Sequence[str], number: int, indent: int, entries: AbstractSet[int]) -> Iterator[int]:
    """The lines behind line `number` that are indented deeper, up to the next entry.

    A paragraph behind blank lines counts if it is indented as the text of a list item has to be.
    """
    blank: list[int] = []
    for below in range(number + 1, len(lines)):
        if not lines[below].strip():
            blank.append(below)
        elif below in entries or _indent(lines[below]) <= indent + bool(blank):
            return
        else:
            yield from (*blank, below)
            blank = []


def _indent(line: str) -> int:
    line = line.removeprefix("\ufeff")
    return len(line) - len(line.lstrip(" \t"))


def _places(text: str, lines: Sequence[str]) -> tuple[int, ...]:
    """Where a new entry may go, best first: behind the last one (or all), before the first, at the top.

    Nowhere would it take over lines that are indented below something else.
    """

    def free(place: int) -> int:
        return max(_own(lines, place - 1, 0, entries), default=place - 1) + 1

    numbers = [line.number for line, _ in _pointer_lines(text)]
    entries, front = set(numbers), front_lines(text)
    if not numbers:
        return len(lines), free(front)
    return free(numbers[-1] + 1), numbers[0], free(front)


def _merging(lines: Sequence[str], gone: Collection[int]) -> set[int]:
    """Empty lines that would become one line end with a CR before them, were those between them gone."""
    found, before = set[int](), ""
    for number, line in enumerate(lines):
        if number in gone:
            continue
        if before.endswith("\r") and line == "\n":
            found.add(number)
        else:
            before = line
    return found


def _inserted(lines: Sequence[str], place: int, new: Sequence[str], eol: str) -> list[str]:
    before, behind = list(lines[:place]), list(lines[place:])
    if before and not before[-1].endswith(("\n", "\r")):
        before[-1] += eol
    new = [*new[:-1], new[-1] if not behind or new[-1].endswith(("\n", "\r")) else new[-1] + eol]
    if behind and new and new[-1].endswith("\r") and behind[0].startswith("\n"):
        new[-1] += "\n"  # else the two line ends would become one
    return [*before, *new, *behind]


def _is_visible(text: str, file: str) -> bool:
    cut_away = load(text).invisible
    return any(
        same(pointer.file, file) and line.text.strip() not in cut_away
        for line, pointer in _pointer_lines(text)
    )
