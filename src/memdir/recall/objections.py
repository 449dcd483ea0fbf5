"""What speaks against a memory that fits a prompt, whoever chose it: a model or words (R5). Pure."""

from __future__ import annotations

import re
from posixpath import dirname, join, normpath

from memdir.memory.rank import similarity
from memdir.memory.traits import MANUAL, OUTDATED, WARNING
from memdir.recall.vocabulary import AGENT_TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from memdir.memory.index import Known

ALIKE = 0.25
"""A memory takes an outdated one's place if their titles are so similar."""


_UNOPENED = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def out_of_reach(file: str) -> bool:
    """Whether no command opens a file of that name: it has to be renamed first."""
    return _UNOPENED.search(file) is not None


def programs(recent_tools: Iterable[str]) -> set[str]:
    """The tools in use that say something about the work: not the agent's own."""
    return {tool.casefold() for tool in recent_tools} - AGENT_TOOLS


def tool_in_use(memory: Known, tools: Collection[str], spoken: Collection[str] = ()) -> str | None:
    """The tool that this memory only tells how to call, and that is being called right now; or None.

    Warnings about it, and what the person wants of it, are no manuals. `spoken`: words known to be in it.
    """
    if memory.type == "feedback" or not memory.traits & MANUAL or memory.traits & WARNING:
        return None
    said = {*spoken, *re.findall(r"[\w-]+", memory.title.casefold())}
    return next((tool for tool in sorted(tools) if tool in said), None)


def successor(memory: Known, others: Iterable[Known]) -> Known | None:
    """The one of `others` that took the place of a memory that says of itself that it is past; or None.

    The one that it names, else the one whose title is most like its own. What is past takes no place.
    """
    if not memory.traits & OUTDATED:
        return None
    current = [one for one in others if not one.traits & OUTDATED and one.file != memory.file]
    named_files = {*memory.named, *(normpath(join(dirname(memory.file), name)) for name in memory.named)}
    if named := [one for one in current if one.file in named_files]:
        return named[0]
    likeness = {one.file: similarity(memory.title, one.title) for one in current}
    best = max(current, key=lambda one: likeness[one.file], default=None)
    return best if best is not None and likeness[best.file] >= ALIKE else None
