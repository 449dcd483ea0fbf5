"""A command line -> may a background agent run it, and what exactly would run (A6).

    check("grep -rn 'def ' src | head")  ->  allowed, script "grep -rn 'def ' src | head"
    check("sort -o out.txt notes.txt")   ->  refused: "sort may not be given -o here"

Three steps, all pure: `syntax` understands the text or refuses it; `judge` compares each command with the
table `commands.toml`; what was understood is rendered anew, every word quoted. What runs is what was judged.
Whatever is not known to be harmless is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memdir.agent.shell.verdict import ShellVerdict


def check(command: str) -> ShellVerdict:
    """Judge a command line. Never raises; what is not understood is not allowed (A6)."""
    from memdir.agent.shell.verdict import (
        verdict_on,  # when a command is judged, and not when a prompt is read
    )

    return verdict_on(command)
