"""A directory, and what is known of its files -> what has changed: one stat a file, nothing is read (M6)."""

from __future__ import annotations

import os
from contextlib import suppress

from memdir.memory.index.stamp import stamp_of
from memdir.names import INDEX, is_topic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def look(root: str, known: Mapping[str, int]) -> tuple[list[str], list[str]]:
    """The topic files below `root` that are new or changed, and the known ones that are gone.

    `known`: path -> stamp when it was read. The names say what a topic is (M1). Links are left out, as by a
    scan, and so is the file that `MEMORY.md` may be a link to.
    """
    same: list[str] = []
    others: list[tuple[str, os.DirEntry[str]]] = []
    waiting = [("", root)]
    while waiting:
        prefix, folder = waiting.pop()
        found = _changed(folder, prefix, known, same)
        waiting += [(f"{path}/", one.path) for path, one in found if _is_folder(path, one)]
        others += found
    changed = [path for path, one in others if is_topic(path) and _says(one.is_file)]
    index = next((one for path, one in others if path == INDEX), None)
    if index is not None and _is_link(index):
        target = os.path.relpath(os.path.realpath(index.path), root)
        same, changed = ([path for path in paths if path != target] for paths in (same, changed))
    if len(same) == len(known):
        return changed, []
    return changed, sorted(known.keys() - set(same) - set(changed))


def _changed(
    folder: str, prefix: str, known: Mapping[str, int], same: list[str]
) -> list[tuple[str, os.DirEntry[str]]]:
    """What is in a folder and is no file that is known as it is; the paths of those that are go to `same`.

    This runs for every file at every prompt. A folder that can't be looked into is empty.
    """
    others: list[tuple[str, os.DirEntry[str]]] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            path = prefix + entry.name
            stamp = known.get(path)
            if stamp is not None:
                try:
                    if stamp_of(entry.stat(follow_symlinks=False)) == stamp:
                        same.append(path)
                        continue
                except OSError:
                    continue
            others.append((path, entry))
    return others


def _is_folder(path: str, entry: os.DirEntry[str]) -> bool:
    return _says(entry.is_dir) and is_topic(f"{path}/any.md")


def _says(question: Callable[..., bool]) -> bool:
    try:
        return question(follow_symlinks=False)
    except OSError:
        return False


def _is_link(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_symlink()
    except OSError:
        return False
