"""Whatever happens to its files, an index answers as a fresh one does (memory/index/, M6)."""

from __future__ import annotations

import shutil
import tempfile
import time
from contextlib import closing
from pathlib import Path
from random import Random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from memdir.memory.index import Index, Term
from tests.stress import edits
from tests.stress.editor import Editor


class Life(RuleBasedStateMachine):
    """Edits, one after the other; in between, indexes that come and go and share a cache are asked.

    Not all are asked after each edit, so that some find many changes at once, and changes of each other.
    """

    indexes = Bundle("indexes")

    def __init__(self) -> None:
        super().__init__()
        self.scratch = Path(tempfile.mkdtemp())
        self.memory = self.scratch / "memory"
        self.memory.mkdir()
        self.opened: list[Index] = []

    def index(self) -> Index:
        return Index(str(self.memory), cache=str(self.scratch / "cache"), clock=time.time_ns)

    @rule(random=st.randoms(use_true_random=False), count=st.integers(1, 4))
    def edit(self, random: Random, count: int) -> None:
        editor = Editor(self.memory, random)
        for _ in range(count):
            editor.edit()

    @rule(target=indexes)
    def open(self) -> Index:
        self.opened.append(self.index())
        return self.opened[-1]

    @rule(index=indexes)
    def ask(self, index: Index) -> None:
        assert edits.answers(index) == edits.fresh(self.memory)

    @rule(index=indexes)
    def ask_without_a_look(self, index: Index) -> None:
        """What is said then may be old, but it is all of one moment."""
        said = [one.file for one in index.newest(1000)]
        assert said == [path for path, _ in index.moments()]
        assert {hit.file for hit in index.rank([Term("frost")])} <= set(said)

    @rule(index=consumes(indexes))
    def close(self, index: Index) -> None:
        index.close()

    @rule()
    def lose_the_cache(self) -> None:
        shutil.rmtree(self.scratch / "cache", ignore_errors=True)

    @invariant()
    def one_who_comes_now_knows_all(self) -> None:
        if self.opened:
            with closing(self.index()) as new:
                assert edits.answers(new) == edits.fresh(self.memory)

    def teardown(self) -> None:
        for index in self.opened:
            index.close()
        shutil.rmtree(self.scratch)


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=15, stateful_step_count=15, deadline=None)


def test_another_process_answers_as_a_fresh_index_M6() -> None:
    assert edits.run(edits=60, seed=3, every=4) == 15


def test_processes_that_edit_and_ask_at_once_agree_in_the_end_M6() -> None:
    edits.race(processes=3, edits=25, seed=11)
