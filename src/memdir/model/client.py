"""The one seam to language models (A3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from memdir.model.messages import Reply, Request

OnText = Callable[[str], None]
"""Gets each piece of visible text while the answer streams."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many input tokens a request is. `exact`: the provider counted; otherwise it is an estimate,
    corrected by what earlier requests to this model turned out to be."""

    tokens: int
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a model's service says of itself, without a question being asked.

    `problem`: why it can't be used, or hardly, one sentence, and `cure`, what to do about it; both None if it
    can.
    `reachable`: whether anything answered at all. `models`: the names that it serves, as far as it tells.
    `window`: the context window in tokens, if it tells.
    """

    reachable: bool
    problem: str | None = None
    cure: str | None = None
    models: tuple[str, ...] = ()
    window: int | None = None


class Answer(Protocol):
    """An answer that is coming in."""

    def take(self, event: Any) -> str:
        """Take in one event of the stream; gives the visible text in it, mostly none."""
        ...

    def reply(self) -> Reply:
        """The whole answer.

        Raises:
            ModelUnreachable: the stream ended before the answer did.
        """
        ...


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
        """The context window, in tokens: as the service tells it once it was asked (`survey`, the first
        question), as is known of the model before."""
        ...

    @property
    def scale(self) -> float:
        """Tokens of this model for each that `tokens.estimate_request` finds, learned from the usage that
        came back; 1.0 until something did."""
        ...

    @property
    def calls_tools(self) -> bool | None:
        """Whether the model calls tools, as far as its service says so; None: it says nothing. One that does
        not may be asked all the same."""
        ...

    async def complete(self, request: Request, *, on_text: OnText | None = None) -> Reply:
        """Answer one request.

        Raises:
            ModelError: see the tree in `memdir.errors`.
        """
        ...

    async def count(self, request: Request) -> Count:
        """How many tokens the request is: exactly, where the provider counts for nothing. Never raises for
        what a service does: then it is the estimate."""
        ...

    async def survey(self) -> Survey:
        """Ask the service what it is, and whether it could answer: free of charge, within a few seconds.
        Never raises for what a service does."""
        ...

    async def aclose(self) -> None:
        """Close what is open, connections above all. Whoever made the client calls it at the end."""
        ...
