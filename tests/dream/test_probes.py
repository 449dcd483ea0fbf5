"""Probes: how they are read, what is found, and which fault is a new one (D8)."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memdir.dream import probes
from memdir.dream.probes import BadProbes, Probe, Result, absent, newly_broken, parse, run
from memdir.errors import UnsafePath
from memdir.recall.public import Asking, select_local
from memdir.testing import tree

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)


def probe(ask: str = "a?", must: tuple[str, ...] = ("a.md",), must_not: tuple[str, ...] = ()) -> Probe:
    return Probe(ask=ask, must=must, must_not=must_not)


# -- reading -----------------------------------------------------------------------------------------------


def test_a_probe_says_what_recall_must_and_must_not_bring_D8() -> None:
    text = """\
    # what must not be lost
    - ask: which package manager do we use?
      must: tools.md              # or a list
      must_not: [old_tools.md]
    - ask: 'what about R&D, "quotes": and *stars*?'
      must:
        - deep/a.md
        - b.md
        - b.md
    - ask: |
        a longer
        prompt
      must_not: c.md
    """
    assert parse(text.encode()) == (
        Probe(ask="which package manager do we use?", must=("tools.md",), must_not=("old_tools.md",)),
        Probe(ask='what about R&D, "quotes": and *stars*?', must=("deep/a.md", "b.md")),
        Probe(ask="a longer prompt", must_not=("c.md",)),
    )


@pytest.mark.parametrize("text", ["", "\n", "# none yet\n", "[]\n", "---\n", "\ufeff"])
def test_a_file_may_hold_no_probes_D8(text: str) -> None:
    assert parse(text.encode()) == ()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_a_byte_order_mark_make_no_difference_D8(end: str) -> None:
    data = f"\ufeff- ask: where?{end}  must: a.md{end}".encode()
    assert parse(data) == (probe("where?"),)
    with pytest.raises(BadProbes, match="line 2"):
        parse(f"\ufeff- ask: where?{end}  must: a{end}".encode())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- ask: a?\n  must: a.md\n- must: b.md\n", "line 3: `ask` is the prompt"),
        ("- ask: a?\n  must: a.md\n- ask:\n  must: b.md\n", "line 3: `ask` is the prompt"),
        ("- ask: '  '\n  must: b.md\n", "line 1: `ask` is the prompt"),
        ("- must: b.md\n  ask: 42\n", "line 2: `ask` is the prompt"),
        ("- ask: [a?]\n  must: b.md\n", "line 1: `ask` is the prompt"),
        ("- ask: a?\n", "line 1: there is neither `must` nor `must_not`"),
        ("- ask: a?\n  must: []\n", "line 1: there is neither"),
        ("- ask: a?\n  must: tools\n", 'line 2: "tools" in `must` names no memory'),
        ("- ask: a?\n  must: 3\n", "line 2: int in `must` names no memory"),
        ("- ask: a?\n  must: [a.md, [b.md]]\n", "line 2: list in `must` names no memory"),
        ("- ask: a?\n  must: {a.md: b}\n", "line 2: dict in `must` names no memory"),
        ("- ask: a?\n  must: ../a.md\n", "line 2: "),
        ("- ask: a?\n  must: /etc/a.md\n", "line 2: "),
        ("- ask: a?\n  must: MEMORY.md\n", "line 2: "),
        ("- ask: a?\n  must: logs/2026/a.md\n", "line 2: "),
        ("- ask: a?\n  must: ''\n", "line 2: "),
        ("- ask: a?\n  must: a.md\n  must_not: [b.md, a.md]\n", "line 3: a.md can't be both"),
        ("- ask: a?\n  must: [a.md, b.md, c.md, d.md, e.md, f.md]\n", "line 2: recall brings 5"),
        ("- ask: a?\n  must: a.md\n  musn't: b.md\n", 'line 3: "musn\'t" is no part of a probe'),
        ("- ask: a?\n  must: a.md\n  <<: {}\n", 'line 3: "<<" is no part of a probe'),
        ("- ask: a?\n  must: a.md\n  ask: b?\n  must: b.md\n", '"must" stands there twice'),
        ("-\n  ask: a?\n  # ask:\n\n  ask: b?\n  must: b.md\n", 'line 5: "ask" stands there twice'),
        ("- a?\n", "line 1: a probe begins with `ask:`"),
        ("# mine\n---\n\nask: a?\nmust: a.md\n", "line 4: this is no list"),
        ("a?\n", "line 1: this is no list"),
        ("- ask: a?\n  must: a.md\n---\n- ask: b?\n  must: a.md\n", "line 3: there are several documents"),
        ("- ask: a?\n  must: a.md\n- ask: b?\n   must: a.md\n", "line 4: .* indented otherwise"),
        ('- ask: a?\n  must: "a\\nb.md"\n', "line 2: "),
        ("- ask: a?\n  must: team/a.md\n", "line 2: "),
        ("- ask: a?\n  must: 'a.md\n", "line 2"),
        ("- ask: what: that?\n  must: a.md\n", "line 1: there is a `: ` within a text"),
        ("- ask: a?\n  must: &x a.md\n- ask: b?\n  must: *x\n", "line 2: `&` begins an anchor"),
        ("- ask: a?\n  must:\n    &x a.md\n", "line 3: `&` begins an anchor"),
        ('- {"ask":&x a?}\n', "line 1: `&` begins an anchor"),
        ("- ask: a?\n  must: *x\n", "line 2: `\\*` refers to an anchor"),
        ("- ask: !!binary a?\n  must: a.md\n", "line 1: "),
        ("- ask: !x a?\n  must: a.md\n", "line 1: `ask` is the prompt"),
        ("- ask: a?\n  must: a.md\n- - - - b\n", "line 3: lists within lists"),
        ("- ask: a\x00b?\n  must: a.md\n", "line 1: there is a control character"),
        ("- [ask: a?, must: a]\n", "line 1: a probe begins with"),
        ("[{ask: a?, must: a.md}, {ask: b?, must: b}]\n", 'probe 2: "b" in `must` names no memory'),
    ],
)
def test_a_mistake_is_told_with_its_line_D8(text: str, told: str) -> None:
    with pytest.raises(BadProbes, match=told) as raised:
        parse(text.encode())
    assert str(raised.value).startswith("probes.yaml")
    assert raised.value.exit_code == 2
    assert raised.value.hint


def test_files_that_are_not_there_are_known_D8() -> None:
    asked = (probe("where?", must=("a.md", "gone.md")), probe("how?", must=("a.md",), must_not=("old.md",)))
    assert absent(asked, {"a.md", "b.md"}) == ("gone.md", "old.md")


def test_what_is_not_utf8_is_told_with_its_line_D8() -> None:
    with pytest.raises(BadProbes, match="line 2: this is not UTF-8"):
        parse(b"# fine\n- ask: \xff\n")


def test_the_file_has_a_longest_and_a_most_D8() -> None:
    one = "- {ask: a?, must: a.md}\n"
    assert len(parse(one.encode() * probes.MOST)) == probes.MOST
    with pytest.raises(BadProbes, match="501 probes"):
        parse(one.encode() * (probes.MOST + 1))
    with pytest.raises(BadProbes, match="64 KiB"):
        parse(b"#" * (probes.LONGEST + 1))


def test_no_file_brings_the_process_down_D8(tmp_path: Path) -> None:
    """The library is not made for hostile files: a list in a list in a list ends the process."""
    script = tmp_path / "read.py"
    script.write_text(
        "import sys; from pathlib import Path; from memdir.dream.probes import BadProbes, parse\n"
        "for file in sorted(Path(sys.argv[1]).iterdir()):\n"
        "    try: parse(file.read_bytes())\n"
        "    except BadProbes: pass\n"
        "print('done')\n"
    )
    (tmp_path / "hostile").mkdir()
    marks = [
        ": : ",
        "- ",
        "? ",
        ": ",
        "[",
        "{",
        "a: ",
        "!a ",
        "*a ",
        "'",
        '"',
        "| ",
        "> ",
        "\n",
        "  ",
        ",",
        "- ? ",
    ]
    chance = random.Random(8)
    texts = [mark * (probes.LONGEST // len(mark)) for mark in marks]
    texts += [
        "".join(" " * depth + "-\n" for depth in range(350)),
        "".join(" " * n + "?\n" for n in range(350)),
    ]
    texts += ["".join(chance.choices(marks, k=400)) for _ in range(150)]
    for number, text in enumerate(texts):
        (tmp_path / "hostile" / str(number)).write_text(text)
    ran = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "hostile")], capture_output=True, text=True, timeout=120
    )
    assert (ran.returncode, ran.stdout) == (0, "done\n")


def test_without_a_file_there_are_no_probes_D8(tmp_path: Path) -> None:
    assert probes.load(tmp_path) == ()
    assert probes.load(tmp_path / "missing") == ()
    assert probes.named(tmp_path) == ()


def test_no_link_is_followed_and_no_pipe_waited_for_D8(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.yaml").write_text("- {ask: a?, must: a.md}\n")
    memory = tmp_path / "memory"
    memory.mkdir()
    (memory / probes.NAME).symlink_to(tmp_path / "elsewhere.yaml")
    with pytest.raises(UnsafePath):
        probes.load(memory)
    assert probes.named(memory) == ()
    (memory / probes.NAME).unlink()
    os.mkfifo(memory / probes.NAME)
    with pytest.raises(UnsafePath):
        probes.load(memory)


def test_the_files_that_must_be_brought_are_named_once_D8(tmp_path: Path) -> None:
    text = "- {ask: a?, must: [b.md, a.md], must_not: c.md}\n- {ask: b?, must: b.md}\n"
    (tmp_path / probes.NAME).write_text(text)
    assert probes.named(tmp_path) == ("a.md", "b.md")
    (tmp_path / probes.NAME).write_text("- broken: [\n")
    assert probes.named(tmp_path) == ()


def test_the_example_is_one_D8() -> None:
    assert [one.must for one in parse(probes.EXAMPLE.encode())] == [("tools.md",)]


# -- asking ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("brought", "missing", "unwanted", "sentence"),
    [
        (("a.md",), (), (), 'asked "a?", recall brings what it must'),
        (("x.md", "a.md"), (), (), 'asked "a?", recall brings what it must'),
        ((), ("a.md",), (), 'asked "a?", recall does not bring a.md'),
        (("b.md", "a.md"), (), ("b.md",), 'asked "a?", recall brings b.md, which it must not'),
        (
            ("b.md", "c.md"),
            ("a.md",),
            ("b.md", "c.md"),
            'asked "a?", recall does not bring a.md and brings b.md and c.md, which it must not',
        ),
    ],
)
def test_a_result_says_what_is_missing_and_what_is_unwanted_D8(
    brought: tuple[str, ...], missing: tuple[str, ...], unwanted: tuple[str, ...], sentence: str
) -> None:
    asked: list[str] = []

    def ask(prompt: str) -> tuple[str, ...]:
        asked.append(prompt)
        return brought

    (result,) = run([probe(must_not=("b.md", "c.md"))], ask)
    assert (result.missing, result.unwanted, result.sentence) == (missing, unwanted, sentence)
    assert result.ok == (not missing and not unwanted)
    assert asked == ["a?"]


def test_a_long_prompt_is_not_quoted_whole_D8() -> None:
    assert len(Result(probe=probe("why " * 100), brought=()).sentence) < 120


@pytest.mark.parametrize(
    ("before", "after", "is_new"),
    [
        (("a.md", "b.md"), ("a.md", "b.md"), False),
        (("a.md", "b.md"), ("a.md",), True),
        (("a.md",), ("a.md",), False),  # broken before, in the same way
        (("a.md",), ("b.md",), True),  # broken in another
        (("a.md",), ("a.md", "b.md"), False),  # mended
        (("a.md", "b.md"), ("a.md", "b.md", "x.md"), True),
        (("a.md", "b.md", "x.md"), ("a.md", "b.md", "x.md"), False),
        (("a.md", "x.md"), ("a.md", "b.md", "y.md"), True),
    ],
)
def test_a_fault_is_new_if_it_was_not_there_before_D8(
    before: tuple[str, ...], after: tuple[str, ...], is_new: bool
) -> None:
    asked = probe(must=("a.md", "b.md"), must_not=("x.md", "y.md"))
    was, now = Result(probe=asked, brought=before), Result(probe=asked, brought=after)
    assert newly_broken((was,), (now,)) == ((now,) if is_new else ())


def test_of_a_probe_that_was_not_asked_before_any_fault_is_new_D8() -> None:
    now = Result(probe=probe(), brought=())
    assert newly_broken((), (now,)) == (now,)


# -- with recall -------------------------------------------------------------------------------------------


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    folder.mkdir()
    for name, text in {
        "tools.md": "Packages are installed with uv, our package manager\n",
        "deploy.md": "The shop is deployed on Tuesdays with the script ship.sh\n",
        "lunch.md": "Lunch is at noon\n",
    }.items():
        (folder / name).write_text(text)
    (folder / probes.NAME).write_text(
        "- {ask: which package manager do we use?, must: tools.md, must_not: lunch.md}\n"
        "- {ask: when is the shop deployed?, must: deploy.md}\n"
    )
    return folder


def test_a_memory_that_is_gone_breaks_its_probe_D8(memory: Path) -> None:
    asked = probes.load(memory)
    with Asking(memory, now=NOW, cached=False) as ask:
        before = run(asked, ask)
        (memory / "deploy.md").unlink()
        after = run(asked, ask)
    assert [result.ok for result in before] == [True, True]
    assert [result.probe.must for result in newly_broken(before, after)] == [("deploy.md",)]


def test_asking_about_a_copy_leaves_nothing_behind_D8(memory: Path, tmp_path: Path) -> None:
    home, before = Path.home(), tree(memory)
    with Asking(memory, now=NOW, cached=False) as ask:
        found = [result.brought for result in run(probes.load(memory), ask)]
    assert found == [("tools.md",), ("deploy.md",)]
    assert select_local(memory, "which package manager do we use?", now=NOW, cached=False) == ["tools.md"]
    assert tree(memory) == before
    assert list(home.rglob("*")) == []
    assert select_local(memory, "which package manager do we use?", now=NOW) == ["tools.md"]
    assert list(home.rglob("index-*.sqlite")), "otherwise the index is kept"
