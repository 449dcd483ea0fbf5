"""`History`: what differs from what is recorded becomes a commit, and commits become changes (H2)."""

from __future__ import annotations

import errno
import logging
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cached_property
from itertools import chain
from pathlib import Path

from memdir import fs
from memdir.errors import Conflict, MemdirError, NotFound, UnsafePath, UsageError
from memdir.memory.history import git, stamps
from memdir.memory.history.erasing import Erasure
from memdir.memory.history.folder import Folder
from memdir.memory.history.git import Git, GitFailed
from memdir.memory.history.looking import Looking, clock
from memdir.memory.history.message import Step, intent_of, noted_in
from memdir.memory.history.repository import Damaged, Repository, blob_chunks, step_chunks
from memdir.memory.history.stamps import UNSETTLED, Entry, Recorded, blob_of
from memdir.memory.history.steps import change_of, changes_of
from memdir.memory.history.values import BEGINNING, EXTERNAL, By, Change

log = logging.getLogger(__name__)

Bytes = bytes  # inside the class, `bytes` is its method
Changes = list[Change]

_REWRITE = 600.0
"""Seconds that git may take to write a repository anew."""

_BLOB = re.compile(r"[0-9a-f]{40}")


class History:
    """The history of one memory directory, in a folder of its own outside of it.

    What records never raises: `failure` says what went wrong last, a sentence without names or contents, and
    the next look tries again. What reads needs no lock. `programs`: the folders in which git is looked for.
    """

    def __init__(
        self,
        folder: Path,
        *,
        directory: Path,
        now: Callable[[], datetime],
        programs: Sequence[str] | None = None,
    ) -> None:
        self.folder = folder
        self.directory = directory
        self.failure: str | None = None
        self._places = Folder(folder)
        self._now = now
        self._programs = programs
        self._notice: str | None = None
        self._told: str | None = None
        self._recording: By | None = None
        self._recorded: tuple[tuple[int, int, int], Recorded] | None = None
        self._read: tuple[str, list[Step]] | None = None

    @property
    def off(self) -> str | None:
        """None, or why there is no history: without git, or with one that is too old."""
        if self._program is None:
            return "git is not installed"
        version = git.version_of(self._program)
        if version is None:
            return "git does not work here"
        if version < git.OLDEST:
            return f"git {version[0]}.{version[1]} is too old; it takes {git.OLDEST[0]}.{git.OLDEST[1]}"
        return None

    @property
    def damaged(self) -> list[Path]:
        """Repositories that were put aside because they could not be gone on with."""
        return self._places.damaged

    # -- recording --------------------------------------------------------------------------------------

    def look(self, by: By | None = None) -> Change | None:
        """Record what differs from what is recorded, as one step of `by`, or of somebody unknown (H2).

        The caller holds the directory's lock. A change that was begun and broken off counts first: then what
        differs is its. The first look of all records what is there as BEGINNING. Never raises. Returns what
        this step did; None: nothing differs, or there is no history.
        """
        nothing_yet = not os.path.lexists(self.directory) and not os.path.lexists(self.folder)
        return None if self._program is None or nothing_yet else self._try_to_look(by)

    @contextmanager
    def recording(self, by: By) -> Iterator[None]:
        """Record what the body changes as a step of `by`, and what differed before as somebody unknown's.

        The caller holds the directory's lock. Also where the body raises, and, at the next look, where its
        process was killed. Nothing of ours is raised.
        """
        if self.off:
            yield
            return
        self._try_to_look(None)
        outer, self._recording = self._recording, by
        self._intend(by)
        try:
            yield
        finally:
            self._try_to_look(by)
            self._recording = outer
            if outer:
                self._intend(outer)

    def tidy(self) -> None:
        """Pack what many commits made, and remove what killed processes left. Bounded time; never raises.

        The caller holds the directory's lock. For now and then: cheap where there is little to do.
        """
        if self.off or not self.folder.exists():
            return
        try:
            with self._places.held() as held:
                fs.sweep_temporaries(self.folder, older_than=float("-inf"))
                repository = self._repository(held)
                try:
                    repository.prepare()
                    repository.tidy()
                except (Damaged, GitFailed) as error:
                    self._put_aside_if_damaged(repository, error)
        except Exception as error:  # noqa: BLE001 - as in `look`
            self._failed(error)

    # -- reading ----------------------------------------------------------------------------------------

    def log(self, *, file: str | None = None, limit: int | None = None) -> Changes:
        """The changes, newest first; with `file`, those that did something to it.

        Of a damaged repository, those that can be read; `failure` says so.
        """
        changes = changes_of(self._steps())
        if file is not None:
            changes = [change for change in changes if any(one.file == file for one in change.files)]
        return changes[:limit]

    def find(self, change: str) -> Change:
        """The change with that id, or with the only id that begins so. Raises NotFound, UsageError."""
        changes = changes_of(self._steps())
        name = _one_of([one.id for one in changes], change)
        return next(one for one in changes if one.id == name)

    def bytes(self, blob: str) -> Bytes:
        """The bytes of a version. Raises NotFound."""
        data = None
        if _BLOB.fullmatch(blob) and self._is_readable():
            for _ in range(2):  # an erasure may come in between
                with suppress(GitFailed):
                    data = self._repository().blob(blob)
                    break
        if data is None:
            raise NotFound("that version is not in the history", hint="`memdir log` shows what is")
        return data

    def at(self, file: str, point: str | datetime) -> tuple[Bytes, int | None] | None:
        """A file right after a change, or as of a moment, with its mtime in ns; None: it was not there.

        Where the clock was set back, the last step of those that say they were before the moment counts.
        Raises NotFound, UsageError for a change that is none, or not the only one.
        """
        steps = self._steps()
        if isinstance(point, str):
            name = _one_of([step.by.change for step in steps], point)
            first = next(number for number, step in enumerate(steps) if step.by.change == name)
        else:
            moment = _aware(point)
            first = next((number for number, step in enumerate(steps) if step.at <= moment), len(steps))
        path = os.fsencode(file)
        run = next((step.files[path] for step in steps[first:] if path in step.files), None)
        if run is None or run.after is None:
            return None
        return self.bytes(run.after), run.after_mtime_ns

    def holds(self, files: Mapping[str, Bytes]) -> bool:
        """Whether these files are recorded, with those bytes, as what is there now."""
        now = dict[Bytes, str | None]()
        for step in self._steps():
            for path, run in step.files.items():
                now.setdefault(path, run.after)
        return all(now.get(os.fsencode(file)) == blob_of(data) for file, data in files.items())

    def blobs(self) -> Iterator[tuple[str, Bytes]]:
        """Every version that any object of the repository holds, as (blob id, bytes): for a search.

        Raises MemdirError where it can't be read to its end.
        """
        repository = self._repository()
        if not (self._is_readable() and repository.path.exists()):
            return
        try:
            names = repository.all_blobs()
            with repository.blobs() as blobs:
                for name in names:
                    yield name, blobs.get(name)
        except GitFailed as error:
            raise MemdirError(f"the history can't be read: {error}") from error

    # -- erasing ----------------------------------------------------------------------------------------

    def check_erasable(self) -> None:
        """Ask, before anything is taken away, whether `erase` can begin. Raises MemdirError: it can't."""
        if not (self._places.repository.exists() or self.damaged):
            return
        if self.off:
            raise MemdirError(
                f"the history still has it, and can't be rewritten: {self.off}",
                hint="install a current git, and erase it then",
            )
        if self._places.repository.is_symlink():  # what it leads to would stay
            raise MemdirError(
                "the history could not be rewritten: its repository is a link",
                hint=f"removing {self.folder} erases all of this memory's history",
            )

    def erase(self, file: str, *, without: Collection[Bytes]) -> None:
        """Rewrite the repository as if `file`, and these lines in other files, had never been.

        The caller holds the directory's lock, and has deleted the file. Versions that are on the disk now
        stay as they are; so do the ids of changes that have anything left. Repositories put aside go. Killed
        at any point, the history is as before or as after, and nothing of it is left besides.

        Raises MemdirError: it could not be done, and the history is as it was.
        """
        self.check_erasable()
        if not (self._places.repository.exists() or self.damaged):
            return
        try:
            with self._places.held() as held:
                self._record(held, None)
                self._erase(held, file, without)
        except (GitFailed, Damaged, OSError, UnsafePath) as error:
            why = _reason(error)
            raise MemdirError(
                f"the history could not be rewritten: {why}",
                hint=f"removing {self.folder} erases all of this memory's history",
            ) from error

    def _erase(self, held: int, file: str, without: Collection[Bytes]) -> None:
        old = self._repository(held)
        steps = old.steps(head)[::-1] if (head := old.head()) else []
        kept = old.tree(head) if head else {}
        new = Repository(self._places.rewriting, self._git(self._places.rewriting, held))
        new.prepare()
        expected = {path: blob for path, blob in kept.items() if path != os.fsencode(file)}
        with old.blobs() as blobs:
            erasure = Erasure(file, without=without, kept=kept, blob=blobs.get)
            chunks = _all_chunks(erasure, steps)
            if (first := next(chunks, None)) is not None:
                new.commit(chain([first], chunks), seconds=_REWRITE)
        head = new.head()
        if (new.tree(head) if head else {}) != expected:
            raise GitFailed("the rewritten history is not that of these files")
        self._recorded = self._read = None
        self._places.replace()

    # -- inside the lock --------------------------------------------------------------------------------

    def _try_to_look(self, by: By | None) -> Change | None:
        try:
            with self._places.held() as held:
                return self._look(held, by)
        except Exception as error:  # noqa: BLE001 - no record of a change is worth the change
            self._failed(error)
            return None

    def _look(self, held: int, by: By | None) -> Change | None:
        self.failure = self._notice
        try:
            return self._record(held, by)
        except (Damaged, GitFailed) as error:
            self._put_aside_if_damaged(self._repository(held), error)
            return self._record(held, by)

    def _record(self, held: int, by: By | None) -> Change | None:
        repository = self._repository(held)
        recorded, is_first = self._known(repository)
        intent = self._intended()
        looking = Looking(Path(os.path.realpath(self.directory)), recorded.entries, now_ns=clock(held))
        differing = looking.differing()
        first = next(differing, None)
        change = None
        if looking.runs:
            if self.off:
                return None
            by = By(worker=EXTERNAL, reason=BEGINNING) if is_first else intent or by or By(worker=EXTERNAL)
            step = Step(by=by, at=_aware(self._now()), files=looking.runs)
            repository.prepare()
            chunks = _chunks(first, differing, step, parent=recorded.head)
            recorded.head = repository.commit(chunks, files=looking.files)
            change = change_of([step])
        if change or looking.fresh or is_first:
            recorded.entries.update(looking.fresh)
            for path in looking.gone:
                del recorded.entries[path]
            self._save(recorded)
        if change and repository.is_crowded:
            with suppress(GitFailed):
                repository.tidy()
        if looking.closed:
            self.failure = "a file could not be read, and is not recorded"
        with suppress(OSError, UnsafePath):
            fs.remove_durably(self._places.intent)
        return change

    def _known(self, repository: Repository) -> tuple[Recorded, bool]:
        """What is recorded, and whether nobody has ever looked. Raises Damaged, GitFailed."""
        stored, head = self._load(), repository.head()
        if stored and stored.head == head:
            return stored, False
        if head is None:
            if stored:
                raise Damaged("its branch is gone")
            return Recorded(None, {}), True
        # Somebody was killed between a commit and the stamps, or they are lost.
        times: dict[bytes, int | None] = {}
        for step in repository.steps(head):
            for path, run in step.files.items():
                times.setdefault(path, run.after_mtime_ns)
        old = stored.entries if stored else {}
        entries = dict[bytes, Entry]()
        for path, blob in repository.tree(head).items():
            same = path in old and old[path].blob == blob
            entries[path] = old[path] if same else Entry(blob, times.get(path), UNSETTLED)
        return Recorded(head, entries), False

    def _load(self) -> Recorded | None:
        try:
            identity = _identity(self._places.stamps)
        except FileNotFoundError:
            return None
        if self._recorded is None or self._recorded[0] != identity:
            loaded = stamps.load(self._places.stamps)
            self._recorded = (identity, loaded) if loaded else None
        return self._recorded[1] if self._recorded else None

    def _save(self, recorded: Recorded) -> None:
        self._recorded = None
        stamps.save(self._places.stamps, recorded)
        self._recorded = (_identity(self._places.stamps), recorded)

    def _intend(self, by: By) -> None:
        try:
            with self._places.held():
                fs.write_atomic(self._places.intent, intent_of(by))
        except Exception as error:  # noqa: BLE001 - as in `look`
            self._failed(error)

    def _intended(self) -> By | None:
        with suppress(OSError, UnsafePath):
            return noted_in(fs.read_file(self._places.intent))
        return None

    def _put_aside_if_damaged(self, repository: Repository, error: Damaged | GitFailed) -> None:
        """Begin a new repository, or raise the error where this one is not to blame."""
        if isinstance(error, GitFailed) and (error.passes or repository.is_sound()):
            raise error
        place = self._places.put_aside()
        self._recorded = self._read = None
        self._notice = f"the history was damaged ({error}): it is kept as {place.name}, and a new one begins"
        self.failure = self._notice
        log.warning("%s", self._notice)

    # -- helpers ----------------------------------------------------------------------------------------

    @cached_property
    def _program(self) -> str | None:
        path = os.environ.get("PATH", "")
        return git.find(git.folders(path) if self._programs is None else self._programs)

    def _is_readable(self) -> bool:
        return self.off is None and self._places.refusal() is None

    def _repository(self, held: int | None = None) -> Repository:
        place = self._places.repository
        return Repository(place, self._git(place, held))

    def _git(self, place: Path, held: int | None) -> Git:
        program = self._program or ""
        return Git(program, repository=place, version=git.version_of(program) or git.OLDEST, held=held)

    def _steps(self) -> list[Step]:
        """All steps, newest first; of a damaged repository, those that can be read."""
        if not self._is_readable():
            if refusal := self._places.refusal():
                self.failure = f"its folder can't be used: {refusal}"
            return []
        for tries_left in (2, 1, 0):  # an erasure may come in between
            repository = self._repository()
            try:
                head = repository.head()
                if head is None:
                    if repository.path.exists() or not tries_left:
                        return []
                    continue
                if self._read is None or self._read[0] != head:
                    self._read = (head, repository.steps(head, partly=not tries_left))
                return self._read[1]
            except (GitFailed, Damaged, OSError) as error:
                self._failed(error)
        return []

    def _failed(self, error: Exception) -> None:
        """Told once, and not again at each step while it lasts."""
        self.failure = _reason(error)
        if self.failure != self._told:
            self._told = self.failure
            log.warning("the history of memory: %s", self.failure)


