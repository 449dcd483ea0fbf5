"""Small talks for these tests: one person, one day."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from memdir.extract.local import Create, Delete, Known, Proposal, Turn, Update, propose

TODAY = date(2026, 3, 5)
"""A Thursday."""


def person(*texts: str, known: Sequence[Known] = (), today: date = TODAY) -> list[Proposal]:
    """What the extractor makes of a talk in which the person says these things, one turn each."""
    turns = [turn for text in texts for turn in (Turn(role="person", text=text), _answer())]
    return propose(turns, known, today=today)


def _answer() -> Turn:
    return Turn(role="assistant", text="All right.")


def created(*texts: str, known: Sequence[Known] = ()) -> list[Create]:
    """The same, when nothing but new memories may come of it."""
    proposals = person(*texts, known=known)
    assert all(isinstance(proposal, Create) for proposal in proposals), proposals
    return [proposal for proposal in proposals if isinstance(proposal, Create)]


def one(*texts: str, known: Sequence[Known] = ()) -> Create:
    """The same, when exactly one new memory comes of it."""
    proposals = created(*texts, known=known)
    assert len(proposals) == 1, proposals
    return proposals[0]


def update(*texts: str, known: Sequence[Known]) -> Update:
    """The one update that comes of it, and nothing else does."""
    (proposal,) = person(*texts, known=known)
    assert isinstance(proposal, Update), proposal
    return proposal


def deleted(*texts: str, known: Sequence[Known]) -> list[str]:
    """The files that are to go; nothing else may come of it."""
    proposals = person(*texts, known=known)
    assert all(isinstance(proposal, Delete) for proposal in proposals), proposals
    return [proposal.file for proposal in proposals if isinstance(proposal, Delete)]


def memory(file: str, name: str, body: str, *, kind: str = "project", description: str = "") -> Known:
    """A known memory."""
    return Known(file=file, name=name, description=description or name, type=kind, body=body)
