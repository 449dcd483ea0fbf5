"""What a memory says of itself: that it is a manual, a warning, out of date; which files it names. Pure.

Words in English, Chinese and Japanese. A guess by phrases; the selector treats it as one.
"""

from __future__ import annotations

import re

MANUAL, WARNING, OUTDATED = 1, 2, 4
"""Traits, to be added up. MANUAL: how something is used. WARNING: what goes wrong with it. OUTDATED: it says
that it does not hold any more."""

_MANUAL = re.compile(
    r"\b(usage|cheat[ -]?sheet|commands?|command line|how to (call|use|run)|calls|tasks|options)\b"
    r"|用法|命令|使い方",
    re.IGNORECASE,
)
_WARNING = re.compile(
    r"\b(never|careful|caution|warnings?|traps?|gotchas?|pitfalls?|trouble|beware|bugs?|issues?|problems?)\b"
    r"|坑|教训|注意|小心|問題|问题|落とし穴",
    re.IGNORECASE,
)
_OUTDATED = re.compile(
    r"\b(supersed\w+|replace[ds] (this|it|by|with)|obsolete|deprecated|retired|out of use|switched off"
    r"|no longer (used|read|valid|works?)|gave it up|only valid (up to|until)|kept only"
    r"|nothing new (may|should) use|not use (it |this )?for anything new)\b"
    r"|停用|已(经)?(废弃|作废)|(本|此)(文|条|文档|记录)[^。\n]{0,6}(废弃|作废)|取代|不再(使)?用|只作历史|已下线"
    r"|廃止|使わない|非推奨"
)
_OUTDATED_HINTS = (
    "supersed", "replace", "obsolete", "deprecated", "retired", "out of use", "switched off", "no longer",
    "gave it up", "only valid", "kept only", "nothing new", "anything new", "停用", "废弃", "作废", "取代",
    "不再", "只作历史", "已下线", "廃止", "使わない", "非推奨",
)  # fmt: skip
"""One of these stands in every text that the pattern fits; to look for them takes a tenth of the time."""

_ENDING = re.compile(r"\.md\b")
_NAME = re.compile(r"[^\s()\[\]<>\"'`|,;:，。；：（）《》「」]+\Z")
_LONGEST_NAME, _MOST_NAMES = 120, 50


def traits(*, title: str, body: str) -> int:
    """The traits of a memory. `title`: all that it is called by, which alone says manual or warning."""
    title = title.replace("_", " ")
    return (
        MANUAL * bool(_MANUAL.search(title))
        + WARNING * bool(_WARNING.search(title))
        + OUTDATED * _is_outdated(body.lower())
    )


def _is_outdated(body: str) -> bool:
    return any(hint in body for hint in _OUTDATED_HINTS) and _OUTDATED.search(body) is not None


def named_files(body: str) -> tuple[str, ...]:
    """The Markdown files that a text names, in order, as it writes them; the first of very many."""
    found: dict[str, None] = {}
    for ending in _ENDING.finditer(body):
        before = _NAME.search(body[max(0, ending.start() - _LONGEST_NAME) : ending.start()])
        if before is not None:
            found[before[0] + ".md"] = None
        if len(found) == _MOST_NAMES:
            break
    return tuple(found)
