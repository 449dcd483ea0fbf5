"""Plans that wait for the person: why, and all that is needed to carry them out later (D8).

    <id>/before/…, after/…    the files that the plan changes or rests on, and the index: as they were, and as
                              they are to be
    <id>/plan.json            {"version": 1, "when", "dry", "directory", "objections", "proposals", "topics",
                              "facts", "index_changed", "changes", "lines", "needs", "removed",
                              "mtimes": {"before", "after"}}

`plan.json` is written last and goes first: without it there is no plan, only what `sweep` clears away. One of
another version is told of, and not read.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, cast, get_args

from memdir import fs
from memdir.dream import checks, plan, stage, tidy
from memdir.dream.checks import Objection
from memdir.dream.files import Snapshot
from memdir.dream.plan import Change, Gone, Plan
from memdir.dream.swaps import changed, rests_on
from memdir.dream.tidy import Proposal
from memdir.errors import MemdirError, NotFound, UnsafePath, UsageError
from memdir.memory.entrypoint import NAME
from memdir.memory.scan import moment

VERSION = 1
_ID = re.compile(r"[0-9a-f]{10}")
_PLAN = "plan.json"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A plan that is kept. `problem`: why it can't be read, a sentence, or None. `dry`: it was made to be
    looked at, and does not wait.
    """

    id: str
    when: datetime
    dry: bool = False
    problem: str | None = None
    objections: tuple[Objection, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """A plan that is kept, whole. `before` and `after` hold what it changes, and what that rests on. `real`:
    where the memory directory really was.
    """

    id: str
    when: datetime
    plan: Plan
    before: Snapshot
    after: Snapshot
    objections: tuple[Objection, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    dry: bool = False
    real: Path | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """The plans that are kept of one memory directory; `folder` is `Places.dreams`."""

    folder: Path

    def put(
        self,
        *,
        before: Snapshot,
        after: Snapshot,
        plan: Plan,
        objections: Sequence[Objection],
        now: datetime,
        dry: bool = False,
        proposals: Sequence[Proposal] = (),
        real: Path | None = None,
    ) -> str:
        """Keep a plan; says under which name. A dry run takes the place of the dry runs before it. The caller
        is the only one who does (the dream's lock).

        Raises OSError: it is not kept, and nothing of it is left.
        """
        self.sweep()
        name = secrets.token_hex(5)
        place = self.folder / name
        files = {*changed(before, after, plan), *rests_on(before, after, plan), NAME}
        record = {
            "version": VERSION,
            "when": now.isoformat(),
            "dry": dry,
            "directory": None if real is None else os.fspath(real),
            "objections": [asdict(one) for one in objections],
            "proposals": [asdict(one) for one in proposals],
            "topics": plan.topics,
            "facts": plan.facts,
            "index_changed": plan.index_changed,
            "changes": [asdict(one) for one in plan.changes],
            "lines": [asdict(one) for one in plan.lines],
            "needs": {file: sorted(needed) for file, needed in plan.needs.items()},
            "removed": list(plan.removed),
            "mtimes": {"before": _only(before.mtimes, files), "after": _only(after.mtimes, files)},
        }
        try:
            fs.make_private(place)
            for kind, snapshot in (("before", before), ("after", after)):
                for file, data in _only(snapshot.files, files).items():
                    fs.write_atomic(place / kind / file, data, within=place)
            fs.write_atomic(place / _PLAN, json.dumps(record).encode("ascii") + b"\n", within=place)
        except BaseException:
            with suppress(OSError):
                stage.remove(place)
            raise
        for old in self.items() if dry else ():
            if old.dry and old.id != name:
                with suppress(OSError, NotFound):
                    self.drop(old)
        return name

    def items(self) -> tuple[Item, ...]:
        """All that is kept, the newest first."""
        found = [item for name in self._names() if (item := self._item(name))]
        return tuple(sorted(found, key=lambda item: (item.when, item.id), reverse=True))

    def waiting(self) -> int:
        """How many plans wait for the person's word."""
        return sum(not item.dry for item in self.items())

    def get(self, id: str | None = None) -> Waiting:  # noqa: A002 (as in Item)
        """The plan of that name, or of the only one that begins so; None: the newest.

        Raises:
            NotFound: there is none. UsageError: several begin so. MemdirError: it can't be read.
        """
        item = self.item(id)
        if item.problem is not None:
            raise MemdirError(item.problem, hint=f"`memdir dream discard {item.id}` drops it")
        return self.open(item)

    def item(self, id: str | None = None) -> Item:  # noqa: A002
        """What there is of a plan, also where that can't be read. Raises NotFound, UsageError."""
        items = self.items()
        if id is None:
            if not items:
                raise NotFound("no plan waits", hint="`memdir dream` makes one")
            return items[0]
        found = [one for one in items if id and one.id.startswith(id)]
        if len(found) > 1:
            raise UsageError(f"{len(found)} plans begin with {id!r}", hint="give more of its letters")
        if not found:
            raise NotFound(f"no plan {id[:40]!r} waits", hint="`memdir dream list` shows those that do")
        return found[0]

    def open(self, item: Item) -> Waiting:
        """The plan, whole. Raises MemdirError: it can't be read."""
        place = self.folder / item.id
        try:
            return _opened(item.id, place, _record(place))
        except FileNotFoundError as error:
            raise NotFound(f"the plan {item.id} does not wait any more") from error
        except (
            OSError,
            UnsafePath,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            RecursionError,
        ) as error:
            raise MemdirError(
                f"the plan {item.id} can't be read", hint=f"`memdir dream discard {item.id}` drops it"
            ) from error

    def drop(self, item: Item | Waiting | str) -> None:
        """Forget a plan. Raises NotFound, OSError."""
        name = item if isinstance(item, str) else item.id
        place = self.folder / name
        if not _ID.fullmatch(name) or not os.path.lexists(place / _PLAN):
            raise NotFound(f"no plan {name[:40]!r} waits")
        fs.remove_durably(place / _PLAN)
        stage.remove(place)

    def forget(self, file: str) -> tuple[str, ...]:
        """Drop the plans that hold a file, which is being erased; says which. Raises OSError."""
        dropped = [
            name
            for name in self._names()
            if any(os.path.lexists(self.folder / name / kind / file) for kind in ("before", "after"))
        ]
        for name in dropped:
            self.drop(name)
        return tuple(dropped)

    def sweep(self) -> None:
        """Clear away what a killed `put` or `drop` left. The caller is the only one who keeps a plan now."""
        for half in self.halves():
            stage.remove(half)

    def halves(self) -> tuple[Path, ...]:
        """What there is of plans that are not whole: one that is being kept or dropped just now, or what a
        killed `put` or `drop` left. Raises OSError.
        """
        with suppress(FileNotFoundError, NotADirectoryError):
            names = sorted(filter(_ID.fullmatch, os.listdir(self.folder)))  # noqa: PTH208 - names alone
            places = (self.folder / name for name in names)
            return tuple(place for place in places if not os.path.lexists(place / _PLAN))
        return ()

    def _names(self) -> Iterator[str]:
        with suppress(FileNotFoundError, NotADirectoryError):
            for one in os.scandir(self.folder):
                is_folder = one.is_dir(follow_symlinks=False)
                if is_folder and _ID.fullmatch(one.name) and os.path.lexists(Path(one.path, _PLAN)):
                    yield one.name

    def _item(self, name: str) -> Item | None:
        place, when = self.folder / name, moment(0)
        try:
            when = moment((place / _PLAN).lstat().st_mtime_ns)
            record = _record(place)
            dry = record.get("dry") is True
            if record.get("version") != VERSION:
                problem = f"the plan {name} was kept by another version of memdir"
                return Item(id=name, when=when, dry=dry, problem=problem)
            objections = tuple(map(_objection, record["objections"]))
            return Item(id=name, when=_moment(record["when"]), dry=dry, objections=objections)
        except FileNotFoundError:
            return None
        except (OSError, UnsafePath, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return Item(id=name, when=when, problem=f"the plan {name} can't be read")


def _record(place: Path) -> dict[str, Any]:
    """Raises OSError, UnsafePath, ValueError."""
    record = json.loads(fs.read_file(place / _PLAN, within=Path(os.path.realpath(place))))
    if not isinstance(record, dict):
        raise ValueError("no object")
    return cast("dict[str, Any]", record)


def _opened(name: str, place: Path, record: dict[str, Any]) -> Waiting:
    """Raises ValueError, KeyError, TypeError, AttributeError."""
    if record.get("version") != VERSION:
        raise ValueError("another version")
    needs = {str(file): frozenset(map(str, needed)) for file, needed in record["needs"].items()}
    found = Plan(
        changes=tuple(map(_change, record["changes"])),
        lines=tuple(map(_gone, record["lines"])),
        index_changed=record["index_changed"] is True,
        topics=int(record["topics"]),
        facts=int(record["facts"]),
        needs=MappingProxyType(needs),
        removed=tuple(map(str, record["removed"])),
    )
    real = _text(record["directory"])
    return Waiting(
        id=name,
        when=_moment(record["when"]),
        plan=found,
        before=_snapshot(place / "before", record["mtimes"]["before"]),
        after=_snapshot(place / "after", record["mtimes"]["after"]),
        objections=tuple(map(_objection, record["objections"])),
        proposals=tuple(map(_proposal, record["proposals"])),
        dry=record["dry"] is True,
        real=None if real is None else Path(real),
    )


def _snapshot(root: Path, mtimes: Mapping[str, Any]) -> Snapshot:
    files = stage.below(Path(os.path.realpath(root))).files
    known = {file: number for file, number in mtimes.items() if file in files and type(number) is int}
    return Snapshot(files=files, mtimes=known)


def _change(one: Mapping[str, Any]) -> Change:
    return Change(
        file=str(one["file"]),
        action=_one_of(one["action"], get_args(plan.Action)),
        into=_text(one["into"]),
        why=_text(one["why"]),
    )


def _gone(one: Mapping[str, Any]) -> Gone:
    return Gone(
        file=str(one["file"]),
        text=str(one["text"]),
        fate=_one_of(one["fate"], get_args(plan.Fate)),
        to=_text(one["to"]),
        now=_text(one["now"]),
        why=_text(one["why"]),
    )


def _objection(one: Mapping[str, Any]) -> Objection:
    code = _one_of(one["code"], get_args(checks.Code))
    return Objection(code=code, file=_text(one["file"]), reason=str(one["reason"]))


def _proposal(one: Mapping[str, Any]) -> Proposal:
    line = one["line"]
    return Proposal(
        kind=_one_of(one["kind"], get_args(tidy.Kind)),
        files=tuple(map(str, one["files"])),
        line=line if type(line) is int else None,
        reason=str(one["reason"]),
        cure=str(one["cure"]),
    )


def _one_of(word: Any, words: tuple[str, ...]) -> Any:
    if word not in words:
        raise ValueError("an unknown word")
    return word


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _moment(text: Any) -> datetime:
    when = datetime.fromisoformat(text)
    if when.tzinfo is None:
        raise ValueError("no zone")
    return when


def _only(there: Mapping[str, _T], files: Collection[str]) -> dict[str, _T]:
    return {file: one for file, one in there.items() if file in files}
