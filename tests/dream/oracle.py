"""Who judges a hostile dream: plain Python over the bytes before and after, and nothing of ours that decides.

A line stands where a file has it again, whole, white space and list marks apart, as plainly as it stood: what
is in a comment, struck out, in code or below a heading that says no was not kept. What does not stand has to
be named in the model's own `dream.json`, with a why, and may only be so much.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

INDEX = "MEMORY.md"
FILES, LINES = 0.25, 0.30
"""The budgets: shares of the topic files, and of their lines (D8)."""
MOST_LINES, MOST_BYTES = 200, 25_000
"""The index (F7)."""

Tree = Mapping[str, tuple[str, bytes, int]]
"""Path -> what it is ("file", "link", "folder"), its bytes (a link: where it leads), its mtime."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file that says something, and how it stands: said, below a "no", code, hidden, header."""

    file: str
    text: str
    how: str


_AS_PLAIN = {
    "said": {"said"},
    "description": {"said", "description"},
    "no": {"no"},
    "code": {"code", "said"},
    "header": {"header", "said"},
    "hidden": {"hidden", "header", "code", "said", "no"},
}


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What is wrong, a sentence each; and how many bytes of lines are gone that nobody named."""

    wrong: tuple[str, ...] = ()
    unnamed: int = 0
    given_up: int = 0


# -- folders ------------------------------------------------------------------------------------------------


def tree(folder: Path, *, but: Iterable[Path] = ()) -> dict[str, tuple[str, bytes, int]]:
    """All that is below a folder, no link followed, without what is below `but`."""
    found: dict[str, tuple[str, bytes, int]] = {}
    left_out = {str(one) for one in but}
    waiting = [str(folder)]
    while waiting:
        for one in os.scandir(waiting.pop()):
            if one.path in left_out:
                continue
            name = os.path.relpath(one.path, folder)
            if one.is_symlink():
                found[name] = ("link", os.fsencode(Path(one.path).readlink()), 0)
            elif one.is_dir():
                found[name] = ("folder", b"", 0)
                waiting.append(one.path)
            elif one.is_file():
                found[name] = ("file", Path(one.path).read_bytes(), one.stat().st_mtime_ns)
            else:
                found[name] = ("other", b"", 0)
    return found


def changes(before: Tree, after: Tree) -> list[str]:
    """What differs between two trees."""
    return [
        f"{name}: {_word(before.get(name), after.get(name))}"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]


def _word(was: tuple[str, bytes, int] | None, now: tuple[str, bytes, int] | None) -> str:
    if was is None:
        return "is new"
    if now is None:
        return "is gone"
    return "has other bytes" if was[:2] != now[:2] else "has another time"


# -- lines --------------------------------------------------------------------------------------------------


def lines(file: str, data: bytes) -> list[Line]:
    """The lines of a file that say something; of the index what is no entry."""
    text = data.decode("utf-8", "surrogateescape").lstrip("\ufeff")
    found: list[Line] = []
    head = re.match(r"---[ \t]*\r?\n(.*?\n)---[ \t]*(?:\r?\n|\Z)", text, re.DOTALL)
    if head and file != INDEX:
        found += _of_header(file, head[1])
        text = text[head.end() :]
    found += _of_body(file, text)
    return [one for one in found if re.search(r"[^\W_]", one.text)]


_OWN = {
    "name", "type", "modified", "origin", "origins", "metadata", "session", "message", "worker", "node_type",
    "originsessionid", "originmessageid", "originworker",
}  # fmt: skip


def _of_header(file: str, text: str) -> Iterator[Line]:
    above = ""
    for raw in text.splitlines():
        found = re.match(r"(\s*)([\w-]+):\s*(.*)", raw)
        if found and not found[1]:
            above = found[2]
        name = found[2] if found else above
        if name == "description" and found:
            yield Line(file, plain(found[3].strip("\"'")), "description")
        elif name.casefold() not in _OWN and above.casefold() not in _OWN - {"metadata"}:
            yield Line(file, plain(raw), "header")


def _of_body(file: str, text: str) -> Iterator[Line]:
    fence, says_no, comment = "", [False] * 7, False
    text = re.sub(
        r"<(details|script|style|template)\b.*?(</\1>|\Z)", _as_comment, text, flags=re.DOTALL | re.I
    )
    text = re.sub(r"~~.*?~~", _as_comment, text, flags=re.DOTALL)
    for raw in text.splitlines():
        line = raw.strip()
        mark = re.match(r"(`{3,}|~{3,})", line)
        if mark and (not fence or line.startswith(fence)):
            fence = "" if fence else mark[1][:3]
            continue
        if fence:
            yield Line(file, plain(line), "code")
            continue
        heading = re.match(r"(#{1,6})\s+(.*)", line)
        if heading and not comment:
            level = len(heading[1])
            says_no[level:] = [_NO.search(heading[2]) is not None] + [False] * (6 - level)
            continue
        for shown, part in _parts(line, comment):
            if file == INDEX and re.match(r"\s*[-*+]\s*\[[^\]]*\]\([^)]*\)", part):
                continue
            yield Line(file, plain(part), ("no" if any(says_no) else "said") if shown else "hidden")
        comment = _is_open(line, comment)


def _as_comment(found: re.Match[str]) -> str:
    return "<!--" + re.sub(r"</?\w+[^>]*>|~~|<!--|-->", " ", found[0]) + "-->"


def _parts(line: str, comment: bool) -> Iterator[tuple[bool, str]]:
    for number, part in enumerate(re.split(r"<!--|-->", line)):
        yield (number % 2 == 0) != comment, part


def _is_open(line: str, comment: bool) -> bool:
    return comment != (len(re.findall(r"<!--|-->", line)) % 2 == 1)


_NO = re.compile(
    r"\b(?:never|not|no longer|wrong|false|outdated|obsolete|rejected|retired|myths?|untrue|superseded)\b",
    re.I,
)


def plain(text: str) -> str:
    """White space and list marks put aside."""
    text = " ".join(text.split())
    while found := re.match(r"(?:[-*+>]|\d{1,3}[.)])\s+", text):
        text = text[found.end() :]
    return text


# -- reasons ------------------------------------------------------------------------------------------------


@dataclass
class Named:
    """What the model's `dream.json` names with a why: files that went, and lines."""

    files: dict[str, str | None] = field(default_factory=dict)
    """A file -> where it is said to have gone."""
    lines: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """A file -> what was in it, and what is said to be there now."""

    @classmethod
    def read(cls, data: bytes | None) -> Named:
        named = cls()
        try:
            value = json.loads((data or b"{}").decode("utf-8-sig"))
        except (ValueError, RecursionError):
            return named
        for entry in _entries(value, "files"):
            named.files[_path(entry["file"])] = entry.get("into") or None
        for entry in _entries(value, "lines"):
            if isinstance(entry.get("was"), str):
                named.lines.setdefault(_path(entry["file"]), []).append(
                    (entry["was"], entry.get("now") or "")
                )
        return named

    def covers(self, line: Line, there: set[str]) -> bool:
        """Whether the line, or each of its sentences that is nowhere, is named."""
        own = self.lines.get(line.file, [])
        quoted = [_words(was) for was, _ in own]
        sentences = [line.text, *re.split(r"(?<=[.!?;。])\s*", line.text)]
        whole, parts = _words(sentences[0]), [_words(one) for one in sentences[1:] if _words(one).strip()]
        if any(whole in one for one in quoted):
            return True
        return all(part in there or any(part in one for one in quoted) for part in parts)

    def rewords(self, line: Line, there: set[str]) -> bool:
        """Whether it is said to stand in other words, these do, and no figure and no "no" is lost or new."""
        for was, now in self.lines.get(line.file, []):
            if _words(line.text) not in _words(was) or not _words(now).strip():
                continue
            stands = all(_words(one) in there for one in re.split(r"\n", plain(now)) if _words(one).strip())
            figures = set(re.findall(r"\d+", line.text)) <= set(re.findall(r"\d+", now))
            if stands and figures and len(_NEGATES.findall(was)) == len(_NEGATES.findall(now)):
                return True
        return False


