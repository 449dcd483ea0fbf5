"""Text -> the checkboxes in it, in any list style: what is still to do, and what is done.

- [ ] write the test      1. [x] read the spec      ［　］ テストを書く      ☐ deploy
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

RESTATED = 0.5
"""Of the open items of an earlier list so many come again in a newer one: it takes its place."""

LONGEST = 300
"""Characters of one item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One checkbox. `text` is its line without the box; `done` also for what was called off."""

    text: str
    done: bool

    @property
    def key(self) -> str:
        """What it is compared by: the text without emphasis, closing marks, and ways to write a letter."""
        plain = unicodedata.normalize("NFKC", self.text).casefold()
        return " ".join(_MARKS.sub("", plain).split()).rstrip(" .。!！;；,，、")


def items(text: str) -> list[Item]:
    """The checkboxes of a text, in order; those in fenced code and in quoted lines are not its own."""
    return [item for line in own_lines(text) if (item := _item(line))]


def own_lines(text: str) -> Iterator[str]:
    """The lines of a text that stand neither in fenced code nor in a quotation; each of those is empty."""
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if fence:
            if mark and mark.group(1).startswith(fence) and not line[mark.end() :].strip():
                fence = ""
            yield ""
        elif mark:
            fence = mark.group(1)
            yield ""
        else:
            yield "" if line.lstrip().startswith((">", "＞")) else line


def still_open(lists: Iterable[Sequence[Item]]) -> list[Item]:
    """What is open after all these lists (one a message, the oldest first): the newest list first.

    The last state of an item counts. A list that repeats most of an earlier one replaces it.
    """
    current: dict[int, dict[str, Item]] = {}  # the lists that still count, each by key
    home: dict[str, int] = {}  # in which of them a key stands
    for number, found in enumerate(lists):
        new = {item.key: item for item in found if item.key}
        for at in {home[key] for key in new if key in home}:  # the others stay as they are
            if left := _after(current[at], new):
                current[at] = left
            else:
                for key in current.pop(at):
                    del home[key]
        if added := {key: item for key, item in new.items() if key not in home}:
            current[number] = added
            home.update(dict.fromkeys(added, number))
    return [item for one in reversed(current.values()) for item in one.values() if not item.done]


def _after(old: dict[str, Item], new: dict[str, Item]) -> dict[str, Item]:
    """What an earlier list still says once a newer one is there: nothing if it was restated."""
    waiting = [key for key, item in old.items() if not item.done]
    repeated = sum(key in new for key in waiting)
    if len(new) > 1 and repeated and repeated >= RESTATED * len(waiting):
        return {}
    return {key: new.get(key, item) for key, item in old.items()}


def _item(line: str) -> Item | None:
    found = _BOX.match(line)
    if not found:
        return None
    text = " ".join(found["text"].split())[:LONGEST]
    struck = text.startswith("~~") and text.rstrip(".").endswith("~~")
    done = bool((found["mark"] or "").strip() or (found["box"] or "☐") not in "☐□") or struck
    return Item(text=text.strip("~") if struck else text, done=done) if re.search(r"\w", text) else None


_FENCE = re.compile(r"\s{0,8}(`{3,}|~{3,})")
_BOX = re.compile(
    r"""\s*(?:(?:[-*+•·‣－＊・–—]|\(?(?:\d{1,3}|[a-zA-Z]|[一二三四五六七八九十])[.)．）、])\s{0,4})?
    (?:\\?[\[［【](?P<mark>[ \u3000xXｘＸ✓✔✗✘×~/-]?)(?:[］】]|\\?\](?=[\s\u3000]|[^\x00-\x7f]))
      | (?P<box>[☐☑☒□■✅✔]\ufe0f?))
    \s*(?P<text>\S.*)""",
    re.VERBOSE,
)
_MARKS = re.compile(r"[*`_~]+")
