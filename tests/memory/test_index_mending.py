"""The index put right by rules: what is taken out stands elsewhere, twice is the same as once (F6, F7)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdir.memory import entrypoint
from memdir.memory.index_lines import counting
from memdir.memory.index_mending import Listed, faults, listed, mended, wanting
from memdir.memory.pointer import LENGTH, entry, key
from memdir.memory.store import MemoryDir
from memdir.memory.topic import render

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
DAY = 86_400_000_000_000


def _topic(
    file: str, says: str = "We deploy with kiln on port 8443.", *, day: int = 0, body: str = ""
) -> Listed:
    text = render(name=file.removesuffix(".md"), description=says, type="project", body=body)
    return listed(file, text.encode(), day * DAY)


def _kinds(text: str, topics: list[Listed]) -> list[tuple[str, int | None]]:
    return [(fault.kind, fault.line) for fault in faults(text, topics)]


TABLE = {
    "a missing entry is added": (
        "# Mine\n- [b](b.md) — x\n",
        ["a.md", "b.md"],
        "# Mine\n- [b](b.md) — x\n- [a](a.md) — We deploy with kiln on port 8443.\n",
    ),
    "a link in a sentence will do": ("See [a](a.md).\n", ["a.md"], None),
    "a dead entry goes": ("- [a](a.md) — x\n- [g](gone.md) — y\n", ["a.md"], "- [a](a.md) — x\n"),
    "one with text below it stays": ("- [a](a.md)\n- [g](gone.md) — y\n  and more\n", ["a.md"], None),
    "one in code is none": ("- [a](a.md)\n```\n- [g](gone.md)\n```\n", ["a.md"], None),
    "one in a comment is none": ("- [a](a.md)\n<!--\n- [g](gone.md)\n-->\n", ["a.md"], None),
    "of what is no topic nothing is known": (
        "- [a](a.md)\n- [t](team/t.md)\n- [l](logs/l.md)\n",
        ["a.md"],
        None,
    ),
    "it leads to the file that was moved": (
        "- **[My g](g.md#top)**: deploy by kiln\n- [h](<h h.md>) — deploy\n- [i](./i.md) — own words\n",
        ["sub/g.md", "sub/h h.md", "sub/i.md"],
        (
            "- **[My g](sub/g.md#top)**: deploy by kiln\n- [h](sub/h%20h.md) — deploy\n"
            "- [sub/i](sub/i.md) — We deploy with kiln on port 8443.\n"
        ),
    ),
    "it leads to the file in other letters": ("- [g](Tabs.md) — y\n", ["tabs.md"], "- [g](tabs.md) — y\n"),
    "two entries that say the same are one": (
        "- [a](a.md) — deploy\n- [a](a.md) — deploy with kiln\n- [a](a.md) — deploy\n",
        ["a.md"],
        "- [a](a.md) — deploy\n",
    ),
    "what the second says of its own is kept": (
        "- [a](a.md) — deploy\r\n\r\n* [a](./a.md) — ask Rosalind first\r\n",
        ["a.md"],
        "\r\n* [a](./a.md) — ask Rosalind first\r\n",
    ),
    "both say something of their own": (
        "- [a](a.md) — ask Rosalind first\n- [b](a.md) — only Tuesday mornings",
        ["a.md"],
        "- [a](a.md) — ask Rosalind first; only Tuesday mornings\n",
    ),
}


@pytest.mark.parametrize("case", TABLE)
def test_an_index_is_put_right_and_no_other_byte_changes_F6(case: str) -> None:
    before, files, after = TABLE[case]
    topics = [_topic(file) for file in files]
    text, did = mended(before, topics)
    assert text == (before if after is None else after)
    assert bool(did) == (after is not None)
    assert mended(text, topics) == (text, ())


def test_a_hook_is_cut_only_where_the_topic_says_the_rest_F6() -> None:
    long = (
        "We deploy with kiln on port 8443, " + "and never on a Friday because nobody is there to help, " * 4
    )
    topics = [_topic("a.md", body=long), _topic("b.md")]
    text, did = mended(f"- [a](a.md) — {long}\n- [b](b.md) — {long}\n", topics)
    first, second = text.splitlines()
    assert first.endswith("…")
    assert len(first) <= LENGTH
    assert second == f"- [b](b.md) — {long}"
    assert did == ("shortened the entry for a.md",)
    assert _kinds(text, topics) == [("long", 2)]


def test_a_figure_that_the_topic_lacks_is_never_cut_off_F6() -> None:
    words = "deploy with kiln, " * 12
    topics = [_topic("a.md", body=words)]
    assert mended(before := f"- [a](a.md) — {words} port 9000\n", topics).text == before


def test_where_very_many_entries_are_dead_files_are_missing_and_none_goes_F6() -> None:
    before = "".join(f"- [t](t{number}.md) — own words\n" for number in range(20))
    text, did = mended(before, [_topic("t0.md")])
    assert (text, did) == (before, ())
    assert [kind for kind, _ in _kinds(text, [_topic("t0.md")])] == ["dead"] * 19
    assert mended(before, [_topic("t0.md")], besides=[f"t{number}.md" for number in range(20)]).did == ()
    assert faults(before, [_topic("t0.md")], besides=[f"t{number}.md" for number in range(20)]) == ()


def test_a_secret_gets_no_entry_E10() -> None:
    topic = _topic("a.md", f"ghp_{'a1B2c3D4e5F6' * 3}")
    assert mended("", [topic]) == ("", ())
    assert wanting("", [topic]) == ()


def test_faults_are_named_by_line_once_each_F6() -> None:
    text = "# x\n- [a](a.md)\n- [g](g.md)\n- [a2](a.md)\n- [b](b.md) — " + "own " * 60 + "\n"
    topics = [_topic("a.md"), _topic("b.md"), _topic("c.md")]
    assert _kinds(text, topics) == [("dead", 3), ("twice", 4), ("long", 5), ("orphan", None)]


# -- the limits ------------------------------------------------------------------------------------------


def test_blank_lines_go_before_an_entry_does_F7() -> None:
    topics = [_topic(f"t{number}.md", day=number) for number in range(150)]
    text = "# Mine\n\n" + "\n".join(f"- [t{number}](t{number}.md) — deploy\n" for number in range(150))
    new, did = mended(text, topics)
    assert did == ("took blank lines out of MEMORY.md",)
    assert len(entrypoint.pointers(new)) == 150
    assert not entrypoint.load(new).truncated


def test_hooks_get_shorter_before_an_entry_goes_F7() -> None:
    says = "部署用 kiln，端口 8443，周五不要发布，因为没有人值班。" * 5
    topics = [_topic(f"t{number}.md", says, day=number) for number in range(80)]
    text = "".join(f"- [t{number}](t{number}.md) — {says}\n" for number in range(80))
    new, _ = mended(text, topics)
    assert len(entrypoint.pointers(new)) == 80
    assert entrypoint.load(new).bytes <= 0.7 * entrypoint.MAX_BYTES
    assert mended(new, topics) == (new, ())


@pytest.mark.parametrize("count", [201, 260, 1000])
def test_beyond_the_limits_the_oldest_entries_go_and_nothing_puts_them_back_F7(count: int) -> None:
    topics = [_topic(f"t{number}.md", day=number) for number in range(count)]
    own = "- [t3](t3.md) — ask Rosalind at extension 4711\n"
    text = own + "".join(f"- [t{number}](t{number}.md) — deploy\n" for number in range(count) if number != 3)
    new, did = mended(text, topics)
    (sentence,) = did
    assert sentence.startswith(f"took out the entries of the {count - 180} oldest memories")
    left = [pointer.file for pointer in entrypoint.pointers(new)]
    assert left == ["t3.md", *(f"t{number}.md" for number in range(count - 179, count))]
    assert faults(new, topics) == ()
    assert wanting(new, topics) == ()
    newer = [*topics, _topic("newest.md", day=count)]
    assert [one.file for one in wanting(new, newer)] == ["newest.md"]


def test_a_full_index_with_words_of_its_own_loses_none_and_says_so_F7() -> None:
    topics = [_topic(f"t{number}.md", day=number) for number in range(250)]
    text = "".join(f"- [t{number}](t{number}.md) — room {number + 1000}\n" for number in range(250))
    assert mended(text, topics) == (text, ())
    assert _kinds(text, topics) == [("limit", None)]


def test_a_start_and_a_tidying_agree_on_a_thousand_topics_F7(tmp_path: Path) -> None:
    """What one of them takes out the other does not put back, and what is new is seen."""
    memory = MemoryDir(tmp_path / "memory", trash=tmp_path / "trash")
    memory.prepare()
    topics = []
    for number in range(400):
        data = render(name=f"t{number}", description="We deploy with kiln.", type="project", body="").encode()
        memory.write(f"t{number}.md", data, expected=None, now=NOW, origin=None)
        status = (memory.directory / f"t{number}.md").stat()
        topics.append(
            listed(f"t{number}.md", (memory.directory / f"t{number}.md").read_bytes(), status.st_mtime_ns)
        )
    every = "".join(f"- [t{number}](t{number}.md) — We deploy with kiln.\n" for number in range(400))
    (memory.directory / "MEMORY.md").write_text(every)
    assert memory.mend() == []
    text, _ = mended(every, topics)
    (memory.directory / "MEMORY.md").write_text(text)
    assert memory.mend() == []
    (memory.directory / "new.md").write_text("Deploys are frozen.\n")
    assert memory.mend() == ["added a pointer to new.md"]
    assert "(new.md)" in entrypoint.load(memory.index()).text


# -- laws ------------------------------------------------------------------------------------------------

FILES = ["a.md", "b.md", "c d.md", "sub/e.md", "A.md", "e.md", "gone.md", "team/t.md", "é.md"]
HOOKS = [
    "",
    " — deploy with kiln",
    ": own words",
    " — port 9000",
    " — " + "deploy kiln " * 30,
    " — " + "own " * 70,
]
ENTRIES = st.builds(
    lambda lead, title, file, hook: f"{lead}[{title}](<{file}>){hook}",
    st.sampled_from(["- ", "* ", "  - ", "1. ", "- [x] ", "- see "]),
    st.sampled_from(["a", "My **b**", "c\\]", "x -->"]),
    st.sampled_from(FILES),
    st.sampled_from(HOOKS),
)
OTHERS = st.sampled_from(
    [
        "",
        "",
        "# Head",
        "prose",
        "  below",
        "    code",
        "```",
        "~~~",
        "<!-- c",
        "-->",
        "<!-- c -->",
        "---",
        "- item",
    ]
)
TEXTS = st.builds(
    lambda bom, lines, ends: bom + "".join(line + end for line, end in zip(lines, ends, strict=False)),
    st.sampled_from(["", "", "\ufeff", "---\nx: 1\n---\n"]),
    st.lists(ENTRIES | OTHERS, max_size=14),
    st.lists(st.sampled_from(["\n", "\n", "\r\n", "\r"]), min_size=14, max_size=14),
)
TOPICS = st.lists(st.sampled_from([*FILES[:6], "é.md"]), unique=True).map(
    lambda files: [_topic(file, day=number) for number, file in enumerate(files)]
)


def _prose(text: str) -> list[str]:
    return [
        line.text.strip("\r\n")
        for line in counting(text)
        if line.text.strip() and not (line.plain and entry(line.text))
    ]


@given(TEXTS, TOPICS)
@settings(max_examples=400, deadline=None)
def test_mending_twice_is_mending_once_and_no_prose_is_lost_F6(text: str, topics: list[Listed]) -> None:
    new, did = mended(text, topics)
    assert mended(new, topics) == (new, ())
    assert (new != text) == bool(did)
    assert _prose(new) == _prose(text)
    files = {key(one.file) for one in topics}
    assert entrypoint.linked(new) >= files
    assert entrypoint.linked(new) <= entrypoint.linked(text) | files
    assert wanting(new, topics) == ()


@given(
    st.lists(st.tuples(st.integers(0, 300), st.sampled_from(HOOKS), st.booleans()), max_size=300),
    st.sets(st.integers(0, 300), max_size=300),
    st.sampled_from(["We deploy with kiln.", "部署用 kiln，周五不要发布。" * 12]),
)
@settings(max_examples=40, deadline=None)
def test_at_the_limits_mending_twice_is_mending_once_F7(
    lines: list[tuple[int, str, bool]], numbers: set[int], says: str
) -> None:
    topics = [_topic(f"t{number}.md", says, day=number) for number in numbers]
    text = "".join(f"- [t](t{number}.md){hook}\n" + "\n" * gap for number, hook, gap in lines)
    new, _ = mended(text, topics)
    assert mended(new, topics) == (new, ())
    assert wanting(new, topics) == ()
    assert _excess(new) <= _excess(text)
    newest = sorted(topics, key=lambda one: one.mtime_ns)[-30:]
    without = {one.file for one in newest} - entrypoint.linked(new)
    assert without <= {one.file for one in faults(new, topics) if "no room" in one.reason}


def _excess(text: str) -> tuple[int, int]:
    """By how many lines and bytes an index is over its limits."""
    loaded = entrypoint.load(text)
    return max(0, loaded.lines - entrypoint.MAX_LINES), max(0, loaded.bytes - entrypoint.MAX_BYTES)


@pytest.mark.parametrize(("prose", "own", "new"), [(0, 150, 86), (300, 0, 20), (199, 0, 3), (60, 139, 120)])
def test_no_entry_is_added_beyond_the_limits_and_who_has_no_room_is_told_F7(
    prose: int, own: int, new: int
) -> None:
    topics = [_topic(f"t{number}.md", day=number) for number in range(own + new)]
    text = "Prose.\n" * prose
    text += "".join(f"- [t{number}](t{number}.md) — room {number + 1000}\n" for number in range(own))
    after, _ = mended(text, topics)
    assert after.startswith(text)
    assert entrypoint.load(after).lines == max(prose + own, min(prose + own + new, entrypoint.MAX_LINES))
    orphans = [one.file for one in faults(after, topics) if one.kind == "orphan"]
    newest = {f"t{number}.md" for number in range(own + new)[-100:]}
    assert set(orphans) == newest - entrypoint.linked(after)
    assert mended(after, topics) == (after, ())
