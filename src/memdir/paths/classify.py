"""A path becomes the memory it belongs to: one answer for permissions, exclusions, notices, lists (P8)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from uuid import UUID

from memdir.fs import inside
from memdir.names import INDEX, what_is
from memdir.paths.places import Places

What = Literal["auto", "entrypoint", "topic", "team", "agent", "session", "log", "instructions", "none"]
Scope = Literal["user", "project", "local"]

_INSTRUCTIONS = frozenset({"CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.local.md"})

_RULES, _HOLDERS = "rules", frozenset({".claude", ".memdir"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Which memory a path belongs to.

    `auto` is anything else in the memory directory, the directory included. For `agent`, `agent_type` is the
    agent's folder (None: the folder of all agents) and `scope` whose memory it is.
    """

    what: What
    agent_type: str | None = None
    scope: Scope | None = None


def classify(path: Path, places: Places) -> Kind:
    """Which memory `path` belongs to, links, `..`, case and Unicode form resolved (P8, A8)."""
    if places.memory and (names := _names_below(places.memory, path)) is not None:
        if _is(path, places.memory / INDEX):  # which may itself be a link to another file in there
            return Kind(what="entrypoint")
        what = what_is(names)
        return Kind(what="auto" if what == "other" else what)
    for scope, folder in _agent_folders(places).items():
        if (names := _names_below(folder, path)) is not None:
            return Kind(what="agent", agent_type=names[0] if names else None, scope=scope)
    if _in_session(_names_below(places.base / "projects", path) or ()):
        return Kind(what="session")
    is_obeyed = path.name in _INSTRUCTIONS or _is_rule(path, places)
    return Kind(what="instructions" if is_obeyed else "none")


def _is_rule(path: Path, places: Places) -> bool:
    """Whether it is one of the rules of the person or a project, by its name or by where it leads (I3)."""
    for place in (Path(os.path.normpath(path.absolute())), Path(os.path.realpath(path))):
        if place.suffix.lower() == ".md" and any(_keeps_rules(folder, places) for folder in place.parents):
            return True
    return False


def _keeps_rules(folder: Path, places: Places) -> bool:
    if folder.name != _RULES:
        return False
    return folder.parent.name in _HOLDERS or _is(folder, places.base / _RULES)


def _agent_folders(places: Places) -> dict[Scope, Path]:
    """Where the memories of agent types are, by scope (G1)."""
    project = places.root / (".claude" if places.layout == "claude" else ".memdir")
    return {
        "user": places.base / "agent-memory",
        "project": project / "agent-memory",
        "local": project / "agent-memory-local",
    }


def _names_below(folder: Path, path: Path) -> tuple[str, ...] | None:
    """The names that lead from `folder` to the real place of `path`; None if it is not in there."""
    if not inside(folder, path):
        return None
    real = Path(os.path.realpath(path))
    above = next(place for place in (real, *real.parents) if _is(place, folder))
    return real.relative_to(above).parts


def _is(place: Path, folder: Path) -> bool:
    return inside(folder, place) and inside(place, folder)


def _in_session(names: tuple[str, ...]) -> bool:
    """`<slug>/<session id>/session-memory/…` (P9)."""
    if len(names) < 3 or names[2] != "session-memory":
        return False
    try:
        return bool(UUID(names[1]))
    except ValueError:
        return False
