"""What the environment says about places and modes, in people's words. The caller hands in the mapping."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

WORDS = dict.fromkeys(("1", "true", "yes", "on"), True) | dict.fromkeys(("0", "false", "no", "off"), False)
"""What people write for a switch, in any case."""


def said(environment: Mapping[str, str], name: str) -> bool | None:
    """What a variable says in one of these words, blanks around it ignored; None: no such word."""
    return WORDS.get(environment.get(name, "").strip().lower())


def is_remote(environment: Mapping[str, str]) -> bool:
    """Whether this is remote mode (`MEMDIR_REMOTE`; P1, E1)."""
    return said(environment, "MEMDIR_REMOTE") is True


def home_directory(environment: Mapping[str, str]) -> Path:
    """The person's home directory, as the environment says."""
    named = environment.get("USERPROFILE" if os.name == "nt" else "HOME")
    return Path(named) if named and Path(named).is_absolute() else Path.home()
