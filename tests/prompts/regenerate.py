"""Write the golden files of all prompts anew: `python -m tests.prompts.regenerate`. Read the difference."""

from __future__ import annotations

from pathlib import Path

from memdir import prompts

GOLDEN = Path(__file__).parent / "golden"

SLOTS = {
    "age": "3 days ago",
    "bytes": "17,500",
    "body": "Nothing is merged on Fridays.\n\n**Why:** nobody is there on Saturday.",
    "count": "12",
    "cut": "\nOnly the beginning is shown here.",
    "cwd": "/home/ada/shop",
    "day": "Thursday, 2026-04-02 (UTC+02:00)",
    "diff": "@@ -1 +1 @@\n-timeout = 5\n+timeout = 9",
    "directory": "/home/ada/.memdir/projects/-home-ada-shop/memory/",
    "files": "Contents of /home/ada/shop/CLAUDE.md (instructions of the project):\n\n"
    "<instructions>\nNo merges on Fridays.\n</instructions>",
    "gone": "48 messages",
    "how": "Here stands how the summary was made.",
    "keep": "\nThese files stay: `tools.md`.\n",
    "lines": "120",
    "list": "- /home/ada/shop/AGENTS.md (instructions of the project, 9,000 bytes)",
    "more": "\n12 more lines have changed.",
    "manifest": "- [feedback] no_fridays.md (2026-03-30T12:00:00.000Z): No merges on Fridays",
    "note": "\nThis was noted 3 days ago and may be outdated.",
    "instructions": "Keep the names of the endpoints.",
    "notes": "# Task\n_What the person asked for._\n\nMerge the cart branch.",
    "oversize": "No section is too long.",
    "template": "# Task\n_What the person asked for._\n\n# Files\n_Files that matter._",
    "path": "/home/ada/.memdir/projects/-home-ada-shop/memory/no_fridays.md",
    "query": "Merge the cart branch, please.",
    "said": '<said number="1">\nNo merges on Fridays, please.\n[pasted: 47 lines]\n</said>',
    "removable": "10",
    "share": "30%",
    "topics": "40",
    "sessions": "  - in `/home/ada/.memdir/projects/-home-ada-shop/`: 0b9f6c1e-5f0c-4d5e-9a51-2f6f2a0c7d11",
    "shown": "4096",
    "size": "9000",
    "summary": "# Task\n\nMerge the cart branch.",
    "tail": "6 messages",
    "text": "- [No Fridays](no_fridays.md) — nothing is merged on Fridays",
    "today": "Thursday, 2026-04-02",
    "todos": "- [ ] Run the tests of the cart",
    "turns": "40",
    "tools": "Bash, Read",
    "what": "instructions of the project",
    "which": "latest",
    "why": "it had grown too long for one request",
}


def rendered(name: str) -> str:
    """A prompt with sample values in its slots."""
    return prompts.render(name, **{slot: SLOTS[slot] for slot in prompts.slots(name)}) + "\n"


def main() -> None:
    """Write one golden file for each prompt, and remove those of prompts that are gone."""
    GOLDEN.mkdir(exist_ok=True)
    for stale in GOLDEN.glob("*.txt"):
        stale.unlink()
    for name in prompts.names():
        (GOLDEN / f"{name}.txt").write_text(rendered(name), encoding="utf-8")


if __name__ == "__main__":
    main()
