"""A command line -> may a background agent run it, and what exactly would run (A6).

    check("grep -rn 'def ' src | head")  ->  allowed, script "grep -rn 'def ' src | head"
    check("sort -o out.txt notes.txt")   ->  refused: "sort may not be given -o here"

Three steps, all pure: `syntax` understands the text or refuses it; `judge` compares each command with the
table `commands.toml`; what was understood is rendered anew, every word quoted. What runs is what was judged.
Whatever is not known to be harmless is refused.
"""

from memdir.agent.shell.verdict import ShellVerdict, check

__all__ = ["ShellVerdict", "check"]
