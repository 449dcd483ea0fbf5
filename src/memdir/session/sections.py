"""A text of fixed sections: the template, what stands in each section, and what is too long (C1).

A template is Markdown: headings of one level, and under each a line of guidance, mostly in italics. The
person may have their own, `<base>/session-memory/template.md`, with `prompt.md` beside it for the
instruction. A template that is of no use is replaced by ours, and a problem says so; nothing here fails.

In notes, a heading of the template is one wherever it stands, also in a code block that was never closed;
another heading of that level is one outside of code. Sizes are estimated tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from memdir import fs
from memdir.errors import MemdirError
from memdir.memory.encoding import readable
from memdir.memory.fence import exact, fenced
from memdir.model.tokens import estimate
from memdir.prompts import render

SECTION = 2_000
"""Tokens that a section has room for."""

TOTAL = 12_000
"""Tokens that all of it has room for."""

LIMIT = 64 * 1024
"""Bytes of notes, and of each of the person's two files: more is refused."""

FOLDER, TEMPLATE, PROMPT = "session-memory", "template.md", "prompt.md"

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*?)(?:[ \t]+#+)?[ \t]*$")
_LONGEST_HEADING = 300
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_SLOT = re.compile(r"\$(?:\{(path|notes|oversize)\}|(path|notes|oversize)(?![A-Za-z0-9_]))")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One section: its title, its guidance, and what was written there. `tokens` is the size of the body.

    `heading` is the line as it stands. What comes before the first heading is a section without one.
    """

    title: str
    heading: str
    guidance: str
    body: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The sections that notes have. `text` ends with a newline; `level` counts the `#` of its headings.

    `prompt`: the person's own instruction, None for ours. `problems`: what of the person's files is not used
    and why, each a sentence.
    """

    text: str
    level: int
    titles: tuple[str, ...]
    prompt: str | None = None
    problems: tuple[str, ...] = ()

    @staticmethod
    def default() -> Template:
        """Ours."""
        return _default()

    @staticmethod
    def of(text: str) -> Template:
        """The template that a text is.

        Raises:
            ValueError: it is none; says why.
        """
        whole = fenced(text).strip("\n") + "\n"
        levels = [level for _, level, _ in _headings(whole.split("\n"))]
        if not levels:
            raise ValueError("it has no heading")
        if estimate(whole) > TOTAL // 2:
            raise ValueError(f"it is over {TOTAL // 2:,} tokens by itself")
        level = min((one for one in levels if levels.count(one) > 1), default=min(levels))
        titles = [one.title for one in _split(whole, level, frozenset()) if one.heading]
        if twice := [title for title in titles if [*map(_key, titles)].count(_key(title)) > 1]:
            raise ValueError(f"the heading {twice[0][:80]!r} stands there twice")
        return Template(text=whole, level=level, titles=tuple(titles))

    @staticmethod
    def load(base: Path) -> Template:
        """The person's own below `base`, or ours where they have none, or none that can be used."""
        folder, problems = base / FOLDER, list[str]()
        template, prompt = _default(), None
        try:
            if (text := _own(folder / TEMPLATE)) is not None:
                template = Template.of(text)
        except ValueError as error:
            problems.append(f"{folder / TEMPLATE} is not used: {error}")
        try:
            if (text := _own(folder / PROMPT)) is not None:
                prompt = fenced(text).strip()
        except ValueError as error:
            problems.append(f"{folder / PROMPT} is not used: {error}")
        return replace(template, prompt=prompt, problems=tuple(problems))

    def instruction(self, *, path: Path, notes: str, total: int = TOTAL) -> str:
        """What a fork is told that brings the notes up to date. They are put in as data. `total`: tokens that
        all of them have room for.
        """
        slots = {
            "path": str(path),
            "notes": fenced(notes).strip("\n"),
            "oversize": told_oversize(notes, self, total),
        }
        if self.prompt is None:
            return render("session_notes", **slots)
        return _own_words(self.prompt, {**slots, "path": exact(slots["path"])})


# -- looking -------------------------------------------------------------------------------------------------


def sections(text: str, template: Template | None = None) -> list[Section]:
    """The sections of a text, in order. None: of notes with our template."""
    template = template or _default()
    guidance = {
        _key(one.title): {*_lines(one.guidance), *_lines(one.body)}
        for one in _split(template.text, template.level, frozenset())
    }
    known = frozenset(map(_key, template.titles))
    return [_told_apart(one, guidance) for one in _split(text, template.level, known)]


def is_empty(text: str, template: Template) -> bool:
    """Whether there is nothing but headings and guidance; rules and bullets without a word say nothing."""
    bodies = (line for one in sections(text, template) for line in one.body.split("\n"))
    return not any(character.isalnum() for line in bodies for character in line)


def oversize(text: str, template: Template, limit: int = SECTION) -> list[Section]:
    """The sections that are over their size."""
    return [one for one in sections(text, template) if one.tokens > limit]


_BEFORE = "What stands before the first heading"


def told_oversize(text: str, template: Template, total: int = TOTAL) -> str:
    """The same in words for the model, and whether all of it is too much: over `total` tokens. Where that is
    little, a section has less, too.
    """
    section = min(SECTION, total // 3)
    said = [
        f"- `{one.title or _BEFORE}`: about {one.tokens:,} of {section:,} tokens"
        for one in oversize(text, template, section)
    ]
    size = estimate(text)
    if size > total:
        said.append(f"- all of it: about {size:,} of {total:,} tokens")
    if not said:
        return f"No section is too long. Each has room for about {section:,} tokens, all of it for {total:,}."
    return "\n".join(
        (
            "What follows is too long, and must be condensed now: rewrite it shorter, so that it fits. The",
            "latest, what still holds, and the words of the person stay; finished details go first.",
            "",
            *said,
        )
    )


def lost(before: str, after: str, template: Template) -> list[str]:
    """The titles of the template that the text had before, and has no more, or not in that order."""
    known = set(map(_key, template.titles))
    had = [one.title for one in sections(before, template) if _key(one.title) in known]
    left = [_key(one.title) for one in sections(after, template)]
    missing = list[str]()
    for title in had:
        if _key(title) in left:
            left = left[left.index(_key(title)) + 1 :]
        else:
            missing.append(title)
    return missing


def problems(text: str, template: Template) -> list[str]:
    """What a person may want to know of these notes, a sentence each; they are of use all the same."""
    missing = lost(template.text, text, template)
    found = [f"the section {title!r} is missing, or not in its place" for title in missing]
    found += [
        f"the section {one.title!r} has about {one.tokens:,} tokens, over {SECTION:,}"
        for one in oversize(text, template)
    ]
    if (total := estimate(text)) > TOTAL:
        found.append(f"all of it has about {total:,} tokens, over {TOTAL:,}")
    return found


# -- cutting -------------------------------------------------------------------------------------------------


def fit(text: str, template: Template, limit: int = TOTAL, *, section: int = SECTION) -> str:
    """The text in at most `limit` tokens, and each section in `section`: what is over is cut out at lines,
    with a note in its place, where it is longest. What fits stays as it is, to the byte.
    """
    found = sections(text, template)
    most = section if any(one.heading for one in found) else limit
    if estimate(text) <= limit and all(one.tokens <= most for one in found):
        return text
    for guided in (True, False):
        frame = sum(estimate(_written(replace(one, body=""), guided=guided)) + 1 for one in found)
        room = limit - frame
        while room > 0:
            cap = _cap([min(one.tokens, most) for one in found], room)
            cut = [replace(one, body=_cut(one.body, cap)) for one in found]
            whole = "\n\n".join(_written(one, guided=guided) for one in cut) + "\n"
            if estimate(whole) <= limit:
                return whole
            room = room * 9 // 10
    return shortened(text, limit)


def shortened(text: str, limit: int) -> str:
    """The text in at most `limit` tokens: its beginning and its end, and a mark between."""
    size = estimate(text)
    if size <= limit:
        return text
    half = len(text) * limit // size // 2
    while half > 0:
        short = f"{text[:half]} […] {text[-half:]}"
        if estimate(short) <= limit:
            return short
        half = half * 7 // 8
    return ""


def _cap(sizes: Sequence[int], room: int) -> int:
    """The largest size to which each may go, so that all together have room."""
    left, count = room, len(sizes)
    for size in sorted(sizes):
        if size * count > left:
            return max(0, left // count)
        left, count = left - size, count - 1
    return max(sizes, default=0)


_NOTE = 16
"""About the tokens of the note that stands for lines left out."""


def _cut(body: str, limit: int) -> str:
    """The first and the last lines of a body, and a note of what is left out between."""
    if estimate(body) <= limit:
        return body
    room = limit - _NOTE
    if room < _NOTE:
        return _note(body.count("\n") + 1) if room >= 0 else ""
    lines = body.split("\n")
    most = room // 2 - 1 if len(lines) > 1 else room
    lines = [shortened(line, most) for line in lines]
    sizes = [estimate(line) + 1 for line in lines]
    head, used = 0, 0
    while head < len(lines) and used + sizes[head] <= room // 2:
        used, head = used + sizes[head], head + 1
    tail = len(lines)
    while tail > head and used + sizes[tail - 1] <= room:
        used, tail = used + sizes[tail - 1], tail - 1
    left = tail - head
    if not left or len(lines) == 1:
        return "\n".join(lines)
    return "\n".join((*lines[:head], _note(left), *lines[tail:]))


def _note(left: int) -> str:
    return f"[… {left:,} {'line' if left == 1 else 'lines'} left out here, for length …]"


def _written(one: Section, *, guided: bool) -> str:
    guidance = one.guidance if guided or not one.heading else ""
    return "\n".join(part for part in (one.heading, guidance, one.body) if part)


# -- parsing -------------------------------------------------------------------------------------------------


@cache
def _default() -> Template:
    return Template.of(render("session_template"))


def _own(path: Path) -> str | None:
    """The text of a file of the person's, None if there is none.

    Raises:
        ValueError: it is of no use; says why.
    """
    try:
        data = fs.read_file(path, limit=LIMIT + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ValueError(error.strerror or type(error).__name__) from error
    except MemdirError as error:
        raise ValueError(getattr(error, "reason", str(error))) from error
    if len(data) > LIMIT:
        raise ValueError(f"it is over {LIMIT // 1024} KiB")
    text = readable(data)
    if "\0" in text or text.count("\ufffd") > len(text) // 10:
        raise ValueError("it is no text")
    if not text.strip():
        raise ValueError("it is empty")
    return text


def _own_words(prompt: str, slots: dict[str, str]) -> str:
    """The person's instruction with its slots filled in, and what a fork can't do without."""
    used = {match[1] or match[2] for match in _SLOT.finditer(prompt)}
    said = [_SLOT.sub(lambda match: slots[match[1] or match[2]], prompt)]
    if "notes" not in used:
        said.append(
            f"The notes, in the file `{slots['path']}`, as they stand:\n\n"
            f"<session-notes>\n{slots['notes']}\n</session-notes>"
        )
    elif "path" not in used:
        said.append(f"The notes are in the file `{slots['path']}`.")
    if "oversize" not in used:
        said.append(slots["oversize"])
    said.append("Only Edit of this one file can be used here. Make all edits in one answer, then end.")
    return "\n\n".join(said)


def _headings(lines: Sequence[str], known: frozenset[str] = frozenset()) -> Iterator[tuple[int, int, str]]:
    """The headings among lines, those in code left out unless they are `known`: number, level and title."""
    fence = ""
    for number, line in enumerate(lines):
        if len(line) > _LONGEST_HEADING:
            continue
        heading = _HEADING.match(line)
        if heading and (not fence or _key(heading[2]) in known):
            fence = ""
            yield number, len(heading[1]), heading[2]
        elif mark := _FENCE.match(line):
            if not fence:
                fence = "" if mark[1][0] == "`" and "`" in mark[2] else mark[1]
            elif mark[1].startswith(fence) and not mark[2].strip():
                fence = ""


def _split(text: str, level: int, known: frozenset[str]) -> list[Section]:
    """The sections, where guidance in italics is told from the body by its form alone."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    starts = [(number, title) for number, depth, title in _headings(lines, known) if depth == level]
    ends = [number for number, _ in starts[1:]] + [len(lines)]
    found = [_section("", "", lines[: starts[0][0]] if starts else lines)]
    found += [
        _section(title, lines[start], lines[start + 1 : end])
        for (start, title), end in zip(starts, ends, strict=False)
    ]
    return [one for one in found if one.heading or one.guidance or one.body]


def _section(title: str, heading: str, lines: Sequence[str]) -> Section:
    text = "\n".join(lines).strip("\n").rstrip()
    first, _, rest = text.partition("\n\n")
    guidance = ""
    if found := _italic(first):
        guidance, text = found, (first[len(found) :] + "\n\n" + rest).strip("\n").rstrip()
    return Section(title=title, heading=heading, guidance=guidance, body=text, tokens=estimate(text))


def _italic(paragraph: str) -> str:
    """The lines in italics with which a paragraph begins, or nothing."""
    mark = paragraph[:1]
    if mark not in ("_", "*") or paragraph[1:2] in (mark, " ", "\n", ""):
        return ""
    lines = paragraph.split("\n")
    for count, line in enumerate(lines, 1):
        if line.rstrip().endswith(mark) and (count > 1 or len(line.rstrip()) > 2):
            return "\n".join(lines[:count])
    return ""


def _told_apart(one: Section, guidance: dict[str, set[str]]) -> Section:
    """The section without lines that the template has there: guidance need not be in italics."""
    known = guidance.get(_key(one.title), set())
    kept = [line for line in one.body.split("\n") if not line.strip() or line.strip() not in known]
    told = [line for line in one.body.split("\n") if line.strip() and line.strip() in known]
    if not told:
        return one
    body = "\n".join(kept).strip("\n").rstrip()
    said = "\n".join(part for part in (one.guidance, *told) if part)
    return replace(one, guidance=said, body=body, tokens=estimate(body))


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.split("\n") if line.strip())


def _key(title: str) -> str:
    return " ".join(title.split()).casefold()
