"""What goes in and what comes out: turns and known memories become proposals with their evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["person", "assistant", "tool"]
Kind: TypeAlias = Literal["user", "feedback", "project", "reference"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of the talk, as plain text. Only a person's turns can become memories (E11). `ran`: the
    commands that an assistant's turn calls."""

    role: Role
    text: str
    ran: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A memory that is there already. `body` is the text below the frontmatter."""

    file: str
    name: str
    description: str
    type: str | None
    body: str

    @property
    def text(self) -> str:
        """Everything a reader sees of it."""
        return "\n".join((self.name, self.description, self.body))


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Why: the turn (index into the turns given) and the words the person said there."""

    turn: int
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Create:
    """A new topic. `stem` is a safe file name without its ending; the caller makes it unique."""

    type: Kind
    title: str
    description: str
    body: str
    stem: str
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """A known topic that says something else now. `body` is the whole new body; None keeps the old value."""

    file: str
    body: str
    description: str | None
    name: str | None
    evidence: Evidence
    type: Kind | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """A known topic that the person wants forgotten."""

    file: str
    reason: str
    evidence: Evidence


Proposal: TypeAlias = Create | Update | Delete
