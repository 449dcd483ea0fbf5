r"""Text in, the secrets in it out: `scan(text) -> [Finding]` (E10, T6).

Looked for are

1. tokens whose vendors gave them a shape (`shapes.txt`, a table) and key blocks (`blocks`);
2. values that their surroundings call a secret (`places`): `password: …`, `export X_TOKEN=…`, `密码是…`,
   `scheme://user:password@host`, `Authorization: Bearer …`;
3. the same behind what JSON, URLs, HTML, Markdown, terminals and invisible characters put in between
   (`sk%5Flive%5F…`), in base64 or hexadecimal, and tokens that a line break cuts in two (`escapes`).

What only looks like a secret is left alone (`values`): placeholders (`<your-key>`, `xxxx`, `${VAR}`, a
vendor's documented example), words, code, dates, paths, hashes. UUIDs and plain hexadecimal are
findings only where a name says so.

A new token is a line in `shapes.txt`; a new way to say what is secret, an entry of `places.PLACES`.

Pure, and linear in the length of the text: a pattern is tried only where one of its keywords stands, and
every run in a pattern is capped. A finding never carries the value, only a masked preview. Rules are read and
compiled when the first text needs them, since importing this costs every prompt.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["ALLOWED", "Finding", "allowed_lines", "scan"]

ALLOWED = "memdir:allow-secret"
"""On a line of a memory file, in a comment: the person knows of the secret there."""

_MARKER = re.compile(rf"<!--\s{{0,9}}{ALLOWED}\s{{0,9}}-->|(?:#|//)\s{{0,9}}{ALLOWED}(?![\w-])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One secret: `text[start:end]` of what was scanned, and the name of the rule that knew it.

    `preview` is safe to show: the fixed beginning of the token's format at most, and the length.
    """

    rule: str
    start: int
    end: int
    preview: str

    def line(self, text: str) -> int:
        """The number of the line in the scanned text where the secret begins, from 1."""
        return text.count("\n", 0, self.start) + 1


def scan(text: str, *, honour_marker: bool = False) -> list[Finding]:
    """All secrets in the text, in order, overlapping ones merged into one.

    A merged finding has the most telling rule: the vendor's shape before the name beside it.

    `honour_marker`: those that begin on a line with the allow marker don't count. Only for text that the
    person's own hand put where it is; what a model is about to write is scanned without it (`memory.leaks`).
    """
    from memdir.secrets.finder import find

    found = [
        Finding(
            rule=hit.rule,
            start=hit.start,
            end=hit.end,
            preview=f"{hit.shown}… ({hit.end - hit.start} characters)",
        )
        for hit in find(text)
    ]
    if honour_marker and found and ALLOWED in text:
        allowed = allowed_lines(text)
        return [one for one in found if one.line(text) not in allowed]
    return found


def allowed_lines(text: str) -> frozenset[int]:
    """The numbers, from 1, of the lines with `<!-- memdir:allow-secret -->` or `# memdir:allow-secret`."""
    if ALLOWED not in text:
        return frozenset()
    return frozenset(number for number, line in enumerate(text.split("\n"), 1) if _MARKER.search(line))
