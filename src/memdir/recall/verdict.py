"""What became of one memory in a choice, and why (R10)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Verdict:
    """One memory that was considered. `score`: how well it fits the prompt, about 0 to 1; by a model 1 or 0.
    `words`: what of the prompt it shares, weightiest first, and what each adds. Never changed."""

    __slots__ = ("chosen", "file", "score", "why", "words")

    def __init__(
        self, *, file: str, score: float, chosen: bool, why: str, words: Mapping[str, float] | None = None
    ) -> None:
        self.file = file
        self.score = score
        self.chosen = chosen
        self.why = why
        self.words: Mapping[str, float] = words or {}

    def chosen_for(self, why: str) -> Verdict:
        """The same, chosen."""
        return Verdict(file=self.file, score=self.score, chosen=True, why=why, words=self.words)

    def left_out(self, why: str) -> Verdict:
        """The same, not chosen."""
        return Verdict(file=self.file, score=self.score, chosen=False, why=why, words=self.words)

    def scored(self, score: float) -> Verdict:
        """The same with another score."""
        return Verdict(file=self.file, score=score, chosen=self.chosen, why=self.why, words=self.words)

    def __repr__(self) -> str:
        return f"Verdict({self.file!r}, {self.score:.3f}, chosen={self.chosen}, why={self.why!r})"
