"""What a command line names of the disk: files, folders to search, repositories. Values only."""

from __future__ import annotations

import glob
import posixpath
from dataclasses import dataclass
from typing import Literal, TypeAlias

from memdir.agent.shell.word import Word

Searched: TypeAlias = Literal["", "grep", "rg"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A path, relative to where the line runs; `~/` is the home folder.

    `pattern`: it has wildcards, as `fnmatch` has them; what is literal in it is escaped. `searched`: all that
    is below it is read, but for names that this program, run in the folder `base`, was told to leave out.
    `one_file`: its contents are shown, so it may not be a folder.
    """

    path: str
    pattern: bool = False
    searched: Searched = ""
    base: str = ""
    one_file: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """Where git would run.

    `tells_addresses`: settings are shown, among which tokens may be. `reads_files`: it shows what is in
    files; `shows` are the words that may be revisions. `trees`: it lists folders by name too.
    """

    folder: str
    tells_addresses: bool = False
    reads_files: bool = False
    shows: tuple[str, ...] = ()
    trees: bool = False


def named(word: Word, folder: str, *, searched: Searched = "", one_file: bool = False) -> Name:
    """What a word names for a command that runs in `folder`, which is relative or "" too."""
    if not word.is_pattern:
        path = below(folder, word.text) if word.is_in_home else literal(folder, word.text)
        return Name(path=path, searched=searched, base=folder, one_file=one_file)
    start = folder if folder.startswith("~/") else glob.escape(folder)
    path = word.glob if word.is_in_home else literal(start, word.glob)
    return Name(path=path, pattern=True, searched=searched, base=folder, one_file=one_file)


def below(folder: str, path: str) -> str:
    """A path, as seen from where the line begins. `~` is a home folder, as bash has it."""
    if path == "~" or path.startswith("~/"):
        return f"~/{path[2:]}"
    return posixpath.join(folder, path)


def literal(folder: str, path: str) -> str:
    """The same for a path in which `~` is a letter."""
    whole = posixpath.join(folder, path)
    return f"./{whole}" if whole.startswith("~") and not folder.startswith("~/") else whole
