"""What the person asks to remember, in so many words -> one memory. Always honoured (H1).

The person has decided that it is worth keeping and how to say it: their words become the body as they
stand, with relative dates made absolute. The rules of `extract.local` only say what kind of memory it is.
What is there already is not doubled: a memory about the same thing gets the new words on top, and what it
said before stays below them.

A secret is refused, unless the person insists: then the lines that hold one get the allow marker, and neither
the title nor the index has the value (E10).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, cast

from memdir.errors import SecretFound, UsageError
from memdir.extract.saved import Saved
from memdir.memory import topic
from memdir.memory.store import MemoryDir
from memdir.memory.words import words
from memdir.model.messages import person
from memdir.secrets import ALLOWED, allowed_lines, scan

if TYPE_CHECKING:
    from memdir.extract.local import Known, Proposal
    from memdir.extract.local.values import Kind

LABEL = "remember"
"""The worker in the origin of such a memory."""

PLAIN: Kind = "project"
"""The kind of a memory whose words suggest none."""

LONGEST = 100_000
"""Characters; more is a file of its own, and no memory."""

LONGEST_TITLE, LONGEST_DESCRIPTION = 60, 150
"""Columns: a wide character counts as two."""

SPEAKS_OF_ITSELF = re.compile(
    r"(?:my name is|call me|i['’]m called|mein name ist|ich hei(?:ß|ss)e|me llamo|mi nombre es)\b"
    r"|我叫|我的名字|私の名前",
    re.IGNORECASE,
)
"""How a person begins who says who they are."""

_WISH = re.compile(
    r"\s*(?:please\s+)?(?:remember|note|keep in mind)(?:\s+that\b|\s*[:,])\s*"
    r"|\s*请?(?:你|帮我)?(?:记住|记下来|记下|记一下)\s*[：:，,]?\s*",
    re.IGNORECASE,
)
_CODES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~])?")
"""What colours a terminal."""
_MARKS = re.compile(r"^(?:[>#]+\s*|[-*+•·]\s+|\d{1,2}[.)]\s+)+")
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_HAN = re.compile(r"[\u3400-\u9fff]")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_MARKDOWN = frozenset("-*#>|`")
_EARLIER = ("Earlier: ", "之前：")
_MARKER = f" <!-- {ALLOWED} -->"


def remember(
    text: str,
    *,
    memory: MemoryDir,
    kind: str | None,
    session: str | None,
    now: datetime,
    allow_secret: bool = False,
) -> Saved:
    """Save what the person says. `kind` overrules the kind that the words suggest.

    Nothing is changed if a memory says the same already. `allow_secret`: the person knows of a secret in the
    text, and wants it kept.

    Raises:
        SecretFound: the text holds a secret, and `allow_secret` is not set.
        UsageError: there is nothing to remember, or far too much.
    """
    from memdir.extract.rules import carry_out

    said = _dated(_checked(_tidy(text), allow_secret=allow_secret), now.date())
    said = _marked(said) if allow_secret else said
    chosen = cast("Kind", kind) if kind in topic.TYPES else None

    def proposed(existing: Sequence[Known]) -> list[Proposal]:
        return _proposed(said, existing, chosen=chosen, today=now.date())

    return carry_out(
        proposed,
        said=[person(said, at=now)],
        memory=memory.by_person(),
        session=session,
        worker=LABEL,
        now=now,
    )


# -- the words -----------------------------------------------------------------------------------------------


def _tidy(text: str) -> str:
    """The words without "remember that", and without what no eye sees."""
    lines = _CODES.sub("", text.encode("utf-8", "replace").decode()).replace("\r\n", "\n").replace("\r", "\n")
    seen = "".join(letter for letter in lines if letter in "\n\t" or not _unseen(letter)).strip()
    wish = _WISH.match(seen)
    return (seen[wish.end() :].strip() or seen) if wish else seen


def _unseen(letter: str) -> bool:
    """Control characters, and those that turn the order of letters around."""
    return unicodedata.category(letter) == "Cc" or letter in _TURNS


def _checked(text: str, *, allow_secret: bool) -> str:
    if not text:
        raise UsageError("there is nothing to remember in that")
    if len(text) > LONGEST:
        raise UsageError(
            f"{len(text):,} characters are too many for a memory",
            hint=f"keep them in a file and remember where it is; a memory has at most {LONGEST:,}",
        )
    if not allow_secret and (found := scan(text)):
        lines = sorted({finding.line(text) for finding in found}) if "\n" in text else ()
        rules = sorted({finding.rule for finding in found})
        raise SecretFound(tuple(rules), where="the text", lines=tuple(lines))
    return text


def _marked(text: str) -> str:
    """The text with the allow marker on each line where a secret begins."""
    lines, marked = text.split("\n"), allowed_lines(text)
    for number in {finding.line(text) for finding in scan(text)} - marked:
        lines[number - 1] = lines[number - 1].rstrip() + _MARKER
    return "\n".join(lines)


def _told(text: str) -> str:
    """The text as a title or the index may tell it: without secrets and markers."""
    text = text.replace(_MARKER, "")
    for finding in reversed(scan(text)):
        text = f"{text[: finding.start]}…{text[finding.end :]}"
    return text


def _dated(text: str, today: date) -> str:
    from memdir.extract.same import dated

    return "\n".join(dated(line, today=today) for line in text.split("\n"))


def _headline(text: str, limit: int) -> str:
    """The first line that says something, without marks of a list or heading."""
    return _cut(_telling(text)[0], limit)


def _summary(text: str, limit: int) -> str:
    """All lines in one, as long as there is room."""
    first, *more = _telling(text)
    for line in more:
        first += f" {line}" if first.endswith((":", "：")) else f"; {line}"
    return _cut(first, limit)


def _telling(text: str) -> list[str]:
    """The lines that say something, each without its mark; all there are if none does."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if re.search(r"\w", line) and not line.startswith("```")]
    return [_MARKS.sub("", line) for line in telling] or lines


def _cut(text: str, limit: int) -> str:
    limit = limit // 2 if _HAN.search(text) else limit
    if len(text) <= limit:
        return text.rstrip(" .。")
    kept, _, _ = text[:limit].rpartition(" ")
    return (kept if len(kept) > limit // 2 else text[: limit - 1]).rstrip(" ,;:，；：") + "…"


# -- the memory ----------------------------------------------------------------------------------------------


def _proposed(said: str, existing: Sequence[Known], *, chosen: Kind | None, today: date) -> list[Proposal]:
    """A new memory, or what an old one becomes; nothing if it is known already."""
    from memdir.extract.local import Create, Evidence, Update
    from memdir.extract.local.compose import stem
    from memdir.extract.same import about_the_same

    plain, told = said.replace(_MARKER, ""), _told(said)
    title, about = _headline(told, LONGEST_TITLE), _summary(told, LONGEST_DESCRIPTION)
    evidence = Evidence(turn=0, sentence=title)
    if same := _same(said, existing):
        retyped = Update(
            file=same.file, body=same.body, name=None, description=None, type=chosen, evidence=evidence
        )
        return [retyped] if chosen not in (None, same.type) else []
    kind = chosen or _suggested(told, today)
    if known := about_the_same(plain, existing, kind):
        body, replaced = _on_top(said, known.body)
        named_by_us = _folded(known.name) and _folded(known.description).startswith(_folded(known.name)[:20])
        return [
            Update(
                file=known.file,
                body=body,
                name=title if replaced and named_by_us else None,
                description=about if replaced else _cut(f"{known.description}; {about}", LONGEST_DESCRIPTION),
                type=chosen,
                evidence=evidence,
            )
        ]
    name = stem(kind, title)
    return [
        Create(
            type=kind,
            title=title,
            description=about,
            body=said,
            stem=f"{kind}_note" if name == kind else name,
            evidence=evidence,
        )
    ]


def _suggested(said: str, today: date) -> Kind:
    """The kind that the words suggest."""
    from memdir.extract.local import Create, Turn, propose

    if SPEAKS_OF_ITSELF.match(said):
        return "user"
    asked = f"记住：{said}" if _HAN.search(said) else f"Remember: {said}"
    made = propose([Turn(role="person", text=asked)], [], today=today)
    return next((one.type for one in made if isinstance(one, Create)), PLAIN)


def _same(said: str, existing: Iterable[Known]) -> Known | None:
    """The memory that says just this, and still does."""
    wanted = _folded(said)
    return next((known for known in existing if wanted in _sayings(known.body)), None)


def _sayings(body: str) -> set[str]:
    """What a body says: all of it, each line, and each sentence, for comparing."""
    lines = [line for line in body.splitlines() if not line.startswith(_EARLIER)]
    sentences = (sentence for line in lines for sentence in _SENTENCE.split(line))
    return {_folded(one) for one in ("\n".join(lines), *lines, *sentences) if one.strip()}


def _folded(text: str) -> str:
    """What is the same for a reader: letters, digits and signs, without case, spaces, ends of sentences."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"[\s.,;:!?]+", "", plain.replace("。", ".")) or text.strip()


def _on_top(said: str, old: str) -> tuple[str, bool]:
    """The new words above the old lines, and whether they replace the old ones in all.

    A line whose words are all in the news is left out; one about the same is marked as said earlier.
    """
    kept = [line for line in (_beside(line, said) for line in old.strip().splitlines()) if line is not None]
    replaced = all(not line.strip() or line.startswith(_EARLIER) for line in kept)
    return "\n\n".join(filter(None, [said, "\n".join(kept).strip()])), replaced


def _beside(line: str, said: str) -> str | None:
    """An old line beside the news: as it is, marked, or None."""
    from memdir.extract.same import ALIKE, share

    terms = set(words(_unmarked(line)))
    if terms and terms <= set(words(said)):
        return None
    alike = share(line.removesuffix(_MARKER), said.replace(_MARKER, "")) >= ALIKE
    if not alike or line[:1] in _MARKDOWN or line.startswith(_EARLIER):
        return line
    return _EARLIER[bool(_HAN.search(said))] + line


def _unmarked(line: str) -> str:
    for mark in _EARLIER:
        line = line.removeprefix(mark)
    return line.removesuffix(_MARKER)
