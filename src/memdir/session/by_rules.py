"""The notes of a session without a language model: what of them rules write, and what they leave alone (C1).

Rules look at the whole conversation each time, and replace what they wrote before. What a model or the
person has put into the file stays; then a section of its own says what came since.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memdir import fs
from memdir.errors import SecretFound
from memdir.memory.fence import fenced
from memdir.model.messages import Message
from memdir.secrets import scan
from memdir.session.extractive import FIRST_LINE, summarise
from memdir.session.sections import LIMIT, TOTAL, Template, fit, is_empty

SINCE = "# Since then"
LEFT_OUT = "[a secret was left out]"

_SECTION, _TOTAL = 800, 4_000
"""Tokens of what came since, where notes of others stand before it."""


class ByRules:
    """Writes the text of one session's notes. `digest`: of the file as a resumed session left it."""

    def __init__(self, template: Template, *, digest: str | None = None) -> None:
        self._template = template
        self._resumed = digest
        self._ours: str | None = None  # the digest of what rules wrote last
        self._kept = ""  # what others wrote, and the last message that it covers
        self._kept_upto: str | None = None

    def text(
        self, record: Sequence[Message], old: str | None, *, digest: str | None, upto: str | None
    ) -> str:
        """What the file is to hold. `old` stands there, with this digest, and covers all up to a message.

        Raises:
            SecretFound: one that can't be left out.
        """
        if old is None or is_empty(old, self._template):
            self._kept, self._kept_upto = "", None
        elif digest is None or digest != self._ours:
            mine = digest == self._resumed and old.lstrip().startswith(FIRST_LINE)
            self._kept, self._kept_upto = ("", None) if mine else (fenced(old).strip("\n"), upto)
        if not self._kept:
            return self._bounded(without_secrets(fenced(summarise(record)).strip("\n")) + "\n")
        ids = [message.id for message in record]
        new = record[ids.index(self._kept_upto) + 1 :] if self._kept_upto in ids else record
        said = summarise(new, section_tokens=_SECTION, total_tokens=_TOTAL)
        since = re.sub(r"(?m)^#(?=#* )", "##", without_secrets(fenced(said).strip("\n")))
        return self._bounded(f"{self._kept}\n\n{SINCE}\n\n{since}\n")

    def _bounded(self, text: str) -> str:
        """The text in as many bytes as the file may have."""
        limit, short = TOTAL, text
        while len(short.encode()) > LIMIT:
            short, limit = fit(text, self._template, limit), limit * 3 // 4
        return short

    def wrote(self, data: bytes) -> None:
        """The file holds this now."""
        self._ours = fs.digest(data)


def without_secrets(text: str) -> str:
    """The text with a note in place of each line that holds a secret.

    Raises:
        SecretFound: what is left still looks like one.
    """
    for _ in range(3):
        found = scan(text)
        if not found:
            return text
        lines = text.split("\n")
        for one in reversed(found):
            first, last = one.line(text) - 1, text.count("\n", 0, max(one.start, one.end - 1))
            lines[first : last + 1] = [LEFT_OUT]
        text = "\n".join(lines)
    raise SecretFound(tuple(sorted({one.rule for one in found})), where="the notes of the session")
