"""What belongs to a memory directory and is kept elsewhere. A value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memdir.paths import Places


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """`places`: those of the project. `others`: the places that the same project has in other layouts."""

    places: Places
    others: Sequence[Places] = ()
