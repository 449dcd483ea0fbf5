"""A message becomes only what the person said in it.

Left out is what somebody or something else wrote (E11): fenced code, quoted lines, logs, diffs, what
follows "here is the mail:", text between arrows or in long quotation marks, tags, hidden characters. Linear
in the length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memdir.cues import Cue, found, tables_for

QUOTE = "“…”"
"""Stands where a long quotation was."""


def own_words(text: str) -> str:
    """The message without what was pasted, quoted or hidden in it; line breaks kept."""
    text = _HIDDEN.sub("", text)
    for block in _BLOCKS:
        text = block.sub("\n", text)
    return "\n".join(_own_lines(_LONG_QUOTES.sub(QUOTE, text).splitlines()))


_HIDDEN = re.compile(
    "[\u00ad\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
_BLOCKS = (
    re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL),
    re.compile(r">>>.*?(?:<<<|\Z)", re.DOTALL),
    re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL),
    # A memory file: what begins with such a header was written by an agent, to its end.
    re.compile(
        r"^(?:---[ \t]*\n(?=name:|description:|type:)"
        r"|(?:(?:name|description):[^\n]*\n(?:[a-z]{2,12}:[^\n]*\n){0,5})?"
        r"type:[ \t]*(?:user|feedback|project|reference)[ \t]*$)[\s\S]*",
        re.MULTILINE,
    ),
)
_MARKS = (("“", "”"), ("„", '“”"'), ("«", "»"), ("「", "」"), ("『", "』"), (r'(?<!\w)"', '"'))
# Three spaces or twelve Chinese characters: more than a name.
_LONG_QUOTES = re.compile(
    "|".join(
        rf"{start}(?=(?:[^{end}\n]{{0,40}}\s){{3}}|(?:(?:(?![{end}])[\x20-\x7e]){{0,60}}+[^{end}\n\x20-\x7e]){{12}})"
        rf"[^{end}\n]{{12,1000}}[{end}]"
        for start, end in _MARKS
    )
    + r"|(?<!\w)'(?=(?:[^\n']{0,40}\s){3})(?:[^'\n]|'(?=\w)){12,1000}'(?!\w)"
)


# ---------------------------------------------------------------------------------- line by line


def _own_lines(lines: Sequence[str]) -> Iterator[str]:
    """Lines that are neither logs nor below an introduction such as "this is the output:"."""
    pasting: str | None = None  # "paragraph": up to the empty line after it; "rest": to the end
    text_seen = False
    tag: str | None = None
    for number, line in enumerate(lines):
        if tag or (tag := _opens_tag(line)):
            tag = None if f"</{tag}>" in line.lower() else tag
            continue
        if pasting == "rest":
            return
        if pasting == "paragraph":
            text_seen = text_seen or bool(line.strip())
            if line.strip() or not text_seen:
                continue
        pasting, text_seen = None, False
        if not _looks_pasted(
            line, lines[number - 1] if number else "", "".join(lines[number + 1 : number + 2])
        ):
            yield line
            pasting = _introduces(line)


def _opens_tag(line: str) -> str | None:
    """The name of a tag that the line begins with: `<system>`."""
    opening = _TAG.match(line)
    return opening.group(1).lower() if opening else None


def _introduces(line: str) -> str | None:
    """What a line that ends in a colon says of the lines below it."""
    end = line.rstrip()
    if not end.endswith((":", "：")):
        return None
    clause = re.split(r"[.!?。！？]\s*", end[-200:])[-1]
    cues = found(clause, tables_for(clause))
    if Cue.PASTE not in cues or cues & {Cue.REMEMBER, Cue.STANDING}:
        return None
    return "rest" if _WHOLE_TEXTS.search(clause) else "paragraph"


def _looks_pasted(line: str, before: str, after: str) -> bool:
    if _LINE_OF_A_LOG.match(line):
        return True
    if _CLOCK.match(line):
        return bool(_CLOCK.match(before) or _CLOCK.match(after))
    plain = _NOT_PROSE.sub("", line[:2_000]).strip()
    if plain[:1] in '"“' and plain[-1:] in '"”' and len(plain) > 40:
        return True
    return len(plain) > 12 and len(_SYMBOLS.findall(plain)) > 0.12 * len(plain)


_TAG = re.compile(r"\s*<([A-Za-z][\w-]{1,30})(?:\s[^<>]{0,200})?>")
_WHOLE_TEXTS = re.compile(
    r"\b(?:e?-?mail|letter|article|page|wiki|post|thread|message|brief|nachricht|correo|mensaje)\b"
    r"|邮件|文章|页面|消息|帖子|メール|記事",
    re.IGNORECASE,
)
_LINE_OF_A_LOG = re.compile(
    r"""\s*(?:
        > | \$\s | \#\s | at\s\S+\( | File\s" | @@ | [+-]{1,3}(?=\S) | [+-]\s{2,} | \|
      | (?:INFO|WARN|WARNING|ERROR|DEBUG|FATAL|TRACE|FAIL|PASS|Traceback|Exception)\b[\s:\[(]
      | (?:Human|Assistant|User|System|Bot|AI|Claude|ChatGPT|Copilot)\s?[:：]
      | (?:[Ee]rror|warning|npm|psql|curl|git|pip|make|cargo|panic|fatal|bash)\s?[:\[]
      | \[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d | \[\d | [A-Z][A-Z0-9_]+= | [{}\[\]();]+\s*$ | \w+Error:
      | \w+\.(?:py|ts|js|go|rs|kt|java|c|h|rb|tsx)\b:?\d*
      | -\s\[[^\]\n]{1,200}\]\([^)\n]{1,200}\.md\) | -\s(?:\[\w+\]\s)?[^\s:]{1,200}\.md\s\(\d{4}-
    )""",
    re.VERBOSE,
)
_CLOCK = re.compile(r"\s*\d\d:\d\d(?::\d\d)?\s")
_NOT_PROSE = re.compile(r"\bhttps?://[^\s<>，。；、）」]+|`[^`\n]{1,80}`")
_SYMBOLS = re.compile(r"[{}\[\]<>=|\\;$_*/~^&]")
