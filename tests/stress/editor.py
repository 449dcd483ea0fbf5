"""One edit after the other to a memory directory: what people, editors and programs do to files (M6)."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

SAID = (
    "canary traffic",
    "replica lag",
    "部署 生产",
    "ZQ-4090 locked",
    "src/lib/valve.py",
    "カナリア",
    "frost",
    "ümlaut",
    "said in b.md, superseded by a.md",
)
NAMES = (
    "a.md",
    "b.md",
    "c.md",
    "deploy.md",
    "部署.md",
    "caf\u00e9.md",
    "cafe\u0301.md",
    "a b\n.md",
    "notes.MD",
    "x.txt",
    ".hidden.md",
    "MEMORY.md",
    "memory.md",
)
FOLDERS = (
    "",
    "deep/",
    "deep/er/",
    "deep.md/",
    "logs/",
    "Team/",
    "sessions/",
    ".git/",
    "deep/team/",
    "deep/logs/",
)
MOMENTS = (0, 1, -(10**9), 10**18, 4 * 10**18)


class Editor:
    """Makes edits in a directory; which, `random` says. Impossible ones change nothing."""

    def __init__(self, root: Path, random: Random) -> None:
        self._root = root
        self._random = random
        self._edits: Sequence[Callable[[], None]] = (
            self.write, self.write, self.write, self.overwrite, self.append, self.replace, self.move,
            self.swap, self.delete, self.touch, self.touch_all, self.link, self.link_folder, self.hard_link,
            self.lock, self.move_folder, self.make_folder, self.remove_folder, self.index_link, self.odd_name,
            self.grow, self.vanish, self.step_aside,
        )  # fmt: skip

    def edit(self) -> str:
        """Make one; what it was."""
        made = self._random.choice(self._edits)
        with suppress(OSError):
            made()
        return made.__name__

    def write(self) -> None:
        self._path().write_bytes(self._text())

    def overwrite(self) -> None:
        """As many bytes, and the times it had: only `changed` tells."""
        path = self._some()
        before = path.stat()
        data = path.read_bytes()
        cut = self._random.randrange(before.st_size + 1)
        path.write_bytes(data[cut:] + data[:cut])
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def append(self) -> None:
        with self._some().open("ab") as file:
            file.write(self._text())

    def replace(self) -> None:
        path = self._some()
        aside = path.with_name("aside.tmp")
        aside.write_bytes(self._text())
        aside.replace(path)

    def move(self) -> None:
        self._some().replace(self._path())

    def swap(self) -> None:
        """Two files take each other's names, with the times they had."""
        one, other, aside = self._some(), self._some(), self._root / "swap.tmp"
        one.rename(aside)
        other.rename(one)
        aside.rename(other)

    def delete(self) -> None:
        self._some().unlink()

    def touch(self) -> None:
        """A step of the clock, forward or back."""
        moment = self._random.choice((*MOMENTS, time.time_ns() + 10**12))
        os.utime(self._some(), ns=(moment, moment))

    def touch_all(self) -> None:
        """The same moment for all, as after a checkout."""
        for path in self._all():
            os.utime(path, ns=(10**18, 10**18))

    def link(self) -> None:
        path = self._path()
        path.unlink(missing_ok=True)
        path.symlink_to(self._some())

    def link_folder(self) -> None:
        self._root.joinpath("linked").symlink_to(self._random.choice(("deep", "logs", "..", ".")))

    def hard_link(self) -> None:
        self._path().hardlink_to(self._some())

    def lock(self) -> None:
        self._some().chmod(self._random.choice((0o000, 0o644)))

    def move_folder(self) -> None:
        to = self._random.choice(("deeper", "logs/old", ".aside", "deep2", "team", "deep/er/x"))
        (self._root / "deep").replace(self._root / to)

    def make_folder(self) -> None:
        (self._root / self._random.choice(("a.md", "deep/b.md", "empty"))).mkdir(parents=True)

    def remove_folder(self) -> None:
        shutil.rmtree(self._root / self._random.choice(FOLDERS[1:]))

    def index_link(self) -> None:
        index = self._root / "MEMORY.md"
        index.unlink(missing_ok=True)
        index.symlink_to(self._random.choice(("a.md", "deep/b.md", "nowhere.md", "logs/a.md", "MEMORY.md")))

    def odd_name(self) -> None:
        Path(os.fsdecode(os.fsencode(self._root) + b"/odd\xff.md")).write_bytes(self._text())

    def grow(self) -> None:
        """Longer than what is indexed of a file, and cut within a character."""
        said = self._random.choice(SAID).encode()
        self._path().write_bytes(b"x" * self._random.randrange(3) + "部署 ".encode() * 38_000 + said)

    def vanish(self) -> None:
        """The whole directory, now and then."""
        if self._random.random() < 0.1:
            shutil.rmtree(self._root)
            self._root.mkdir()

    def step_aside(self) -> None:
        """Another directory takes its place, until it comes back."""
        aside = self._root.with_name("aside")
        if aside.exists():
            shutil.rmtree(self._root)
            aside.rename(self._root)
        elif self._random.random() < 0.1:
            self._root.rename(aside)
            self._root.mkdir()

    def _path(self) -> Path:
        path = self._root / (self._random.choice(FOLDERS) + self._random.choice(NAMES))
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _all(self) -> list[Path]:
        return sorted(path for path in self._root.rglob("*") if path.is_file())

    def _some(self) -> Path:
        found = self._all()
        return self._random.choice(found) if found else self._path()

    def _text(self) -> bytes:
        said = " ".join(self._random.choices(SAID, k=3))
        head = f"---\nname: {self._random.choice(SAID)}\ndescription: d\ntype: project\n---\n\n"
        text = self._random.choice((head, "", "---\nbroken: [\n")) + said + "\n"
        whole = text.encode() + self._random.choice((b"", b"\xff\xfe", b"# frost\n", b"\0"))
        return self._random.choice((whole, whole, whole, text.encode("utf-16"), b""))