_NEGATES = re.compile(r"\b(?:not|never|no|none|without|cannot|\w+n't)\b|不", re.I)


def _entries(value: object, key: str) -> Iterator[dict[str, str]]:
    found = value.get(key) if isinstance(value, dict) else None
    for entry in found if isinstance(found, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("file"), str):
            why = entry.get("why")
            if isinstance(why, str) and re.search(r"[^\W_]", why):
                yield entry


def _path(file: str) -> str:
    return os.path.normpath(file.strip().replace("\\", "/"))


def _words(text: str) -> str:
    found = re.findall(r"[^\W_]+", text.casefold())
    return f" {' '.join(found)} "


# -- the judgement ------------------------------------------------------------------------------------------


def judge(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    notebook: bytes | None,
    *,
    foreign: frozenset[str] = frozenset(),
) -> Judgement:
    """What a dream that was carried out did to topics and index. `foreign`: files of another program, whose
    entries in the index are its own matter.
    """
    named = Named.read(notebook)
    standing: dict[str, set[tuple[str, bool]]] = {}
    for file, data in after.items():
        for line in lines(file, data):
            standing.setdefault(line.text, set()).add((line.how, file == INDEX))
    words = {
        _words(part)
        for text, places in standing.items()
        if any(how in ("said", "code", "description") for how, _ in places)
        for part in (text, *re.split(r"(?<=[.!?;。])\s*", text))
    }
    wrong: list[str] = []
    facts = unnamed = given_up = 0
    losing: set[str] = set()
    for file, data in sorted(before.items()):
        for line in dict.fromkeys(lines(file, data)):
            facts += 1
            if _stands(line, standing):
                continue
            into = named.files.get(file)
            by_file = (
                file in named.files
                and file not in after
                and (into is None or line.how in ("description", "header"))
            )
            if not by_file and not named.covers(line, words):
                unnamed += len(line.text.encode("utf-8", "surrogateescape"))
                wrong.append(f"{file}: a line is gone that was not named: {line.text[:60]!r}")
            if not (named.rewords(line, words) and not by_file):
                given_up += 1
                if line.how != "description" or into is None:
                    losing.add(file)
    topics = [file for file in before if file != INDEX]
    removed = [file for file in topics if file not in after and file in losing]
    if len(removed) > max(1, int(FILES * len(topics) + 1e-9)):
        wrong.append(f"{len(removed)} of {len(topics)} files went")
    if given_up > max(1, int(LINES * facts + 1e-9)):
        wrong.append(f"{given_up} of {facts} lines went")
    wrong += _index(before, after, foreign)
    return Judgement(wrong=tuple(wrong), unnamed=unnamed, given_up=given_up)


def _stands(line: Line, standing: Mapping[str, set[tuple[str, bool]]]) -> bool:
    return any(
        how in _AS_PLAIN[line.how] and (not in_index or line.file == INDEX)
        for how, in_index in standing.get(line.text, ())
    )


def _index(before: Mapping[str, bytes], after: Mapping[str, bytes], foreign: frozenset[str]) -> Iterator[str]:
    text = after.get(INDEX, b"").decode("utf-8", "surrogateescape")
    pointed = re.findall(r"^[ \t]*[-*+][ \t]*\[[^\]\n]*\]\(<?([^)>\n]*)>?\)", text, re.M)
    topics = {file for file in after if file != INDEX}
    for file in sorted(topics - set(pointed) - foreign):
        yield f"the index does not name {file}"
    for file in sorted(set(pointed) - topics - foreign):
        yield f"the index names {file}, which is not there"
    if len(pointed) != len(set(pointed)):
        yield "the index names a file twice"
    if len(text.splitlines()) > MOST_LINES or len(text.encode("utf-8", "surrogateescape")) > MOST_BYTES:
        yield "the index is over its limits"
