"""A statement -> what it carries that the person did not state (E11). Pure."""

from __future__ import annotations

import re

from memdir.trust.carries import Carrier, carriers, host_of
from memdir.trust.case import Case
from memdir.trust.sources import Heard, orders
from memdir.trust.terms import folded, runs

FROM_THERE = "comes from a tool, a page or a file, and you did not name it"


def unstated(case: Case, *, line: bool) -> str:
    """A sentence on the first such thing, or nothing. `line`: look at all of the statement's line, too."""
    statement = case.statement
    for text in dict.fromkeys((statement.raw, statement.text) if line else (statement.text,)):
        for one in carriers(text):
            if reason := _address(one, case) if one.sort in _ADDRESSES else _thing(one, case):
                return reason
    return ""


def _address(one: Carrier, case: Case) -> str:
    if one.sort == "link" and orders(one.text):
        return "a link in it holds a text with orders"
    if not one.dangerous and not is_heard(one.text, case.heard):
        return ""
    if case.said.gave(one.text) or case.news.said.gave(one.text):
        return ""
    shown = host_of(one.text) or one.text
    comes = FROM_THERE if is_heard(shown, case.heard) else "is none that you named"
    return f"the {_ADDRESSES[one.sort]} “{short(shown)}” {comes}"


def _thing(one: Carrier, case: Case) -> str:
    known = (case.said, case.news.said)
    if one.sort == "code" or any(side.names(one.text) for side in known) or _in_words(one, case):
        return ""  # the names in code are traced as words
    what = f"the {_THINGS[one.sort]} “{short(one.text)}”"
    if not is_heard(one.text, case.heard):
        return f"{what} is dangerous, and you did not name it" if one.dangerous else ""
    if not one.dangerous and one.sort == "path" and is_shown_file(one.text, case):
        return ""
    return f"{what} {FROM_THERE}"


_ADDRESSES = {"link": "link", "host": "address", "address": "address", "image": "image"}
_THINGS = {"path": "path", "command": "command", "flag": "option", "setting": "setting"}


def _in_words(one: Carrier, case: Case) -> bool:
    """Whether the person said in words what an option or a command spells out: "no force pushes"."""
    if one.sort not in ("flag", "command"):
        return False
    if one.sort == "command" and not one.text.replace(" ", "").isalpha():
        return False
    words = [word for word in runs(folded(one.text)) if len(word) > 1]
    known = case.said.windows | case.news.said.windows | case.said.keys
    return bool(words) and known.issuperset(words)


def is_heard(text: str, heard: Heard) -> bool:
    """Whether untrusted text has it."""
    low = folded(text).strip()
    return low in heard.text or "".join(runs(low)) in heard.idents


def is_shown_file(name: str, case: Case) -> bool:
    """A file of the project that a tool showed, in a statement that is otherwise the person's."""
    hidden = "".join(runs(folded(name))) in case.heard.hard_idents
    return not hidden and case.mostly_theirs and _FILE.fullmatch(name) is not None


def short(text: str) -> str:
    """A few words of a text, for the person."""
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57].rstrip() + "…"


_FILE = re.compile(
    r"(?:\./)?(?:[\w@+-][\w.@+-]*/){0,12}[\w@+-][\w.@+-]*(?:/|\.(?:py|pyi|ts|tsx|js|jsx|mjs|cjs|go|rs"
    r"|java|kt|kts|rb|php|c|h|cc|cpp|hpp|cs|swift|scala|sql|md|rst|txt|toml"
    r"|ya?ml|json|xml|html|css|scss|vue|svelte|proto|graphql|ini|cfg|lock|gradle|tf|csv|ipynb))"
    r"|[\w@+-]+(?:/[\w@+-]+){1,8}/?",
    re.IGNORECASE,
)
