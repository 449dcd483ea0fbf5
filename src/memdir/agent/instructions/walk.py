"""From one place to all that it brings: the file, and the files that it imports (I3).

Every file comes once, whatever leads to it. A file of the project, and what such a file imports, must not
lead out of the project unless the person agreed; nothing leads to where credentials are kept without that.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from memdir.agent.credentials import holds_secrets
from memdir.agent.instructions import comments, globs, imports, rules
from memdir.agent.instructions.consent import Consents
from memdir.agent.instructions.places import Place
from memdir.agent.instructions.reading import MAX_FILE, Key, Look, Refused, look, take
from memdir.agent.instructions.sources import Instruction, Rule, Waiting, What
from memdir.fs import inside
from memdir.memory.fence import exact, fenced

DEEPEST = 5
"""How many files deep imports are followed."""

MOST_FILES = 500
MOST_BYTES = 16 * 1024 * 1024
"""What is read of instructions at most."""

MOST_IMPORTS = 5_000
"""Imports that are looked for at most, in all texts together. To find out where a path leads takes the square
of its depth, so that a deep one counts for many."""

DEEP = 32
"""Names of a path that counts for one."""

MOST_PATTERNS = 256 * 1024
"""What the patterns of all rules may cost together (`globs.cost`)."""

MOST_TOLD = 50
"""Problems, and files that wait for consent, that are told at most."""

_TWINS: frozenset[What] = frozenset({"managed", "user", "project", "local"})
"""Of these, two in one folder with the same text are one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What all looks of one project share. `excluded` tells whether the person wants a path left out."""

    tree: Path
    home: Path
    consents: Consents
    excluded: Callable[[Path], bool]


def excluder(patterns: Iterable[str], home: Path) -> Callable[[Path], bool]:
    """Whether a path, as it is written or where it really is, fits one of these globs on absolute paths.

    `~/` is the home folder; a pattern that begins nowhere may begin anywhere. The strongest source stands
    first and the person's own last: a project between them that says too much takes the room of neither.
    """
    given = [_absolute(stripped, home) for pattern in patterns if (stripped := pattern.strip())]
    first, last = globs.matcher(given), globs.matcher(reversed(given))
    return lambda path: first(path.as_posix()) or last(path.as_posix())


def _absolute(pattern: str, home: Path) -> str:
    if pattern.startswith("~/"):
        return f"{globs.escaped(home.as_posix())}/{pattern[2:]}"
    is_anchored = pattern.startswith(("/", "**/")) or pattern[1:2] == ":"
    return pattern if is_anchored else f"**/{pattern}"


class Walk:
    """Takes in places, one after the other; what came of it is in the attributes, in order.

    `known`: files that are in the conversation already; they don't come again. `again`: what they import is
    looked for all the same, since it may be allowed by now. `seen` are the rules and folders of rules that
    were looked at.
    """

    def __init__(self, ground: Ground, *, known: Iterable[Path] = (), again: bool = False) -> None:
        self.files: list[Instruction] = []
        self.rules: list[Rule] = []
        self.seen: list[Path] = []
        self._problems: dict[str, None] = {}
        self._waiting: dict[Path, Waiting] = {}
        self._ground = ground
        self._depths: dict[Key, int] = {}
        self._texts: set[tuple[Path, str]] = set()
        self._bytes = 0
        self._imports = MOST_IMPORTS
        self._patterns = MOST_PATTERNS
        self._again = again
        looks = [found for path in known if (found := self._look(path)) is not None]
        self._known = {found.key for found in looks}

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences for the person, each once."""
        told, more = list(self._problems)[:MOST_TOLD], len(self._problems) - MOST_TOLD
        return (*told, f"and {more:,} more of the kind") if more > 0 else tuple(told)

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """What needs a consent, each once."""
        return tuple(self._waiting.values())[:MOST_TOLD]

    def add(self, place: Place) -> None:
        """Take in a file, or a folder of rules, with all that it brings."""
        if place.is_folder:
            self._add_folder(place)
        else:
            self._add_file(place, depth=0, by=None)

    def add_rule(self, rule: Rule) -> None:
        """Take in a rule whose time has come."""
        place = Place(path=rule.path, what="rule", within=rule.within, root=rule.root)
        self._add_file(place, depth=0, by=None, is_due=True)

    # -- folders of rules --

    def _add_folder(self, place: Place) -> None:
        found = rules.Found(place.path, enter=lambda folder: self._may_enter(folder, place))
        self.seen += (*found.folders, *found.files)
        if found.more:
            self._tell(place.path, "holds too many files: not all of its rules are looked at")
        for path in found.files:
            self._add_file(replace(place, path=path, is_folder=False), depth=0, by=None)

    def _may_enter(self, folder: Path, place: Place) -> bool:
        if place.within is None or _is_inside(place.within, folder):
            return True
        real = folder.resolve()
        return self._is_allowed(real, by=folder, why="outside") is True

    # -- files --

    def _add_file(self, place: Place, *, depth: int, by: Path | None, is_due: bool = False) -> None:
        path = place.path
        found = self._look(path)
        if found is None or self._is_excluded(place, found):
            return
        self._imports -= (len(found.real.parts) // DEEP) ** 2
        seen, is_known = self._depths.get(found.key), found.key in self._known
        if is_known and not self._again and place.what not in _TWINS:
            return
        if (seen is not None and seen <= depth) or not self._may_load(place, found, by):
            return
        if seen is None and (len(self._depths) >= MOST_FILES or self._is_over(found)):
            self._tell_too_many()
            return
        try:
            data, raw = take(found, within=place.within)
        except Refused as refused:
            self._depths[found.key] = 0
            self._tell(path, f"{refused}: it is not loaded")
            return
        self._bytes += len(data) if seen is None else 0
        body, patterns = rules.parsed(raw) if place.what == "rule" else (raw, ())
        if patterns and not is_due:
            self._put_off(place, patterns)
            return
        self._depths[found.key] = depth
        text = comments.stripped(body)
        is_new = seen is None and not self._is_twin(place, text)
        if is_new and not is_known:
            self._take_in(place, found, data=data, raw=raw, text=text, by=by, patterns=patterns)
        if self._again or not is_known:
            self._add_imports(text, place, found, depth)

    def _put_off(self, place: Place, patterns: tuple[str, ...]) -> None:
        rule = Rule(
            path=place.path,
            globs=patterns,
            root=place.root or self._ground.tree,
            within=place.within,
        )
        if rule in self.rules:
            return
        self._patterns -= globs.cost(patterns)
        if self._patterns < 0:
            self._tell(place.path, "is for too many paths, with the rules before it: it is not loaded")
            return
        self.rules.append(rule)

    def _take_in(
        self,
        place: Place,
        found: Look,
        *,
        data: bytes,
        raw: str,
        text: str,
        by: Path | None,
        patterns: tuple[str, ...],
    ) -> None:
        safe = fenced(text).strip()
        if not safe:
            return
        plain = raw.replace("\r\n", "\n").strip()
        self.files.append(
            Instruction(
                path=place.path,
                what=place.what,
                text=safe,
                shown=safe,
                data=data,
                mtime_ns=found.mtime_ns,
                whole=safe == plain,
                by=by,
                globs=patterns,
            )
        )

    def _add_imports(self, text: str, place: Place, found: Look, depth: int) -> None:
        folders = list(dict.fromkeys((place.path.parent, found.real.parent)))
        for token in imports.mentioned(text) if "@" in text else ():
            try:
                path = imports.located(token, folders, self._ground.home)
            except OSError as error:
                self._tell(place.path, f"imports {exact(token)}, which can't be looked at ({error.strerror})")
                continue
            self._imports -= 1
            if self._imports < 0:
                self._tell_too_many()
                return
            if path is None:
                continue
            if depth >= DEEPEST:
                self._tell(place.path, f"is {DEEPEST} imports deep: what it imports is not loaded")
                return
            within = place.within or self._owner_of(path, found)
            one = replace(place, path=path, what="import", within=within)
            self._add_file(one, depth=depth + 1, by=place.path)

    def _owner_of(self, path: Path, by: Look) -> Path | None:
        """The project, if a file of somebody who is trusted imports one of the project's: that one is not."""
        tree = self._ground.tree
        is_ours = path.is_relative_to(tree) or _is_inside(tree, path)
        return tree if is_ours and not _is_inside(tree, by.real) else None

    # -- what is left out --

    def _look(self, path: Path) -> Look | None:
        try:
            return look(path)
        except Refused as refused:
            self._tell(path, f"{refused}: it is not loaded")
            return None

    def _is_excluded(self, place: Place, found: Look) -> bool:
        """The administrator's files, and what they import, are never left out."""
        return not place.managed and (self._ground.excluded(place.path) or self._ground.excluded(found.real))

    def _is_twin(self, place: Place, text: str) -> bool:
        """Whether another file of the same folder says the same; `.claude` is part of the one it is in."""
        folder = place.path.parent
        key = (folder.parent if folder.name == ".claude" else folder, text)
        if place.what not in _TWINS:
            return False
        if key in self._texts:
            return True
        self._texts.add(key)
        return False

    # -- consent --

    def _may_load(self, place: Place, found: Look, by: Path | None) -> bool:
        if found.real in self._waiting and place.within is not None:
            return False
        if self._keeps_secrets(place, found):
            why = "credentials"
        elif place.within is not None and not _is_inside(place.within, found.real):
            why = "outside"
        else:
            return True
        return self._is_allowed(found.real, by=by or place.path, why=why) is True

    def _keeps_secrets(self, place: Place, found: Look) -> bool:
        """Whether the path, as written or where it leads, is a place of credentials.

        The folder that the project itself is in says nothing.
        """
        base = place.within or (place.path.parent if place.what != "import" else None)
        return keeps_secrets(place.path, base) or keeps_secrets(found.real, base)

    def _is_allowed(self, real: Path, *, by: Path, why: str) -> bool | None:
        exactly = why == "credentials"
        said = self._ground.consents.verdict(self._ground.tree, real, exactly=exactly)
        if said is None:
            self._waiting.setdefault(
                real, Waiting(path=real, by=by, why="credentials" if exactly else "outside")
            )
        return said

    def _is_over(self, found: Look) -> bool:
        """Whether it is too much with what was read before; what is too big by itself is not read at all."""
        return self._bytes + found.size > MOST_BYTES and found.size <= MAX_FILE

    def _tell(self, path: Path, what: str) -> None:
        self._problems.setdefault(f"{exact(str(path))} {what}")

    def _tell_too_many(self) -> None:
        self._problems.setdefault("there are too many files of instructions: not all are looked at")


def _is_inside(folder: Path, path: Path) -> bool:
    """As `inside`, which asks for each folder above a path; where the names say it already, at once."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)) or inside(folder, path)


def keeps_secrets(path: Path, base: Path | None) -> bool:
    """Whether a path leads to where credentials are kept. What `base` itself is in says nothing."""
    is_below = base is not None and path.is_relative_to(base)
    return holds_secrets(f"/{path.relative_to(base)}" if base is not None and is_below else str(path))
