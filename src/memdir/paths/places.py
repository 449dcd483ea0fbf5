"""Environment, settings and a working folder become the directories of one project (P1, P2, P3, P9).

Nothing is read from the process's own environment: the caller hands in the mapping.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from memdir.errors import UnsafePath
from memdir.fs import read_file
from memdir.paths.check import check_base_directory, check_memory_directory
from memdir.paths.environment import home_directory, is_remote
from memdir.paths.git import canonical_root

MAX_SLUG = 200
"""Characters of a folder's name that are its path; see `slug`."""

_LOOKS_HASHED = re.compile(r"-[0-9a-f]{8}\Z")
_TRANSCRIPTS_READ = 20
_TRANSCRIPT_HEAD = 64 * 1024  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The directories of one project. None of them need exist.

    `state` is memdir's own; `base` is where memory and transcripts are: the same in our layout, another
    program's directory in the claude layout. `memory` is None if even the ordinary place is unsafe;
    `memory_source` says who chose it ("default" if nobody), `refused` who may not. `transcripts` is the
    folder for sessions started in `cwd`; `slug` names the project. `warnings` are for the person.
    """

    cwd: Path
    root: Path
    state: Path
    base: Path
    layout: str
    memory: Path | None
    memory_source: str
    refused: tuple[UnsafePath, ...]
    slug: str
    transcripts: Path
    warnings: tuple[str, ...] = ()

    @property
    def cursors(self) -> Path:
        """How far extraction has come, by session."""
        return self.state / "cursors"

    @property
    def trash(self) -> Path:
        """Where deleted memories of this memory directory wait to be restored."""
        return self.state / "trash" / self.name

    @property
    def inbox(self) -> Path:
        """Where proposed changes of this memory directory wait for the person (E11)."""
        return self.state / "inbox" / self.name

    @property
    def history(self) -> Path:
        """Every change of this memory directory (H2)."""
        return self.state / "history" / self.name

    @property
    def dreams(self) -> Path:
        """Where dreams of this memory directory work, and what of them waits for the person (D8)."""
        return self.state / "dreams" / self.name

    @property
    def journals(self) -> Path:
        """What runs that are under way have changed of this memory directory so far."""
        return self.state / "journal" / self.name

    @property
    def pending(self) -> Path:
        """Which sessions are not dealt with to their end (E7)."""
        return self.state / "pending"

    @property
    def ledger(self) -> Path:
        """What background work has cost, a file a day (H3)."""
        return self.state / "ledger"

    @property
    def name(self) -> str:
        """What belongs to the memory directory, and is kept elsewhere, is called.

        The directory of the same project below another base, or in another layout, is another directory.
        """
        own = self.memory_source == "default" and self.base == self.state
        ordinary = self.memory is None or own
        return self.slug if ordinary else slug(self.memory or self.root, layout="memdir")

    @property
    def usage(self) -> Path:
        """The record of what was recalled of this memory directory, and what became of it (R10)."""
        return self.state / "usage" / f"{self.name}.sqlite"


def cache_directory(state: Path, memory: Path) -> Path:
    """Where what is derived from a memory directory is kept: `<state>/cache/<its slug>` (M6)."""
    return state / "cache" / slug(memory, layout="memdir")


def slug(root: Path, *, layout: str) -> str:
    """The name of a folder's directory under `<base>/projects/` (P3); reads nothing but links.

    In our layout ("memdir") no two roots share one: a hash is appended wherever the plain name does not tell
    the path. The plain name itself is the "claude" layout's, cut and hashed only when it is over 200 long.
    """
    path = unicodedata.normalize("NFC", os.path.realpath(root))
    path = re.sub(r"\A[a-z](?=:)", lambda drive: drive[0].upper(), path)
    plain = re.sub(r"[^A-Za-z0-9]", "-", path)
    lossy = re.search(r"[^A-Za-z0-9/]", path) or _LOOKS_HASHED.search(plain)
    if len(plain) > MAX_SLUG or (layout == "memdir" and lossy):
        return f"{plain[:MAX_SLUG]}-{_hash(path)}"
    return plain


def _hash(path: str) -> str:
    return hashlib.sha256(path.encode(errors="surrogateescape")).hexdigest()[:8]


def state_directory(environment: Mapping[str, str]) -> Path:
    """Where memdir keeps what is its own: `MEMDIR_HOME`, else `~/.memdir`, in every layout.

    Raises:
        UnsafePath: `MEMDIR_HOME` is no place to keep things.
    """
    home = home_directory(environment)
    named = environment.get("MEMDIR_HOME")
    return Path(check_base_directory(named, source="env", home=home)) if named else home / ".memdir"


def remote_base(environment: Mapping[str, str]) -> Path | None:
    """The base directory of remote mode (P1); None: this is none, or it names no base, or an unsafe one."""
    named = environment.get("MEMDIR_REMOTE_MEMORY_DIR") if is_remote(environment) else None
    found = _first_safe([("env", named)] if named else [], home_directory(environment), [], base=True)
    return found[0] if found else None


def resolve(
    cwd: Path,
    *,
    environment: Mapping[str, str],
    layout: str = "memdir",
    base_directory: str | None = None,
    directories: Sequence[tuple[str, object]] = (),
) -> Places:
    """All places of the project that `cwd` belongs to.

    `directories` are memory directories that trusted settings name, as (source, value), strongest first;
    one that is refused is noted, and the next counts (P2, P5).

    Raises:
        UnsafePath: `MEMDIR_HOME` is refused.
    """
    home, refused = home_directory(environment), list[UnsafePath]()
    here, root, state = Path(os.path.realpath(cwd)), canonical_root(cwd), state_directory(environment)
    base = _first_safe(_bases(environment, layout, base_directory), home, refused, base=True) or (
        home / ".claude" if layout == "claude" else state,
        "default",
    )
    name = _project(base[0], root, layout)
    named = [*_overrides(environment, layout), *directories]
    memory = _first_safe([*named, ("default", str(base[0] / "projects" / name / "memory"))], home, refused)
    warned = layout == "claude" and memory is not None and memory[1] == "default"
    return Places(
        cwd=here,
        root=root,
        state=state,
        base=base[0],
        layout=layout,
        memory=memory[0] if memory else None,
        memory_source=memory[1] if memory else "none",
        refused=tuple(refused),
        slug=name,
        transcripts=base[0] / "projects" / _project(base[0], here, layout),
        warnings=tuple(_shared(base[0] / "projects" / name, root)) if warned else (),
    )


def transcript_path(places: Places, session_id: str) -> Path:
    """The transcript of a session started in `places.cwd` (P9).

    Raises:
        UnsafePath: the id is not a UUID.
    """
    try:
        canonical = str(UUID(session_id))
    except ValueError as error:
        raise UnsafePath(session_id, reason="a session id is a UUID", source="session") from error
    if canonical != session_id.lower():
        raise UnsafePath(session_id, reason="a session id is a UUID with its dashes", source="session")
    return places.transcripts / f"{session_id}.jsonl"


def summary_path(places: Places, session_id: str) -> Path:
    """The running summary of a session, beside its transcript (P9, C1). Raises as `transcript_path`."""
    return transcript_path(places, session_id).with_suffix("") / "session-memory" / "summary.md"


def _bases(
    environment: Mapping[str, str], layout: str, base_directory: str | None
) -> Iterator[tuple[str, object]]:
    """Who names the base, strongest first (P1)."""
    remote = environment.get("MEMDIR_REMOTE_MEMORY_DIR")
    if is_remote(environment) and remote:
        yield "env", remote
    elif layout == "claude":
        if named := environment.get("CLAUDE_CONFIG_DIR"):
            yield "env", named
    elif base_directory is not None and not environment.get("MEMDIR_HOME"):
        yield "user", base_directory


def _overrides(environment: Mapping[str, str], layout: str) -> Iterator[tuple[str, object]]:
    names = ["MEMDIR_PATH_OVERRIDE"]
    if layout == "claude":
        names.append("CLAUDE_COWORK_MEMORY_PATH_OVERRIDE")
    for name in names:
        if value := environment.get(name):
            yield "env", value


def _first_safe(
    named: Iterable[tuple[str, object]], home: Path, refused: list[UnsafePath], *, base: bool = False
) -> tuple[Path, str] | None:
    check = check_base_directory if base else check_memory_directory
    for source, value in named:
        try:
            return Path(check(value, source=source, home=home)), source
        except UnsafePath as error:
            refused.append(error)
    return None


# -- the claude layout: names that more than one folder can have ----------------------------------------


def _project(base: Path, folder: Path, layout: str) -> str:
    """The name of the folder's directory under `<base>/projects/`.

    A long name ends in a hash that only the program that made it can compute, so in the claude layout a
    directory that is there already is taken by its first 200 characters; of several, the one whose sessions
    were in `folder`.
    """
    name = slug(folder, layout=layout)
    if layout != "claude" or len(name) <= MAX_SLUG:
        return name
    there = sorted(place.name for place in (base / "projects").glob(f"{name[:MAX_SLUG]}-*/"))
    ours = (each for each in there if str(folder) in _working_folders(base / "projects" / each))
    return next(ours, there[0] if len(there) == 1 else name)


def _shared(transcripts: Path, root: Path) -> Iterator[str]:
    """A warning for each other root that has the same plain name, as the sessions kept there show (P3)."""
    plain = slug(root, layout="claude")
    for other in sorted(_working_folders(transcripts)):
        if slug(Path(other), layout="claude") == plain and canonical_root(Path(other)) != root:
            yield (
                f"{root} and {other} have the same name in this layout, and so share one memory; "
                "give one of them its own with autoMemoryDirectory, or use the memdir layout"
            )


def _working_folders(transcripts: Path) -> set[str]:
    """The folders that sessions kept here were working in, as their transcripts say (the newest few)."""
    try:
        files = sorted(transcripts.glob("*.jsonl"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
    except OSError:
        return set()
    return {cwd for file in files[:_TRANSCRIPTS_READ] for cwd in _recorded_folders(file)}


def _recorded_folders(transcript: Path) -> Iterator[str]:
    try:
        head = read_file(transcript, limit=_TRANSCRIPT_HEAD)
    except (OSError, UnsafePath):
        return
    for line in head.splitlines():
        if b'"cwd"' in line:
            try:
                record: Any = json.loads(line)
            except ValueError:  # the last line, cut off by the limit
                continue
            if isinstance(record, dict) and isinstance(record.get("cwd"), str):
                yield record["cwd"]
