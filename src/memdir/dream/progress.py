"""What a dream has done so far -> where it is, for the person to see (D6). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from memdir.agent.permissions import READERS, WRITERS, target_of
from memdir.errors import ToolError
from memdir.memory.fence import visible
from memdir.model.messages import Message, ToolUse, Usage
from memdir.names import what_is

Phase: TypeAlias = Literal["look around", "gather", "consolidate", "prune"]
"""What the calls of a step are about: memories are read; logs, conversations or the project are; memories
are written; the index is."""

LONGEST = 200
"""Characters of the text that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a dream is.

    `turns` counts answers of the model, `tool_calls` the calls in them. `files`: the topic files that it has
    written or removed so far, each once. `text`: what the model said last, one line that is safe to show.
    """

    phase: Phase = "look around"
    turns: int = 0
    tool_calls: int = 0
    files: tuple[str, ...] = ()
    text: str = ""
    input_tokens: int = 0
    output_tokens: int = 0

    def after(
        self, answer: Message, *, turns: int, usage: Usage, files: Sequence[str], copy: Path, cwd: Path
    ) -> Progress:
        """The same, one answer of the model later. `copy`: the folder that it works on; a relative path
        begins in `cwd`.
        """
        return replace(
            self,
            phase=phase_after(self.phase, answer.tool_uses, copy=copy, cwd=cwd),
            turns=turns,
            tool_calls=self.tool_calls + len(answer.tool_uses),
            files=tuple(dict.fromkeys(files)),
            text=_line(answer.text) or self.text,
            input_tokens=usage.total_input,
            output_tokens=usage.output,
        )


def phase_after(phase: Phase, calls: Sequence[ToolUse], *, copy: Path, cwd: Path) -> Phase:
    """The phase that the calls of one answer belong to. Reading alone never leads back from writing."""
    reached = {_phase_of(call, copy, cwd) for call in calls}
    if "prune" in reached:
        return "prune"
    if "consolidate" in reached:
        return "consolidate"
    return "gather" if "gather" in reached and phase == "look around" else phase


def _phase_of(call: ToolUse, copy: Path, cwd: Path) -> Phase | None:
    """None: it tells nothing."""
    if call.name not in READERS | WRITERS:
        return "gather" if call.name == "Bash" else None
    try:
        target = target_of(call, cwd)
    except (ToolError, OSError, ValueError):
        return None
    names = target.relative_to(copy).parts if target.is_relative_to(copy) else ("..",)
    if call.name in READERS:
        is_folder = not names or not names[-1].endswith(".md")
        kind = what_is((*names, "a.md") if is_folder else names)
        return "look around" if kind in ("topic", "entrypoint") else "gather"
    match what_is(names):
        case "entrypoint":
            return "prune"
        case "topic":
            return "consolidate"
    return None


def _line(text: str) -> str:
    """The last line that says something: what a model is about to do stands at the end."""
    lines = [" ".join(line.split()) for line in visible(text).splitlines()]
    return next((line[:LONGEST] for line in reversed(lines) if line), "")
