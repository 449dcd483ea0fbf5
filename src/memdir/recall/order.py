"""Memories that fit a prompt -> the order in which to look at them, by all that is known of them. Pure (M6).

    words        what they share with the prompt, beside the best
    companions   a memory of the same sitting that fits it too: what was noted together is of one matter
    meaning      how near they are to the prompt, in standard deviations
    age          the newest first; the more, the more memories there are to choose from
    use          what they were good for before

By score, not by rank. An order and nothing more: whether a memory bears on a prompt at all is for the
selector to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev

COMPANIONS = 0.5
"""What the best of a sitting adds to the others of it, as a share of its own words."""

SITTING = 3600 * 10**9
"""Nanoseconds between two changes of memories, at most, that belong to one sitting."""

MEANING = 0.15
"""What one standard deviation of nearness adds."""

RECENCY = 0.2
"""What the newest memory of a large directory gets for its age: the setting's default."""

HALF_LIFE = 20
"""Memories; so many newer ones halve what age adds."""

FEW = 100
"""In a directory of so many memories age counts half of what it does in a large one."""


def in_order(
    scores: Mapping[str, float],
    moments: Sequence[tuple[str, int]],
    *,
    near: Mapping[str, float] | None = None,
    use: Mapping[str, float] | None = None,
    recency: float = RECENCY,
) -> list[tuple[str, float]]:
    """Files with what speaks for each, best first, equals by path.

    `scores`: file -> what it shares with the prompt by words. `moments`: all files with the nanosecond of
    their last change, latest first; what is not among them has gone away meanwhile. `near`: file -> cosine;
    files that share no word come in by that alone. `use`: file -> -w to w. `recency`: what the newest memory
    of a large directory gets for its age.
    """
    sittings = _sittings(moments)
    shared = {file: score for file, score in scores.items() if score > 0 and file in sittings}
    best = max(shared.values(), default=1.0)
    words = {file: score / best for file, score in shared.items()}
    tops: dict[int, float] = {}
    for file, share in words.items():
        tops[sittings[file]] = max(share, tops.get(sittings[file], 0.0))
    meaning = _standardised(near or {})
    ages = _ages(moments, recency)
    value = {
        file: words[file] + COMPANIONS * tops[sittings[file]] if file in words else 0.0
        for file in {**words, **meaning}
        if file in sittings
    }
    for file in value:
        value[file] += MEANING * meaning.get(file, 0.0) + ages[file] + (use or {}).get(file, 0.0)
    return sorted(value.items(), key=lambda one: (-one[1], one[0]))


def _sittings(moments: Sequence[tuple[str, int]]) -> dict[str, int]:
    """File -> the sitting in which it was changed last."""
    found: dict[str, int] = {}
    sitting, before = 0, moments[0][1] if moments else 0
    for file, moment in moments:
        sitting += before - moment > SITTING
        found[file] = sitting
        before = moment
    return found


def _ages(moments: Sequence[tuple[str, int]], recency: float) -> dict[str, float]:
    """File -> what its age adds; those of one moment alike."""
    most = recency * len(moments) / (len(moments) + FEW)
    found: dict[str, float] = {}
    younger, before = 0, None
    for at, (file, moment) in enumerate(moments):
        if moment != before:
            younger, before = at, moment
        found[file] = most * 0.5 ** (younger / HALF_LIFE)
    return found


def _standardised(near: Mapping[str, float]) -> dict[str, float]:
    spread = pstdev(near.values()) if len(near) > 1 else 0.0
    if not spread:
        return dict.fromkeys(near, 0.0)
    mean = fmean(near.values())
    return {file: (cosine - mean) / spread for file, cosine in near.items()}
