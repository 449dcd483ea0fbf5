"""What the person asks to remember, in so many words -> a memory. Always honoured (H1).

The rules of `extract.local` word it, find the memory that is to change, and know what is there already. Where
they make nothing of it, the words themselves become a memory: the person decides what is worth keeping.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import get_args

from memdir.errors import SecretFound
from memdir.extract.local import Create, Evidence, Known, Proposal, Turn, propose
from memdir.extract.local.compose import stem
from memdir.extract.local.topics import repeats
from memdir.extract.local.values import Kind
from memdir.extract.rules import carry_out
from memdir.extract.saved import Saved
from memdir.memory.store import MemoryDir
from memdir.model.messages import person
from memdir.secrets import scan

PLAIN: Kind = "project"
"""The kind of a memory whose words suggest none."""

LONGEST_TITLE = 60
_HAN = re.compile(r"[\u3400-\u9fff]")


def remember(text: str, *, memory: MemoryDir, kind: str | None, session: str | None, now: datetime) -> Saved:
    """Save what the person says. `kind` overrules the kind that the words suggest.

    Nothing is changed if a memory says the same already.

    Raises:
        SecretFound: the text holds a secret.
    """
    if found := scan(text):
        raise SecretFound(tuple(sorted({finding.rule for finding in found})), where="the text")
    chosen = next((one for one in get_args(Kind) if one == kind), None)
    asked = f"记住：{text}" if _HAN.search(text) else f"Remember: {text}"

    def proposed(existing: Sequence[Known]) -> list[Proposal]:
        made = propose([Turn(role="person", text=asked)], existing, today=now.date())
        if not made and not any(repeats(text, known) for known in existing):
            return [_in_so_many_words(text, chosen or PLAIN)]
        return [replace(one, type=chosen) if chosen and isinstance(one, Create) else one for one in made]

    said = [person(text, at=now)]
    return carry_out(proposed, said=said, memory=memory, session=session or "", now=now)


def _in_so_many_words(text: str, kind: Kind) -> Create:
    first = text.strip().splitlines()[0]
    title = first if len(first) <= LONGEST_TITLE else first[: LONGEST_TITLE - 1].rstrip() + "…"
    return Create(
        type=kind,
        title=title,
        description=first,
        body=text.strip(),
        stem=stem(kind, title),
        evidence=Evidence(turn=0, sentence=first),
    )
