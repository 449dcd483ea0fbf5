"""A file before and after -> the statements that are new in it, and those that are gone (E11). Pure.

A statement is a sentence of the body, the name, the description, an entry of the index, or the name of a new
file. Headings and labels (**Why:**) are none of their own.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from memdir.memory.frontmatter import Header, read
from memdir.memory.topic import parse
from memdir.names import INDEX
from memdir.trust.hidden import visible
from memdir.trust.terms import squashed


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that a file says. `text`: without markup; `raw`: the line or sentence as it stands."""

    text: str
    raw: str
    part: str  # "name", "description", "header", "body", "index", "file"

    @property
    def mark(self) -> str:
        """What makes two statements the same: letters and figures only."""
        return squashed(self.text)

    @property
    def is_reason(self) -> bool:
        """Whether it stands on a line that says why."""
        return _REASON.match(plain(self.raw)) is not None


def is_index(file: str) -> bool:
    return posixpath.basename(file.replace("\\", "/")) == INDEX


def statements(file: str, text: str) -> list[Statement]:
    """All that a file says, in order."""
    if is_index(file):
        return [
            one for line in text.splitlines() for one in _sentences(_without_targets(line), "index", line)
        ]
    topic = parse(text, filename=posixpath.basename(file) or "x.md")
    header = read(text)
    found: list[Statement] = []
    if header is not None:
        found += _sentences(topic.name, "name", topic.name)
        found += _sentences(topic.description or "", "description", topic.description or "")
        told = squashed(f"{topic.name} {topic.description}")
        found += [one for line in _other_lines(header, told) for one in _sentences(line, "header", line)]
    for line in topic.body.splitlines():
        found += _sentences(line, "body", line)
    return found


def file_name(file: str) -> Statement:
    """The words of a file's name."""
    stem = file.replace("\\", "/").removesuffix(".md")
    return Statement(text=re.sub(r"[_/]+", " ", stem), raw=stem, part="file")


def added(file: str, before: str | None, after: str) -> list[Statement]:
    """What `after` says and `before` did not; of a new file its name, too."""
    old = {one.mark for one in statements(file, before)} if before else set()
    new = [one for one in statements(file, after) if one.mark and one.mark not in old]
    return new if before is not None or is_index(file) else [file_name(file), *new]


def removed(file: str, before: str, after: str) -> list[Statement]:
    """What `before` said and `after` does not."""
    new = {one.mark for one in statements(file, after)}
    return [one for one in statements(file, before) if one.mark and one.mark not in new]


def new_lines(before: str | None, after: str) -> str:
    """The lines of `after` that did not stand in `before`, as they are."""
    old = set((before or "").splitlines())
    return "\n".join(line for line in after.splitlines() if line not in old)


# ---------------------------------------------------------------------------------- splitting


def _other_lines(header: Header, told: str) -> Iterator[str]:
    """The lines of a header that say more than the keys that count; `told` = what those say, squashed."""
    for line in header.lines:
        value = _PROSE.sub("", line, count=1)
        if not _OWN_KEYS.match(line) and squashed(value) not in told:
            yield value.strip()


def _sentences(line: str, part: str, raw: str) -> Iterator[Statement]:
    text = plain(line)
    for part_of_it in _ENDS.split(text):
        piece = _LABEL.sub("", part_of_it.strip())
        if piece and re.search(r"\w", piece):
            yield Statement(text=piece, raw=raw, part=part)


def plain(line: str) -> str:
    """A line without what Markdown and HTML put around its words; entities and escapes read."""
    text = visible(html.unescape(line)) if "&" in line else visible(line)
    text = _LEAD.sub("", text)
    text = re.sub(r"\\([\\`*_{}\[\]()#+.!~>-])", r"\1", text)
    return _MARKS.sub("", text).strip()


def _without_targets(line: str) -> str:
    """An entry of the index: its title, the words of the file's name, its hook."""
    return _LINK.sub(lambda link: f" ({_target(link[1])})", line).replace("[", "", 1)


def _target(target: str) -> str:
    return (
        target if ":" in target or target.startswith("/") or ".." in target else re.sub(r"[_/]+", " ", target)
    )


_LINK = re.compile(r"\]\(\s*<?([^()<>\s]{1,300}?)(?:\.md)?>?\s*\)")
_OWN_KEYS = re.compile(
    r"\s*(?:type\s*:\s*[\"']?(?:user|feedback|project|reference)[\"']?|(?:origin|metadata)\s*:"
    r"|node_type\s*:\s*[\"']?memory[\"']?"
    r"|(?:worker|originWorker)\s*:\s*[\"']?(?:extract|agent|learn|mend|memdir)[\"']?"
    r"|(?:modified|created|updated)\s*:\s*[\"']?(?:\d{4}-\d\d-\d\d[\dTZ:.+ -]{0,24})?[\"']?"
    r"|(?:session|message|originSessionId|originMessage)\s*:\s*[\"']?[0-9a-fA-F-]{0,40}[\"']?)?\s*$"
)
"""Keys of ours with values that we write: a value in words is a statement like any other."""
_PROSE = re.compile(r"\s*(?:name|description)\s*:\s*(?:[|>][-+0-9]{0,2}\s*$)?")
_LEAD = re.compile(r"\A\s*(?:(?:[-*+>]|\d{1,3}[.)]|#{1,6})\s+)*(?:\[[ xX]\]\s+)?")
_MARKS = re.compile(r"\*\*|__(?=\S)|(?<=\S)__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|~~")
_ENDS = re.compile(r"(?<=[.!?…])\s+(?=\S)|(?<=[。！？；])|;\s+|\s—\s|\n")
_LABEL = re.compile(
    r"\A(?:why|how to apply|how|when|reason|rule|context|note|apply|source|status|scope|background"
    r"|details?|summary"
    r"|warum|grund|anwendung|wie|por ?qué|motivo|cómo aplicar(?:lo)?|pourquoi"
    r"|原因|理由|如何应用|应用|适用|背景|适用方式|適用|適用方法)"
    r"\s*[:：]\s*",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\A(?:why|reason|warum|grund|por ?qué|motivo|pourquoi|原因|理由)\s*[:：]", re.IGNORECASE
)
