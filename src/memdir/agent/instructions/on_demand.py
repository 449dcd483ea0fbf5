"""A file that is read or changed -> the instructions that go with it (I3).

    nested    CLAUDE.md and its kin in the folders from the working folder down to that file
    paths     rules whose patterns fit it

What is in the conversation already is told from its messages: so what a compaction took away comes back with
the next file that calls for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from memdir.agent.file_state import FileState
from memdir.agent.instructions import globs, room
from memdir.agent.instructions.consent import Consents
from memdir.agent.instructions.gather import ground
from memdir.agent.instructions.message import later_message, note
from memdir.agent.instructions.places import Place, at_start, between, bounds, in_folder
from memdir.agent.instructions.sources import Instruction, Rule, Waiting
from memdir.agent.instructions.walk import Walk
from memdir.agent.place import place
from memdir.agent.tools.search import SKIPPED
from memdir.errors import ToolError
from memdir.model.messages import Message, ToolResult
from memdir.paths import Places
from memdir.settings import Settings

TOOLS = frozenset({"Read", "Edit", "Write"})


class OnDemand:
    """Looks at what a conversation's calls touched. One for each conversation."""

    def __init__(
        self,
        places: Places,
        settings: Settings,
        *,
        consents: Consents | None = None,
        home: Path | None = None,
    ) -> None:
        self._places, self._settings = places, settings
        self._consents = consents or Consents(places.state / "consents.json")
        self._ground = ground(places, settings, consents=self._consents, home=home)
        self._within = bounds(self._ground.tree, places.cwd, self._ground.home)
        self._looked: set[str] = set()
        self._open: dict[str, Path] = {}
        self._told: dict[str, None] = {}
        self._news: list[str] = []
        self._waiting: dict[Path, Waiting] = {}
        self._asked: dict[frozenset[Path], int | None] = {}  # what was looked at -> the consents then
        self._rules: tuple[Rule, ...] | None = None
        self._stamps: dict[Path, int | None] = {}  # of the rules, their folders and the consents
        self._folders: dict[Path, tuple[tuple[int | None, ...], bool]] = {}

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """What was left out so far, for the person was not asked yet."""
        return tuple(one for one in self._waiting.values() if not self._is_settled(one))

    def take_problems(self) -> tuple[str, ...]:
        """What the person should be told, each sentence once."""
        news, self._news = self._news, []
        return tuple(news)

    def collect(self, messages: Sequence[Message], *, files: FileState, now: datetime) -> list[Message]:
        """The messages to add for what successful Read, Edit and Write calls touched.

        Only messages that were not looked at before count; all of them tell what is there already.
        """
        touched = list(dict.fromkeys(self._touched(messages)))
        if not touched or not self._settings.features.instructions:
            return []
        there, left = _there(messages), self._settings.instructions.max_bytes - _taken(messages)
        known = {*there, *touched}
        added: list[Message] = []
        for path in touched:
            for why, found in self._brought(path, known, files):
                fits = room.fitted(found, left)
                left = max(0, left - sum(one.bytes for one in fits))
                self._tell(room.told(fits, self._settings.instructions.max_bytes))
                known |= {one.path for one in fits}
                note(fits, files)
                added.append(later_message(fits, why=why, path=path, now=now))
        return added

    # -- what was touched --

    def _touched(self, messages: Sequence[Message]) -> Iterator[Path]:
        for message in messages:
            if message.id in self._looked:
                continue
            self._looked.add(message.id)
            for call in message.tool_uses:
                given = call.input.get("file_path")
                if call.name in TOOLS and isinstance(given, str):
                    try:
                        self._open[call.id] = place(given, self._places.cwd)
                    except ToolError:
                        continue
            for block in message.content:
                if isinstance(block, ToolResult):
                    path = self._open.pop(block.tool_use_id, None)
                    if path is not None and not block.is_error:
                        yield path

    def _brought(
        self, path: Path, known: set[Path], files: FileState
    ) -> Iterator[tuple[str, list[Instruction]]]:
        """What goes with one file, by reason; what the conversation has seen whole does not come again."""
        nested = [
            one
            for folder in self._below(path)
            for one in in_folder(folder, self._settings.instructions.files, within=self._within, rules=False)
        ]
        due = [rule for rule in self._known_rules() if self._fits(rule, path)]
        if not nested and not due:
            return
        walk = Walk(self._ground, known=known, again=self._may_be_allowed([*nested, *due]))
        for one in nested:
            walk.add(one)
        count = len(walk.files)
        for rule in due:
            walk.add_rule(rule)
        for problem in (*walk.problems, self._consents.problem):
            self._tell(problem)
        for waits in walk.waiting:
            self._waiting.setdefault(waits.path, waits)
        for why, found in (("nested", walk.files[:count]), ("paths", walk.files[count:])):
            fresh = [one for one in found if not _is_seen(one, files)]
            if fresh:
                yield why, fresh

    def _may_be_allowed(self, looked: Sequence[Place | Rule]) -> bool:
        """Whether something that waited may be allowed by now, since these were looked at last."""
        key, now = frozenset(one.path for one in looked), _stamp(self._consents.path)
        before = self._asked.get(key, -1)
        self._asked[key] = now
        return bool(self._waiting) and before != now

    # -- nested files --

    def _below(self, path: Path) -> list[Path]:
        """The folders from below the working folder down to the file that hold instructions.

        Not in what is installed or version control's: nobody of the project wrote that.
        """
        cwd, real = self._places.cwd, Path(os.path.realpath(path))
        if not real.is_relative_to(cwd) or SKIPPED.intersection(real.relative_to(cwd).parts):
            return []
        return [folder for folder in between(cwd, real.parent)[1:] if self._holds_some(folder)]

    def _holds_some(self, folder: Path) -> bool:
        """Whether a folder has instructions; it is looked through again only if it has changed."""
        stamp = (_stamp(folder), _stamp(folder / ".claude"))
        kept = self._folders.get(folder)
        if kept is None or kept[0] != stamp:
            files = in_folder(folder, self._settings.instructions.files, within=self._within, rules=False)
            kept = stamp, any(os.path.lexists(one.path) for one in files)
            self._folders[folder] = kept
        return kept[1]

    # -- rules --

    def _known_rules(self) -> tuple[Rule, ...]:
        """The rules for certain files; looked for again only if one of them, of their folders or of what the
        person said has changed."""
        stamps = {path: _stamp(path) for path in self._stamps}
        if self._rules is None or stamps != self._stamps:
            walk = Walk(self._ground)
            folders = [
                one
                for one in at_start(
                    self._places, self._settings.instructions.files, managed=(), home=self._ground.home
                )
                if one.is_folder
            ]
            for one in folders:
                walk.add(one)
            self._rules = tuple(walk.rules)
            seen = (*(folder.path for folder in folders), *walk.seen, self._consents.path)
            self._stamps = {path: _stamp(path) for path in seen}
        return self._rules

    def _fits(self, rule: Rule, path: Path) -> bool:
        test = globs.matcher(rule.globs)
        return any(
            test(one.relative_to(rule.root).as_posix())
            for one in dict.fromkeys((path, Path(os.path.realpath(path))))
            if one.is_relative_to(rule.root)
        )

    def _is_settled(self, one: Waiting) -> bool:
        exactly = one.why == "credentials"
        return self._consents.verdict(self._ground.tree, one.path, exactly=exactly) is not None

    def _tell(self, problem: str | None) -> None:
        if problem and problem not in self._told:
            self._told[problem] = None
            self._news.append(problem)


def _there(messages: Sequence[Message]) -> set[Path]:
    """The instructions that are in the messages."""
    return {
        Path(one["path"])
        for message in messages
        if (about := message.attachment) and about.get("kind") in ("context", "instructions")
        for one in about.get("files", ())
    }


def _taken(messages: Sequence[Message]) -> int:
    """The bytes that they take; the index is not among them."""
    return sum(
        one["bytes"]
        for message in messages
        if (about := message.attachment) and about.get("kind") in ("context", "instructions")
        for one in about.get("files", ())
        if one.get("what") != "index"
    )


def _is_seen(one: Instruction, files: FileState) -> bool:
    """Whether the conversation has seen all of the file, as it is now."""
    seen = files.known(one.path)
    return seen is not None and not seen.partial and seen.data == one.data


def _stamp(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None
