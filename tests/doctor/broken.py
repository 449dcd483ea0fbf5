"""Broken memory directories: a sound one, and any faults planted in it, each with what must be found."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from memdir.doctor.around import Around
from memdir.doctor.finding import Kind
from memdir.dream.lock import LOCK, Lock
from memdir.dream.stage import new_folder
from memdir.memory.leaks import MASKED
from memdir.memory.pointer import Pointer, written
from memdir.memory.store import MemoryDir
from memdir.memory.topic import render
from memdir.paths import Places, resolve
from memdir.project import Project, open_project

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
LONG_AGO = int(datetime(2020, 11, 1, tzinfo=UTC).timestamp()) * 10**9
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
INDEX = "MEMORY.md"

_SYLLABLES = [
    a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "ar", "en", "il", "or", "um")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """What must be found of a fault. `says` is a part of the reason; `mends`: a `--fix` takes it away."""

    file: str
    kind: Kind
    says: str
    mends: bool = False


@dataclass(kw_only=True)
class Directory:
    """A memory directory of a project in `home`, with what is planted in it."""

    home: Path
    dice: random.Random
    project: Project
    lines: list[str] = field(default_factory=list)
    planted: list[Planted] = field(default_factory=list)
    _number: int = 0

    @classmethod
    def sound(cls, home: Path, *, seed: int, topics: int = 12) -> Directory:
        """One in which nothing is wrong, not written to its end: see `done`."""
        environment = {"HOME": str(home), "MEMDIR_HOME": str(home / ".memdir"), "PATH": os.environ["PATH"]}
        folder = home / "work"
        folder.mkdir(parents=True)
        project = open_project(folder, environment=environment, now=lambda: NOW)
        made = cls(home=home, dice=random.Random(seed), project=project)
        made.memory.prepare()
        made.lines = ["# What is known", ""]
        for _ in range(topics):
            made.topic()
        return made

    @property
    def memory(self) -> MemoryDir:
        return self.project.require_memory()

    @property
    def places(self) -> Places:
        return self.project.places

    @property
    def others(self) -> Places:
        """The places of the project in the other layout."""
        environment = {"HOME": str(self.home), "MEMDIR_HOME": str(self.home / ".memdir")}
        return resolve(self.home / "work", environment=environment, layout="claude")

    @property
    def around(self) -> Around:
        return Around(places=self.places, others=(self.others,))

    def expect(self, file: str, kind: Kind, says: str, *, mends: bool = False) -> None:
        self.planted.append(Planted(file=file, kind=kind, says=says, mends=mends))

    def words(self, count: int) -> str:
        """So many words that nothing else has."""
        dice = self.dice
        return " ".join("".join(dice.choices(_SYLLABLES, k=dice.randint(3, 4))) for _ in range(count))

    def name(self) -> str:
        """A file name that nothing else has."""
        self._number += 1
        return f"{self.words(1)}_{self._number}.md"

    def put(self, file: str, data: bytes | str, *, at: int = LONG_AGO) -> Path:
        path: Path = self.memory.directory / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        os.utime(path, ns=(at, at))
        return path

    def text(self) -> str:
        """A memory with a header in which nothing is missing."""
        paragraphs = "\n\n".join(self.words(self.dice.randint(9, 30)).capitalize() + "." for _ in range(3))
        kind = self.dice.choice(["user", "feedback", "project", "reference"])
        return render(name=self.words(2), description=self.words(5), type=kind, body=f"{paragraphs}\n")

    def topic(self, data: bytes | str | None = None, *, file: str | None = None, listed: bool = True) -> str:
        """A memory, with its entry in the index."""
        file = file or self.name()
        self.put(file, self.text() if data is None else data, at=LONG_AGO + self.dice.randrange(10**15))
        if listed:
            self.point(file)
        return file

    def point(self, file: str, hook: str | None = None) -> None:
        """An entry of the index, somewhere in it."""
        hook = self.words(4) if hook is None else hook
        line = written(Pointer(title=self.words(2), file=file, hook=hook))
        self.lines.insert(self.dice.randint(2, len(self.lines)), line)

    def done(self) -> Directory:
        """The index is written."""
        self.put(INDEX, "\n".join(self.lines) + "\n")
        return self


def broken(home: Path, *, seed: int, faults: Iterable[str], topics: int = 12) -> Directory:
    """A directory with these faults, planted in an order that the seed decides."""
    made = Directory.sound(home, seed=seed, topics=topics)
    chosen = sorted(faults)
    made.dice.shuffle(chosen)
    for name in sorted(chosen, key=lambda name: name in LAST):
        FAULTS[name](made)
    return made.done()


# -- faults ----------------------------------------------------------------------------------------------


def _orphan(made: Directory) -> None:
    made.expect(made.topic(listed=False), "orphan", "no entry", mends=True)


def _orphan_in_a_folder(made: Directory) -> None:
    made.expect(made.topic(file=f"deep/er/{made.name()}", listed=False), "orphan", "no entry", mends=True)


def _dead(made: Directory) -> None:
    file = made.name()
    made.point(file)
    made.expect(INDEX, "dead pointer", f"points to {file}", mends=True)


def _dead_with_text_below(made: Directory) -> None:
    file = made.name()
    made.lines.append(f"- [{made.words(1)}]({file})\n  {made.words(5)}")  # nothing comes in between
    made.expect(INDEX, "dead pointer", f"points to {file}")


def _dead_log(made: Directory) -> None:
    made.lines.append("- [Then](logs/2026/01/2026-01-01.md)")
    made.expect(INDEX, "dead pointer", "points to logs/")


def _twice(made: Directory) -> None:
    file = made.topic()
    hook = next(line for line in made.lines if f"]({file})" in line).partition(" — ")[2]
    made.lines.append(f"- [{file}]({file}) — {hook}")
    made.expect(INDEX, "entry", f"a second entry for {file}", mends=True)


def _long(made: Directory) -> None:
    said = made.words(40)
    file = made.topic(render(name=made.words(1), description=made.words(4), type="project", body=said))
    made.lines = [line for line in made.lines if f"]({file})" not in line]
    made.lines.append(f"- [{made.words(1)}]({file}) — {said}")
    made.expect(INDEX, "entry", "an entry of", mends=True)


def _long_of_its_own(made: Directory) -> None:
    file = made.topic(listed=False)
    made.lines.append(f"- [{made.words(1)}]({file}) — {made.words(40)}")
    made.expect(INDEX, "entry", "an entry of")


def _blank_lines(made: Directory) -> None:
    made.lines += ["", ""] * 120 + ["The end."]
    made.expect(INDEX, "index", "it is at", mends=True)


def _much_prose(made: Directory) -> None:
    made.lines += [f"{made.words(3)}." for _ in range(210)]
    no_room = [replace(one, mends=False) if one.kind == "orphan" else one for one in made.planted]
    made.planted[:] = no_room
    made.expect(INDEX, "index", "it is at")


def _no_header(made: Directory) -> None:
    file = made.topic(f"# {made.words(2)}\n\n{made.words(12)}.\n{made.words(9)}.\n")
    made.expect(file, "frontmatter", "there is no header", mends=True)


def _no_name(made: Directory) -> None:
    file = made.topic(f"---\ndescription: {made.words(4)}\n# mine\ntype: user\n---\n{made.words(20)}\n")
    made.expect(file, "frontmatter", "has no name", mends=True)


def _no_description(made: Directory) -> None:
    text = f"---\r\nname: {made.words(2)}\r\nmetadata:\r\n  type: user\r\n---\r\n\r\n- {made.words(20)}\r\n"
    made.expect(made.topic(text), "frontmatter", "has no description", mends=True)


def _open_header(made: Directory) -> None:
    file = made.topic(f"---\nname: {made.words(1)}\n\n{made.words(20)}\n")
    made.expect(file, "frontmatter", "never closed")


def _unknown_type(made: Directory) -> None:
    text = f"---\nname: {made.words(1)}\ndescription: {made.words(3)}\ntype: idea\n---\n{made.words(20)}\n"
    made.expect(made.topic(text), "frontmatter", "the type is none of")


def _duplicate(made: Directory) -> None:
    text = made.text()
    files = sorted(made.topic(text) for _ in range(2))
    made.expect(files[1], "duplicate", f"the same as {files[0]}")


def _near_duplicate(made: Directory) -> None:
    head, said = made.text(), [made.words(9) for _ in range(12)]
    one = made.topic(head + "\n".join(said))
    said[4] = made.words(9)
    files = sorted([one, made.topic(head + "\n".join(said))])
    made.expect(files[1], "duplicate", f"nearly the same as {files[0]}")


def _secret(made: Directory) -> None:
    made.expect(made.topic(f"{made.text()}\nthe token is {TOKEN}\n"), "secret", "GitHub token")


def _secret_of_an_orphan(made: Directory) -> None:
    text = f"---\nname: {made.words(1)}\ndescription: {TOKEN}\n---\n{made.words(20)}\n"
    made.expect(made.topic(text, listed=False), "secret", "GitHub token")


def _secret_in_the_index(made: Directory) -> None:
    made.lines.append(f"The token is {TOKEN}.")
    made.expect(INDEX, "secret", "GitHub token")


def _secret_in_the_trash(made: Directory) -> None:
    file = made.name()
    data = f"{made.text()}\n{TOKEN}\n".encode()
    made.memory.trash.put(file, data, mtime_ns=LONG_AGO, pointers=(), now=NOW)
    made.expect(file, "secret", "it is in the trash")


def _secret_name(made: Directory) -> None:
    made.topic(file=f"{TOKEN}.md", listed=False)
    made.expect(MASKED, "secret", "a name that looks like a secret")


def _marked(made: Directory) -> None:
    made.topic(f"{made.text()}\n{TOKEN} <!-- memdir:allow-secret -->\n")


def _half_written(made: Directory) -> None:
    name = f".memdir-{made.dice.getrandbits(64):016x}.tmp"
    made.put(name, made.text())
    made.expect(name, "leftover", "half of a file", mends=True)


def _dead_dreamer(made: Directory) -> None:
    if (child := os.fork()) == 0:  # a real process that takes the lock, and dies with it
        try:
            Lock.take(made.memory.directory, now=lambda: NOW)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    made.expect(LOCK, "lock", "without giving it back", mends=True)


def _stage(made: Directory) -> None:
    folder = new_folder(made.places.dreams)
    (folder / "memory").mkdir(parents=True)
    (folder / "memory" / "x.md").write_text("x")
    made.expect(str(folder), "leftover", "the copy of the memories", mends=True)


def _half_plan(made: Directory) -> None:
    folder = made.places.dreams / f"{made.dice.getrandbits(40):010x}"
    (folder / "before").mkdir(parents=True)
    (folder / "before" / "x.md").write_text("x")
    made.expect(str(folder), "leftover", "half of a plan", mends=True)


def _case_twins(made: Directory) -> None:
    name = made.name()
    made.topic(file=name.title().replace("Md", "md"))
    made.topic(file=name)
    made.expect(name, "collision", "only case or Unicode form")


def _unicode_twins(made: Directory) -> None:
    stem = made.name().removesuffix(".md")
    made.topic(file=f"{stem}e\u0301.md")
    made.topic(file=f"{stem}\u00e9.md", listed=False)
    made.expect(f"{stem}\u00e9.md", "collision", "only case or Unicode form")


def _pipe(made: Directory) -> None:
    name = made.name()
    os.mkfifo(made.memory.directory / name)
    made.point(name)
    made.expect(name, "unreadable", "a pipe")


def _half_characters(made: Directory) -> None:
    made.expect(made.topic(b"\xff\xfex\0\x80"), "unreadable", "broken encoding")


def _latin_1(made: Directory) -> None:
    made.expect(made.topic(made.text().encode() + b"caf\xe9\n"), "unreadable", "not UTF-8")


def _too_big(made: Directory) -> None:
    name = made.topic("x")
    os.truncate(made.memory.directory / name, 11 * 1024 * 1024)
    made.expect(name, "unreadable", "too big")


def _link_out(made: Directory) -> None:
    name = made.name()
    (made.home / "outside.md").write_text(made.text())
    (made.memory.directory / name).symlink_to(made.home / "outside.md")
    made.point(name)
    made.expect(name, "link", "leads out")


def _link_to_nothing(made: Directory) -> None:
    name = made.name()
    (made.memory.directory / name).symlink_to("nowhere.md")
    made.expect(name, "link", "a link to nothing")


def _windows_name(made: Directory) -> None:
    made.topic(file="con.md")
    made.expect("con.md", "name", "Windows keeps")


def _other_ending(made: Directory) -> None:
    name = made.name().replace(".md", ".markdown")
    made.put(name, made.text())
    made.expect(name, "name", "end in .md")


def _instructions(made: Directory) -> None:
    made.put("AGENTS.md", f"# {made.words(2)}\n\n{made.words(30)}\n")
    made.expect("AGENTS.md", "layout", "instructions for an agent")


def _nested_index(made: Directory) -> None:
    file = made.topic(file=f"projects/old/{made.name()}")
    made.put("projects/old/MEMORY.md", f"- [Old]({file.rpartition('/')[2]})\n")
    made.expect("projects/old/MEMORY.md", "layout", "another index")


def _other_layout(made: Directory) -> None:
    store = made.others.memory
    assert store is not None
    store.mkdir(parents=True)
    (store / "MEMORY.md").write_text("- [There](there.md)\n")
    (store / "there.md").write_text(made.text())
    made.expect(str(store), "layout", "a memory of this project is in there")


FAULTS: dict[str, Callable[[Directory], None]] = {
    name.removeprefix("_"): plant
    for name, plant in list(globals().items())
    if callable(plant) and getattr(plant, "__annotations__", {}).get("made") == "Directory"
}
"""All of them, by name."""

LAST = ("much_prose", "blank_lines")
"""Those that leave no room behind them. They are one fault of the index: only one of them at a time."""


def subsets(seeds: Sequence[int]) -> list[tuple[int, frozenset[str]]]:
    """For each seed some of the faults: few, or many, or all."""
    return [(seed, some(random.Random(seed))) for seed in seeds]


def some(dice: random.Random) -> frozenset[str]:
    names = sorted(FAULTS)
    return compatible(dice.sample(names, k=dice.choice([2, 3, 5, 8, 13, 21, len(names)])))


def compatible(names: Iterable[str]) -> frozenset[str]:
    """Those of these faults that can be together."""
    found = frozenset(names)
    return found - {"blank_lines"} if found >= set(LAST) else found
