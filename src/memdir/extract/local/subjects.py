"""What "keep doing it like that" is about: subject words of the assistant's turn before it.

Only words, never a sentence: what the assistant claims is not the source of a fact (E11).
"""

from __future__ import annotations

import re

from memdir.memory.word_lists import STOP_WORDS

MOST = 8

_LEFT_OUT = re.compile(r"```.*?(?:```|\Z)|`[^`]*`|https?://\S+|\S*[\d/\\@_]\S*", re.DOTALL)
_WORD = re.compile(r"[^\W\d_\u3041-\u30ff\u4e00-\u9fff][\w-]{3,}|[\u30a1-\u30fc]{2,}|[\u4e00-\u9fff]{2,}")
_PARTICLES = re.compile(
    "[的了在是和与把被我你他她它们这那就都也不没有为从对到并而用请会能要让给着过所以及其或但]"
)


def subjects(text: str) -> list[str]:
    """The first few words that say what a turn is about, each once; code, numbers and addresses left out."""
    plain = _LEFT_OUT.sub(" ", text[:2_000])
    if not re.search(r"[\u3041-\u3096]", plain):
        plain = _PARTICLES.sub(" ", plain)  # Chinese runs on without spaces; its small words cut it
    found = (word for word in _WORD.findall(plain) if word.lower() not in STOP_WORDS)
    return list(dict.fromkeys(found))[:MOST]
