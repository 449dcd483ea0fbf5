"""The header of a Markdown file: text in, its keys and their lines out, never an exception (F1, F2).

What people and programs really write between two ``---`` lines is often not YAML. This reader knows the
few shapes that matter and takes everything else as the text that was written:

    header    = BOM? "---" line* ("---" | "...")         at the very start of the file
    line      = blank | comment | key ":" value | more of the value above (deeper indented, or "- item")
    value     = 'single' | "double \\" escapes" | "|" or ">" block | plain text, as long as it likes

Numbers, dates, booleans, aliases and tags stay text: nothing is ever resolved or expanded. Each line is
looked at a bounded number of times, so reading is linear whatever the input. Lines keep their line ends
and positions, so that `Header.with_lines` can change one key and leave every other byte alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
OPEN = re.compile(r"\ufeff*---[ \t]*(\r\n|\n|\r)")
CLOSE = re.compile(r"(?<=[\r\n])(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")

BLANK = " \t\r\n"
TOP_KEYS = frozenset({"name", "description", "type", "modified", "origin", "metadata"})
NESTED_KEYS = frozenset({"type", "modified", "session", "message", "worker", "originsessionid"})
PROSE = frozenset({"name", "description"})
"""Where ` #` is text, if it is not in quotes."""
NULLS = frozenset({"~", "null", "Null", "NULL"})

_BLOCK = re.compile(r"[|>][-+0-9]{0,2}(?:[ \t]+#.*)?")
_DOUBLE = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"([ \t]+#.*)?', re.DOTALL)
_SINGLE = re.compile(r"'([^']*(?:''[^']*)*)'([ \t]+#.*)?", re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(\n+)|(.))|\n+|\\", re.DOTALL
)
_SIMPLE_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r",
    "e": "\x1b", " ": " ", '"': '"', "/": "/", "\\": "\\",
    "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_NOT_A_KEY = ("- ", "? ", ": ", "[", "{", "]", "}", ",")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LETTER = re.compile(r"[^\W\d_]")
_RESERVED = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})

# (key, lead up to the colon, value, what is wrong with it)
_Key = tuple[str, str, str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that was read around: a sentence for the file's owner, and the line (from 1) it is about."""

    message: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One key with its value, and the lines of the header it owns: `lines[start:stop]`.

    `lead` is what the first line holds up to the colon; `comment` what stands behind the value;
    `value` the text on one line, or None where nothing was written; `children` the keys of a block mapping.
    """

    key: str
    lead: str
    start: int
    stop: int
    value: str | None
    comment: str
    children: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """A header taken apart. `opening + lines + closing + body` is the whole text again."""

    opening: str
    lines: tuple[str, ...]
    closing: str
    body: str
    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...]

    @property
    def eol(self) -> str:
        """The line end the header uses."""
        return "\r\n" if self.opening.endswith("\r\n") else self.opening[-1:] or "\n"

    @property
    def text(self) -> str:
        """The whole file."""
        return "".join((self.opening, *self.lines, self.closing, self.body))

    def entry(self, *path: str) -> Entry | None:
        """The entry of that key (the last one counts when it is there twice), or of a key nested in it."""
        found, level = None, self.entries
        for key in path:
            found = next((entry for entry in reversed(level) if entry.key == key), None)
            level = found.children if found else ()
        return found

    def with_lines(self, start: int, stop: int, new: Sequence[str]) -> str:
        """The whole text with the header lines from `start` to `stop` replaced."""
        return replace(self, lines=(*self.lines[:start], *new, *self.lines[stop:])).text


@dataclass(slots=True, kw_only=True)
class _Draft:
    """An entry while its lines are being collected."""

    key: str
    lead: str
    inline: str
    start: int
    stop: int
    remark: str = ""
    open_quote: bool = field(init=False)
    plain: bool = field(init=False)

    def __post_init__(self) -> None:
        if self.inline.startswith("#") and self.key not in PROSE:
            self.inline, self.remark = "", f" {self.inline}"
        self.open_quote = self.inline.startswith(("'", '"')) and not _quoted(self.inline)
        self.plain = bool(self.inline) and not self.open_quote and not _BLOCK.fullmatch(self.inline)


def read(text: str, *, cut: bool = False) -> Header | None:
    """The header of a file, or None where it has none, or one without a single key.

    `cut`: the text is only the beginning of a file; a header that is still open at its end counts.
    """
    opening = OPEN.match(text)
    if not opening:
        return None
    closing = CLOSE.search(text, opening.end())
    if not closing and not cut:
        return None
    end, after = closing.span() if closing else (len(text), len(text))
    lines = tuple(LINE.findall(text[opening.end() : end]))
    problems: list[Problem] = []
    entries = tuple(_entries(lines, range(len(lines)), TOP_KEYS, problems))
    if not entries or (not closing and not any(entry.key in TOP_KEYS for entry in entries)):
        return None
    return Header(
        opening=text[: opening.end()],
        lines=lines,
        closing=text[end:after],
        body=text[after:],
        entries=entries,
        problems=tuple(problems),
    )


def unread(text: str) -> Problem | None:
    """Why a text that begins with a fence has no header."""
    opening = OPEN.match(text)
    if not opening and not re.fullmatch(r"\ufeff*---[ \t]*", text):
        return None
    if opening and CLOSE.search(text, opening.end()):
        return Problem(message="there is no `key: value` between the --- lines, so all of it is text", line=1)
    return Problem(message="the header is opened with --- and never closed, so all of it is text", line=1)


def _entries(
    lines: Sequence[str], numbers: range, known: frozenset[str], problems: list[Problem]
) -> Iterator[Entry]:
    """The keys that stand side by side on these lines of a header, nested ones inside them."""
    seen: set[str] = set()
    for draft in _collect(lines, numbers, known, problems):
        if draft.key in seen and draft.key in known:
            problems.append(
                _problem(draft.start, f"{draft.key} stands there more than once; the last one counts")
            )
        seen.add(draft.key)
        yield _finish(draft, lines, problems)


def _problem(number: int, message: str) -> Problem:
    """A problem on a line of the header, from 0; the lines of a file count from 1, and one is the fence."""
    return Problem(message=message, line=number + 2)


def _collect(
    lines: Sequence[str], numbers: range, known: frozenset[str], problems: list[Problem]
) -> list[_Draft]:
    """Which line belongs to which key."""
    drafts: list[_Draft] = []
    missing: set[str] = set(TOP_KEYS) if known is TOP_KEYS else set()
    current: _Draft | None = None
    base: int | None = None
    for number in numbers:
        content = lines[number].strip(BLANK)
        if not content:
            continue
        indent = len(lines[number]) - len(lines[number].lstrip(" \t"))
        key = _key(content, known)
        if current and base is not None and indent > base and not _strayed(key, current, missing):
            current.stop = number + 1
        elif content.startswith("#"):
            # A comment ends a value that has begun; a mapping or list below an empty value goes on.
            current = None if current and current.inline else current
        elif current and not current.inline and (content == "-" or content.startswith("- ")):
            current.stop = number + 1
        elif key:
            word, lead, inline, sentence = key
            if sentence:
                problems.append(_problem(number, sentence))
            # Top keys that begin flush left below indented ones end what those stood in.
            base = indent if base is None or (known is TOP_KEYS and indent < base) else base
            lead = lines[number][:indent] + lead
            current = _Draft(key=word, lead=lead, inline=inline, start=number, stop=number + 1)
            drafts.append(current)
            missing.discard(word)
        elif current and current.open_quote:
            current.stop = number + 1
        else:
            problems.append(_problem(number, "this is no `key: value`; it was skipped"))
            current = None
    return drafts


def _strayed(key: _Key | None, current: _Draft, missing: set[str]) -> bool:
    """Is this deeper line a key of ours, indented by mistake, rather than more of the plain text above?"""
    return bool(key and current.plain and key[0] in missing)


def _key(content: str, known: frozenset[str]) -> _Key | None:
    """A line as (key, lead up to the colon, value, problem), or None where it is no `key: value`."""
    for colon in (":", "："):
        head, found, rest = content.partition(colon)
        word = head.strip().strip("'\"").lower()
        if found and word in known:
            if colon == "：":
                return word, f"{word}:", rest.strip(BLANK), "a full-width colon; write `:` and a blank"
            glued = "a blank is missing after the colon" if rest[:1].strip(BLANK) else None
            return word, head + colon, rest.strip(BLANK), glued
    if content.startswith(_NOT_A_KEY) or content in {"-", "?", ":"}:
        return None
    at = content.find(":")
    while at != -1 and content[at + 1 : at + 2].strip(BLANK):
        at = content.find(":", at + 1)
    if at < 1:
        return None
    return content[:at].strip().strip("'\"").lower(), content[: at + 1], content[at + 1 :].strip(BLANK), None


def _finish(draft: _Draft, lines: Sequence[str], problems: list[Problem]) -> Entry:
    """A collected key with its value read."""
    rest = [line.strip(BLANK) for line in lines[draft.start + 1 : draft.stop]]
    children: tuple[Entry, ...] = ()
    if draft.key in {"metadata", "origin"} and not draft.inline:
        # Lists and odd lines in there are not ours to complain about.
        children = tuple(_entries(lines, range(draft.start + 1, draft.stop), NESTED_KEYS, []))
    comment = ""
    if quoted := _quoted("\n".join([draft.inline, *rest])):
        text = _unescape(quoted[1]) if draft.inline[0] == '"' else quoted[1].replace("''", "'")
        comment = (quoted[2] or "").partition("\n")[0]
    else:
        text = _unquoted(draft.inline, rest)
        if draft.key not in PROSE:
            text, mark, remark = text.partition(" #")
            comment = draft.remark or mark + remark
        elif sentence := _not_yaml(draft, text):
            problems.append(_problem(draft.start, sentence))
        text = "" if text in NULLS else text
    return Entry(
        key=draft.key,
        lead=draft.lead,
        start=draft.start,
        stop=draft.stop,
        value=one_line(text) or None,
        comment=comment,
        children=children,
    )


def _quoted(text: str) -> re.Match[str] | None:
    """The match when the text is one quoted value and at most a comment behind it."""
    pattern = {'"': _DOUBLE, "'": _SINGLE}.get(text[:1])
    return pattern.fullmatch(text) if pattern else None


def _unquoted(inline: str, rest: Sequence[str]) -> str:
    """The text of a block, a list, or plain text that goes on over several lines."""
    if _BLOCK.fullmatch(inline):
        return " ".join(line for line in rest if line)
    parts = [line for line in rest if line and not line.startswith("#")]
    if not inline and parts and all(part == "-" or part.startswith("- ") for part in parts):
        return ", ".join(part[1:].strip(BLANK) for part in parts)
    return " ".join([inline, *parts]).strip(BLANK)


def _not_yaml(draft: _Draft, text: str) -> str | None:
    """What to tell the owner of a value that was understood here, and would not be by a YAML parser."""
    if draft.inline.startswith(("'", '"')):
        return f"the quotes of {draft.key} do not match; it was read as it is written"
    if draft.plain and (": " in text or " #" in text or text.endswith(":") or text[0] in "*&!%@`>|{}[],"):
        return f"other programs may misread {draft.key}; put it in quotes"
    return None


def _unescape(text: str) -> str:
    """The text between double quotes. An escape that YAML does not know (`C:\\Users`) stays as it is."""

    def one(match: re.Match[str]) -> str:
        for digits in match.groups()[:3]:
            if digits:
                point = int(digits, 16)
                return chr(point) if point <= 0x10FFFF else match[0]
        if match[4]:
            return ""  # a backslash at a line's end: the lines are one word
        if match[5]:
            return _SIMPLE_ESCAPES.get(match[5], match[0])
        return match[0] if match[0] == "\\" else " "

    joined = _ESCAPE.sub(one, text)
    if _SURROGATE.search(joined):  # JSON writes an emoji as two halves; put them together
        return joined.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return joined


def one_line(text: str) -> str:
    """Line breaks folded into blanks, no blanks at the ends, no half characters."""
    parts = (part.strip(" \t") for part in re.split(r"[\r\n]+", without_halves(text)))
    return " ".join(part for part in parts if part)


def without_halves(text: str) -> str:
    """Lone surrogates (half a character, which no encoder takes) as U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def line_end(text: str) -> str:
    """The way to end a line that the text begins with; LF where it has no line end."""
    found = re.search(r"\r\n|\n|\r", text)
    return found[0] if found else "\n"


def scalar(value: str, *, quoted: bool = False) -> str:
    """A value as YAML that every parser reads back as this very text (F3): plain where that is safe."""
    value = one_line(value)
    plain = (
        not quoted
        and _LETTER.match(value)
        and value.isprintable()
        and ": " not in value
        and " #" not in value
        and not value.endswith(":")
        and value.lower() not in _RESERVED
    )
    return value if plain else '"' + "".join(map(_escaped, value)) + '"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    if char == "\t":
        return "\\t"
    # Joiners are part of words and emoji, and both wide blanks are ordinary text.
    if char.isprintable() or char in "\u200c\u200d\u3000\xa0":
        return char
    point = ord(char)
    return f"\\x{point:02X}" if point < 0x100 else f"\\u{point:04X}" if point < 0x10000 else f"\\U{point:08X}"
