"""The one seam to language models (A3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from memdir.model.messages import Reply, Request

OnText = Callable[[str], None]
"""Gets each piece of visible text while the answer streams."""


class ModelClient(Protocol):
    """Something that answers a request: a provider, the embedded default, or a scripted fake.

    Implementations raise only `memdir.errors.ModelError` and its children, retry overload by themselves
    with backoff, and never change what they send for a given prefix (A4: byte-identical).
    """

    @property
    def name(self) -> str:
        """`provider:model`, as in settings; for reports."""
        ...

    @property
    def is_local(self) -> bool:
        """Whether this is the embedded default, which does memdir's own two jobs by rules."""
        ...

    @property
    def window(self) -> int:
        """The context window, in tokens."""
        ...

    async def complete(self, request: Request, *, on_text: OnText | None = None) -> Reply:
        """Answer one request.

        Raises:
            ModelError: see the tree in `memdir.errors`.
        """
        ...

    async def aclose(self) -> None:
        """Close what is open, connections above all. Whoever made the client calls it at the end."""
        ...