def _chunks(
    first: bytes | None, others: Iterable[bytes], step: Step, *, parent: str | None
) -> Iterator[bytes]:
    """For git: the new versions, then the step, which is complete when all of them were read."""
    if first is not None:
        yield from blob_chunks(first)
    for data in others:
        yield from blob_chunks(data)
    yield from step_chunks(step, parent=parent)


def _all_chunks(erasure: Erasure, steps: Sequence[Step]) -> Iterator[bytes]:
    """For git: each step that stays, behind the versions that it brings."""
    versions: list[bytes] = []
    for step in erasure.rewritten(steps, versions.append):
        for data in versions:
            yield from blob_chunks(data)
        versions.clear()
        yield from step_chunks(step, parent=None)


def _identity(file: Path) -> tuple[int, int, int]:
    found = file.lstat()
    return found.st_ino, found.st_mtime_ns, found.st_size


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.astimezone()


def _one_of(names: Sequence[str], wanted: str) -> str:
    """The name that is, or alone begins with, what is wanted. Raises NotFound, UsageError."""
    found = dict.fromkeys(name for name in names if wanted and name.startswith(wanted))
    if wanted in found:
        return wanted
    if len(found) > 1:
        raise UsageError(f"{len(found)} changes begin with {wanted!r}", hint="give more of its digits")
    if not found:
        raise NotFound(f"there is no change {wanted[:40]!r}", hint="`memdir log` lists them")
    return next(iter(found))


def _reason(error: Exception) -> str:
    """What went wrong, without a name or content."""
    match error:
        case GitFailed() | Damaged() | Conflict():
            return str(error)
        case UnsafePath(reason=reason):
            return f"its folder can't be used: {reason}"
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            return "the disk is full"
        case OSError(errno=int() as number):
            return os.strerror(number)
    return f"an error of memdir's own ({type(error).__name__})"
