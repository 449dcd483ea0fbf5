"""A prompt -> its words, and how much each counts in it. Pure.

What a person types counts in full. A log or a piece of code that is pasted below it holds many words that
are there by chance: they count half.
"""

from __future__ import annotations

from memdir.memory.words import shares

PASTE = 7
"""From so many lines on (blank ones left out) a prompt holds a paste."""

PASTED = 0.5
"""What a word counts that stands in a paste only."""

INTRODUCTION = 3
"""Lines that a person types above a paste, at most; a blank one ends them."""


def emphasis(prompt: str) -> dict[str, float]:
    """Each word of the prompt, and how much it counts, 0 to 1: as where it counts most."""
    typed, pasted = _parts(prompt)
    found = shares(typed)
    for word, share in shares(pasted).items():
        found[word] = max(PASTED * share, found.get(word, 0.0))
    return found


def _parts(prompt: str) -> tuple[str, str]:
    """What is most likely the person's own, and the paste.

    Their own is the first line, with what stands right below it if a blank line ends that soon; and the last
    line, if it stands by itself.
    """
    lines = prompt.splitlines()
    full = [at for at, line in enumerate(lines) if line.strip()]
    if len(full) < PASTE:
        return prompt, ""
    first, last = full[0], full[-1]
    blanks = (at for at in range(first, first + INTRODUCTION + 1) if not lines[at].strip())
    start = next(blanks, first + 1)
    end = last if not lines[last - 1].strip() else last + 1
    return "\n".join([*lines[first:start], *lines[end:]]), "\n".join(lines[start:end])
