"""What the side of the index that answers costs to load: it runs at every prompt (M6)."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from memdir.memory.index import Index
from tests.cases import REPO

ALLOWED = {
    "array", "binascii", "bisect", "collections", "contextlib", "copyreg", "datetime", "enum", "functools",
    "itertools", "keyword", "math", "operator", "re", "reprlib", "sqlite3", "threading", "types",
    "unicodedata", "warnings", "weakref",
}  # fmt: skip
"""What `sqlite3` and `re` load themselves (`datetime`, `enum`, ...), and the little beside that we use. Each
name more costs every prompt of every session; `typing` or `dataclasses` alone as much as a whole answer."""

OURS = {
    "memdir.memory.index": {
        "memdir", "memdir.names", "memdir.memory", "memdir.memory.rank", "memdir.memory.words",
        "memdir.memory.word_lists", "memdir.memory.index", "memdir.memory.index.database",
        "memdir.memory.index.freshness", "memdir.memory.index.index", "memdir.memory.index.packing",
        "memdir.memory.index.ranking", "memdir.memory.index.stamp",
    },
}  # fmt: skip

ASK = """
import sys
sys.path.insert(0, sys.argv[3])
before = set(sys.modules)
import time
from memdir.memory.index import Index, Term
{imported}
one = Index(sys.argv[1], cache=sys.argv[2], clock=time.time_ns)
assert one.refresh() == 0, "nothing has changed"
assert [hit.file for hit in one.rank([Term("replica")])] == ["lag.md"]
{asked}
one.close()
print(*sorted(set(sys.modules) - before))
"""

JUDGED = """
class Now:
    def timestamp(self): return time.time()
assert [one.file for one in judge("the replica lags behind", one, now=Now())] == ["lag.md"]
"""


def loaded(folder: Path, *, imported: str = "", asked: str = "") -> set[str]:
    """The modules that a process loads which asks the index of an unchanged directory."""
    memory, cache = folder / "memory", folder / "cache"
    memory.mkdir()
    (memory / "lag.md").write_text("---\nname: lag\n---\nThe replica lags behind.\n")
    with closing(Index(str(memory), cache=str(cache), clock=time.time_ns)) as index:
        while index.refresh():
            pass
    script = ASK.format(imported=imported, asked=asked)
    command = [sys.executable, "-I", "-S", "-c", script, str(memory), str(cache), str(REPO / "src")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return set(done.stdout.split())


def foreign(names: set[str]) -> set[str]:
    """The packages of these modules that are none of ours, and not the inner side of the language."""
    tops = {name.partition(".")[0] for name in names}
    return {name for name in tops if not name.startswith("_")} - {
        "memdir",
        "os",
        "stat",
        "genericpath",
        "posixpath",
    }


def test_asking_the_index_loads_next_to_nothing_M6(tmp_path: Path) -> None:
    names = loaded(tmp_path)
    assert foreign(names) <= ALLOWED
    assert {name for name in names if name.startswith("memdir")} == OURS["memdir.memory.index"]


@pytest.mark.parametrize("door", ["memdir.recall.local", "memdir.recall"])
def test_judging_a_prompt_loads_next_to_nothing_R9(tmp_path: Path, door: str) -> None:
    imported = f"import {door}\nfrom memdir.recall.local import judge"
    names = loaded(tmp_path, imported=imported, asked=JUDGED)
    assert foreign(names) <= ALLOWED
    assert not names & {
        "memdir.memory.topic",
        "memdir.memory.index.filling",
        "memdir.settings",
        "memdir.model",
    }
