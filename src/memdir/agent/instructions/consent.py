"""What the person has said of files outside a project, kept in `<state>/consents.json` (I3).

    {"/home/ada/shop": {"allowed": ["/home/ada/notes/style.md"], "refused": []}}

The key is the root of the working tree; the paths are real ones. A folder that is allowed covers what is
below it, but for places of credentials. What can't be made out is no consent.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memdir import fs
from memdir.errors import MemdirError, UsageError
from memdir.memory.fence import exact

_MAX_FILE = 4 * 1024 * 1024


class Consents:
    """The decisions in one file. They are read again whenever it has changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem: str | None = None
        self._stamp: tuple[int, int, int] | None = None
        self._said: Mapping[str, Mapping[str, frozenset[str]]] = {}

    def verdict(self, root: Path, real: Path, *, exactly: bool = False) -> bool | None:
        """Whether the person allowed or refused this file for the working tree; None: they were not asked.

        `exactly`: a folder above it does not count. What was refused is refused, whatever is above it.
        """
        self._refresh()
        said = self._said.get(str(root))
        if said is None:
            return None
        names = [str(real)] if exactly else [str(place) for place in (real, *real.parents)]
        for name in names:  # what is said of the nearest counts
            if name in said["refused"]:
                return False
            if name in said["allowed"]:
                return True
        return None

    def decide(self, root: Path, real: Path, *, allowed: bool) -> None:
        """Keep what the person said of this real path, in place of what they said before.

        Raises:
            UsageError: the file is broken; it is left alone.
            OSError, MemdirError: it can't be written.
        """
        with fs.locked(self.path.parent):
            kept = self._kept()
            mine = kept.setdefault(str(root), {})
            for name, wanted in (("allowed", allowed), ("refused", not allowed)):
                others = [one for one in mine.get(name, ()) if one != str(real)]
                mine[name] = sorted([*others, str(real)]) if wanted else others
            text = json.dumps(kept, indent=2, sort_keys=True)
            fs.write_atomic(self.path, text.encode() + b"\n", mode=0o600)
        self._stamp = None

    def _kept(self) -> dict[str, Any]:
        try:
            kept = _parsed(fs.read_file(self.path, limit=_MAX_FILE + 1))
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise UsageError(
                f"{exact(str(self.path))} can't be made out: {error}",
                hint="mend it or move it away; then say it again",
            ) from error
        return {root: {name: sorted(paths) for name, paths in said.items()} for root, said in kept.items()}

    def _refresh(self) -> None:
        try:
            found = self.path.stat()
            stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        except OSError as error:
            self._said, self._stamp = {}, None
            self.problem = None if isinstance(error, FileNotFoundError) else self._told(error)
            return
        if stamp == self._stamp:
            return
        self._said, self._stamp, self.problem = {}, stamp, None
        try:
            self._said = _parsed(fs.read_file(self.path, limit=_MAX_FILE + 1))
        except (OSError, MemdirError, ValueError) as error:
            self.problem = self._told(error)

    def _told(self, error: Exception) -> str:
        why = error.strerror if isinstance(error, OSError) else error
        return f"{exact(str(self.path))} can't be made out ({why}): no file outside the project is loaded"


def _parsed(data: bytes) -> dict[str, dict[str, frozenset[str]]]:
    """The decisions, by working tree. Raises ValueError, with the reason, where they are none."""
    if len(data) > _MAX_FILE:
        raise ValueError("it is too big")
    try:
        values = json.loads(data.decode("utf-8-sig"))
    except RecursionError as error:
        raise ValueError("it is nested without end") from error
    except ValueError as error:
        raise ValueError("it is no JSON") from error
    if not isinstance(values, dict):
        raise ValueError("it holds no JSON object")
    said: dict[str, dict[str, frozenset[str]]] = {}
    for root, lists in values.items():
        if not isinstance(lists, dict):
            raise ValueError("a project's entry is no JSON object")
        said[root] = {name: _paths(lists.get(name, [])) for name in ("allowed", "refused")}
    return said


def _paths(given: object) -> frozenset[str]:
    if not isinstance(given, list) or not all(isinstance(one, str) and os.path.isabs(one) for one in given):  # noqa: PTH117
        raise ValueError("a list in it holds something other than full paths")
    return frozenset(given)
