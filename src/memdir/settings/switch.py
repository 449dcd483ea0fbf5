"""Whether memory is on here, and what decided (S3, S4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memdir.paths import is_remote, remote_base, said
from memdir.settings.keys import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """Whether auto memory is on, and why: a clause for the person, naming what decided."""

    on: bool
    reason: str


def memory_switch(settings: Settings, environment: Mapping[str, str], *, layout: str) -> Switch:
    """Whether auto, team and agent memory are on, by the first of these that decides (S3).

    Pure but in remote mode: a memory directory that is refused there is none, and for that the disk is seen.
    """
    foreign = layout == "claude"
    disable = ["MEMDIR_DISABLE", *(["CLAUDE_CODE_DISABLE_AUTO_MEMORY"] if foreign else [])]
    simple = ["MEMDIR_SIMPLE", *(["CLAUDE_CODE_SIMPLE"] if foreign else [])]
    if name := _first(environment, disable, True):
        return Switch(on=False, reason=f"{name} is {environment[name]}")
    if name := _first(environment, disable, False):
        return Switch(on=True, reason=f"{name} is {environment[name]}")
    if name := _first(environment, simple, True):
        return Switch(on=False, reason=f"{name} is {environment[name]}")
    if is_remote(environment) and not remote_base(environment):
        what = "a safe " if environment.get("MEMDIR_REMOTE_MEMORY_DIR") else ""
        return Switch(on=False, reason=f"remote mode without {what}MEMDIR_REMOTE_MEMORY_DIR")
    if not settings.auto_memory_enabled:
        return Switch(on=False, reason="autoMemoryEnabled is false")
    return Switch(on=True, reason="nothing switched it off")


def _first(environment: Mapping[str, str], names: Sequence[str], wanted: bool) -> str | None:
    """The first of the variables that says what is wanted, in any of its words."""
    return next((name for name in names if said(environment, name) is wanted), None)
