"""Random edits to a memory directory: after each, the index answers as a fresh one does (M6).

python -m tests.stress.edits --edits 10000 --seed 1

The edits are what people, editors and other programs do: write, overwrite in place with as many bytes,
replace by renaming, move, delete, set times back and forth, link, lock away, rename folders.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from memdir.memory.index import Index, Term
from memdir.memory.words import words

SAID = (
    "canary traffic",
    "replica lag",
    "部署 生产",
    "ZQ-4090 locked",
    "src/lib/valve.py",
    "カナリア",
    "frost",
    "ümlaut",
)
NAMES = (
    "a.md",
    "b.md",
    "c.md",
    "deploy.md",
    "部署.md",
    "notes.MD",
    "x.txt",
    ".hidden.md",
    "MEMORY.md",
    "memory.md",
)
FOLDERS = ("", "deep/", "deep/er/", "logs/", "team/", "sessions/", ".git/")
QUERIES = ("the canary and its traffic", "部署到生产环境", "zq-4090", "valve", "replica frost カナリア", "")


class Editor:
    """Makes one edit after the other in a directory; which, the seed says."""

    def __init__(self, root: Path, seed: int) -> None:
        self._root = root
        self._random = random.Random(seed)
        self._edits: Sequence[Callable[[], None]] = (
            self.write, self.write, self.write, self.overwrite, self.replace, self.move, self.delete,
            self.touch, self.link, self.lock, self.move_folder, self.index_link, self.odd_name, self.vanish,
        )  # fmt: skip

    def edit(self) -> str:
        """Make one; what it was. Some turn out to be impossible."""
        made = self._random.choice(self._edits)
        with suppress(OSError):
            made()
        return made.__name__

    def _path(self) -> Path:
        path = self._root / (self._random.choice(FOLDERS) + self._random.choice(NAMES))
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _some(self) -> Path:
        found = sorted(path for path in self._root.rglob("*") if path.is_file())
        return self._random.choice(found) if found else self._path()

    def _text(self) -> bytes:
        said = " ".join(self._random.choices(SAID, k=3))
        head = f"---\nname: {self._random.choice(SAID)}\ndescription: d\ntype: project\n---\n\n"
        text = (self._random.choice((head, "", "---\nbroken: [\n")) + said + "\n").encode()
        return text + self._random.choice((b"", b"\xff\xfe", b"# frost\n"))

    def write(self) -> None:
        self._path().write_bytes(self._text())

    def overwrite(self) -> None:
        """As many bytes, and the times it had: only `changed` tells."""
        path = self._some()
        before = path.stat()
        path.write_bytes(bytes(self._random.sample(path.read_bytes(), before.st_size)))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def replace(self) -> None:
        path = self._some()
        aside = path.with_name("aside.tmp")
        aside.write_bytes(self._text())
        aside.replace(path)

    def move(self) -> None:
        self._some().replace(self._path())

    def delete(self) -> None:
        self._some().unlink()

    def touch(self) -> None:
        """A step of the clock, forward or back, or the same moment for all."""
        moment = self._random.choice((0, 10**18, time.time_ns() + 10**12, 4 * 10**18))
        os.utime(self._some(), ns=(moment, moment))

    def link(self) -> None:
        path = self._path()
        path.unlink(missing_ok=True)
        path.symlink_to(self._some())

    def lock(self) -> None:
        self._some().chmod(self._random.choice((0o000, 0o644)))

    def move_folder(self) -> None:
        (self._root / "deep").replace(
            self._root / self._random.choice(("deeper", "logs/old", ".aside", "deep2"))
        )

    def index_link(self) -> None:
        index = self._root / "MEMORY.md"
        index.unlink(missing_ok=True)
        index.symlink_to(self._random.choice(("a.md", "deep/b.md", "nowhere.md")))

    def odd_name(self) -> None:
        Path(os.fsdecode(os.fsencode(self._root) + b"/odd\xff.md")).write_bytes(self._text())

    def vanish(self) -> None:
        """The whole directory, now and then."""
        if self._random.random() < 0.1:
            shutil.rmtree(self._root)
            self._root.mkdir()


def answers(index: Index) -> list[object]:
    """What the index says, in so far as callers can see it."""
    index.refresh()
    asked = [[Term(word) for word in dict.fromkeys(words(query))] for query in QUERIES]
    ranked = [[(hit.file, hit.score, dict(hit.words)) for hit in index.rank(terms)] for terms in asked]
    newest = [(one.file, one.name, one.traits, one.modified, one.size) for one in index.newest(100)]
    return [index.size, ranked, newest, index.moments()]


def run(*, edits: int, seed: int, every: int = 1, said: Callable[[str], None] = lambda _: None) -> int:
    """Make the edits, and compare after `every` so many. How often it was compared.

    Raises:
        AssertionError: an index answered otherwise than a fresh one; says after which edit.
    """
    with tempfile.TemporaryDirectory() as scratch:
        root, cache = Path(scratch, "memory"), Path(scratch, "cache")
        root.mkdir()
        editor = Editor(root, seed)
        old = Index(str(root), cache=str(cache), clock=time.time_ns)
        other = Index(str(root), cache=str(cache), clock=time.time_ns)
        compared = 0
        for at in range(1, edits + 1):
            made = editor.edit()
            if at % every:
                continue
            compared += 1
            fresh = answers(Index(str(root), cache=None, clock=time.time_ns))
            first, second = (old, other) if at % 2 else (other, old)
            for index in (first, second):
                found = answers(index)
                assert found == fresh, f"seed {seed}, edit {at} ({made}): {found} is not {fresh}"
            if at % 1000 == 0:
                said(f"{at:,} of {edits:,} edits")
    return compared


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.stress.edits")
    parser.add_argument("--edits", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    compared = run(edits=options.edits, seed=options.seed, said=lambda line: print(line, file=sys.stderr))
    print(f"{options.edits:,} edits, seed {options.seed}: {compared:,} times as a fresh index answers")


if __name__ == "__main__":
    main()
