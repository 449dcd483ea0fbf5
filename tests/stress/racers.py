"""Several processes add memories to one directory at once: every file and every pointer is there (F9).

python -m tests.stress.racers --processes 2 --count 200
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from memdir.memory import entrypoint, topic
from memdir.memory.store import MemoryDir
from tests.cases import REPO

NOW = datetime(2026, 3, 30, 12, tzinfo=UTC)


def add_memories(store: MemoryDir, racer: int, count: int) -> None:
    """One racer. It waits for a line on its input, so that all start together."""
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(count):
        file = f"racer_{racer}_{number}.md"
        text = topic.render(name=file, description="a fact", type="project", body=f"Fact {number}.\n")
        pointer = entrypoint.Pointer(title=file, file=file, hook="a fact")
        store.save(file, text.encode(), pointer=pointer, expected=None, now=NOW, origin=None)


def run(folder: Path, *, processes: int, count: int) -> None:
    """Let them race, then compare. Raises AssertionError with what went wrong."""
    store = MemoryDir(folder / "memory", trash=folder / "trash")
    command = [sys.executable, "-m", "tests.stress.racers", "--count", str(count), "--add"]
    racers = [
        subprocess.Popen(
            [*command, str(racer), str(store.directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=REPO,
        )
        for racer in range(processes)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    for racer in racers:
        racer.communicate()
        assert racer.returncode == 0
    wanted = sorted(f"racer_{racer}_{number}.md" for racer in range(processes) for number in range(count))
    assert sorted(header.path for header in store.list()) == wanted
    assert sorted(pointer.file for pointer in entrypoint.pointers(store.index())) == wanted
    assert store.mend() == []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--add", nargs=2, metavar=("RACER", "MEMORY"), help="be a racer")
    options = parser.parse_args()
    if options.add:
        racer, memory = options.add
        store = MemoryDir(Path(memory), trash=Path(memory).parent / "trash")
        return add_memories(store, int(racer), options.count)
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder), processes=options.processes, count=options.count)
    print(f"{options.processes * options.count} files, as many pointers")
    return None


if __name__ == "__main__":
    main()
