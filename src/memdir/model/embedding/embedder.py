"""The one seam to models that say what a text means, as a vector."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import Protocol

from memdir import secrets


class Embedder(Protocol):
    """Something that turns texts into vectors: texts that mean about the same get vectors that point about
    the same way. Use it within one event loop, and `aclose` it at the end.

    Implementations raise only `memdir.errors.ModelError` and its children, and load or ask nothing before
    the first text comes.
    """

    @property
    def name(self) -> str:
        """Who made a vector, to be kept beside it: vectors can be compared only if they have this in
        common."""
        ...

    @property
    def is_local(self) -> bool:
        """Whether texts stay in this process. To any other only what `may_get` allows is given."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One vector a text, in their order: `unit` says how it is written. Long texts are cut; what is
        behind the cut has no part in the vector.

        Raises:
            ModelError: see the tree in `memdir.errors`; then there is no vector of any of them.
        """
        ...

    async def aclose(self) -> None:
        """Close what is open, and give the memory back. Whoever made the embedder calls it at the end."""
        ...


def may_get(embedder: Embedder, text: str) -> bool:
    """Whether an embedder may get a text: one that is not local gets none that could hold a secret (E10)."""
    return embedder.is_local or not secrets.scan(text)


def unit(values: Iterable[float]) -> bytes:
    """A vector as it is kept: of length 1, each number as a little-endian float32; so the product of two of
    them is their cosine.

    Raises:
        ValueError: it has no direction: it is empty or zero, or holds what is no number.
        TypeError: the same.
    """
    numbers = array("d", values)
    length = math.hypot(*numbers)
    if not (math.isfinite(length) and length > 0):
        raise ValueError("no vector")
    packed = array("f", (number / length for number in numbers))
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
