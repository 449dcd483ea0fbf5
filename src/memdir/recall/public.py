"""The selector by words for those who have a directory and a prompt, and no session."""

from __future__ import annotations

import os
import time

from memdir.memory.index import Index
from memdir.recall.local import judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime
    from pathlib import Path


def select_local(
    directory: Path | str,
    query: str,
    *,
    recent_tools: Collection[str] = (),
    mention_agent: str | None = None,
    limit: int = 5,
    now: datetime,
    cached: bool = True,
) -> list[str]:
    """The memories of `directory` that bear on the prompt, best first, as paths relative to it; mostly none.

    `recent_tools`: tools and programs used just now. `mention_agent`: the agent type that the prompt
    addresses: only a directory of that type's own counts then (R3). `now`: an aware datetime; of two memories
    that bear on the prompt alike, the younger one comes first. The index is kept in memdir's own cache;
    without `cached` it is made anew, in memory, and leaves nothing: for a directory that is soon gone.
    """
    root = os.path.realpath(directory)
    if mention_agent is not None and os.path.basename(root) != mention_agent:  # noqa: PTH119 - cheap
        return []
    with Asking(root, now=now, cached=cached) as ask:
        return ask(query, recent_tools=recent_tools, limit=limit)


class Asking:
    """`select_local` for many prompts about one directory, whose index is opened once:

        with Asking(directory, now=now) as ask:
            ask("which package manager do we use?")

    What changes in the directory meanwhile is seen.
    """

    def __init__(self, directory: Path | str, *, now: datetime, cached: bool = True) -> None:
        root = os.path.realpath(directory)
        self._index = Index(root, cache=_cache(root) if cached else None, clock=time.time_ns)
        self._now = now

    def __enter__(self) -> Asking:
        return self

    def __exit__(self, *_: object) -> None:
        self._index.close()

    def __call__(self, query: str, *, recent_tools: Collection[str] = (), limit: int = 5) -> list[str]:
        """The memories that bear on the prompt, best first; mostly none."""
        self._index.refresh()
        verdicts = judge(query, self._index, recent_tools=recent_tools, limit=limit, now=self._now)
        return [verdict.file for verdict in verdicts if verdict.chosen]


def _cache(root: str) -> str | None:
    """Where the index of a directory is kept; None: there is no safe place for it."""
    from pathlib import Path

    from memdir.errors import UnsafePath
    from memdir.paths import cache_directory, state_directory

    try:
        return str(cache_directory(state_directory(os.environ), Path(root)))
    except UnsafePath:
        return None
