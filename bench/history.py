"""What the history costs a write of a memory, beside the same write without it: `python -m bench.history`."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from memdir.memory import topic
from memdir.memory.history import History
from memdir.memory.store import ANY, MemoryDir

SIZES = (20, 1_000, 5_000)
WRITES = 15


def now() -> datetime:
    return datetime.now(UTC)


def filled(folder: Path, size: int) -> Path:
    directory = folder / "memory"
    directory.mkdir()
    for number in range(size):
        (directory / f"note_{number}.md").write_text(note(number, 0), encoding="utf-8")
    return directory


def note(number: int, version: int) -> str:
    return topic.render(
        name=f"Note {number}",
        description=f"What note {number} says",
        type="project",
        body=f"Note {number}, as of {version}.\n",
    )


def milliseconds(memory: MemoryDir) -> Iterator[float]:
    memory.look()
    for number in range(WRITES):
        data = note(number, 1).encode()
        began = time.perf_counter()
        memory.write(f"note_{number}.md", data, expected=ANY, now=now(), origin=None)
        yield (time.perf_counter() - began) * 1_000


def median(size: int, *, recorded: bool) -> float:
    with TemporaryDirectory(prefix="memdir-") as name:
        folder = Path(name).resolve()
        directory = filled(folder, size)
        history = History(folder / "history", directory=directory, now=now) if recorded else None
        return statistics.median(milliseconds(MemoryDir(directory, trash=folder / "trash", history=history)))


def main() -> None:
    print(f"one write of a memory, ms (median of {WRITES})")
    print(f"{'memories':>10}{'without history':>18}{'with':>8}")
    for size in SIZES:
        print(f"{size:>10,}{median(size, recorded=False):>18.1f}{median(size, recorded=True):>8.1f}")


if __name__ == "__main__":
    main()
