"""What a plan comes to, as things stand: nobody's line is lost, and nothing else is touched (D8)."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from memdir.dream.files import Snapshot
from memdir.dream.plan import derive
from memdir.dream.plan.facts import facts, same_words
from memdir.dream.plan.reasons import Reasons
from memdir.dream.swaps import Decided, Found, changed, swaps_of
from memdir.memory import entrypoint
from memdir.memory.pointer import key
from tests.dream.desk import INDEX, NOW, made, topic

Files = dict[str, bytes]

NAMES = ("a.md", "b.md", "c.md", "deep/d.md", "e.md")
LINES = (
    "Deploys go to blue first.",
    "The build takes an hour.",
    "Tests run on every push.",
    "Invoices are sent on the first of the month.",
    "Ines keeps the keys of the office.",
    "The office is in Lisbon.",
    "Backups are kept for 30 days.",
    "- never push to main on Fridays",
)
PROSE = ("Ask before you delete.", "Releases happen on Thursdays.")
MINE = ("The person's own line.", "Another one of theirs.")


def _topics(lines: tuple[str, ...]) -> st.SearchStrategy[Files]:
    body = st.lists(st.sampled_from(lines), max_size=4, unique=True)
    data = body.map(lambda chosen: topic(*chosen))
    return st.dictionaries(st.sampled_from(NAMES), data, max_size=len(NAMES))


@st.composite
def directories(draw: st.DrawFn, lines: tuple[str, ...] = LINES, prose: tuple[str, ...] = PROSE) -> Files:
    """Topics with an entry each, prose in the index, some entries missing and some that lead nowhere."""
    files = draw(_topics(lines))
    said = draw(st.lists(st.sampled_from(prose), max_size=2, unique=True))
    pointed = [file for file in files if draw(st.integers(0, 9))]
    if not draw(st.integers(0, 9)):
        pointed.append("ghost.md")
    entries = [f"- [{file}]({file}) — {draw(st.sampled_from(('', 'a hook', 'another')))}" for file in pointed]
    order = draw(st.permutations(entries))
    text = "".join(f"{line}\n\n" for line in said) + "".join(f"{line}\n" for line in order)
    return {**files, INDEX: text.encode()} if draw(st.integers(0, 9)) else files


@st.composite
def later(draw: st.DrawFn, before: Files) -> Files:
    """What somebody made of it meanwhile: not much, or something else altogether."""
    if not draw(st.integers(0, 4)):
        return draw(directories((*LINES, *MINE), (*PROSE, *MINE)))
    files = dict(before)
    for _ in range(draw(st.integers(0, 3))):
        file = draw(st.sampled_from((*NAMES, INDEX)))
        match draw(st.sampled_from(("append", "insert", "remove line", "delete", "create"))):
            case "append" if file in files:
                files[file] += f"\n{draw(st.sampled_from(MINE))}\n".encode()
            case "insert" if file in files:
                lines = files[file].decode().splitlines(keepends=True)
                lines.insert(len(lines) // 2, f"{draw(st.sampled_from(MINE))}\n")
                files[file] = "".join(lines).encode()
            case "remove line" if file in files:
                lines = files[file].decode().splitlines(keepends=True)
                del lines[-1:]
                files[file] = "".join(lines).encode()
            case "delete":
                files.pop(file, None)
            case "create" if file not in files:
                data = topic(draw(st.sampled_from(MINE)))
                files[file] = data if file != INDEX else b"The person's own line.\n"
    return files


@st.composite
def triples(draw: st.DrawFn) -> tuple[Files, Files, Files]:
    before = draw(directories())
    return before, draw(st.one_of(directories(), later(before))), draw(later(before))


def snapshot_of(files: Files, first: int = 0) -> Snapshot:
    return Snapshot(files=files, mtimes={file: first + number for number, file in enumerate(sorted(files))})


def decided(before: Files, after: Files, current: Files) -> Decided:
    was, made_of_it = snapshot_of(before), snapshot_of(after, 100)
    found = Found(
        files={file: (data, 1_000) for file, data in current.items()},
        there=set(current) - {INDEX},
    )
    return swaps_of(was, made_of_it, derive(was, made_of_it, Reasons()), found, now=NOW)


def result(current: Files, done: Decided) -> Files:
    files: dict[str, bytes | None] = {**current, **{swap.file: swap.then for swap in done.swaps}}
    return {file: data for file, data in files.items() if data is not None}


def words(files: Mapping[str, bytes]) -> set[str]:
    """All that is said in them; entries of the index say nothing that is not in their file."""
    return {
        same_words(line)
        for file, data in files.items()
        for line in facts(file, data)
        if file != INDEX or not line.startswith("[")
    }


@settings(max_examples=100)
@given(triples())
def test_no_line_that_somebody_wrote_meanwhile_is_ever_lost_D8(triple: tuple[Files, Files, Files]) -> None:
    before, after, current = triple
    done = decided(before, after, current)
    then = result(current, done)
    for file, data in current.items():
        was = words({file: before.get(file, b"")})
        own = words({file: data}) - was
        assert own <= words(then)


@settings(max_examples=100)
@given(triples())
def test_no_line_is_lost_that_the_plan_does_not_give_up_D8(triple: tuple[Files, Files, Files]) -> None:
    before, after, current = triple
    was, made_of_it = snapshot_of(before), snapshot_of(after)
    given_up = {
        same_words(line.text)
        for line in derive(was, made_of_it, Reasons()).lines
        if line.fate in ("dropped", "lost", "reworded")
    }
    then = result(current, decided(before, after, current))
    assert words(current) - words(then) <= given_up


@settings(max_examples=100)
@given(triples())
def test_nothing_but_what_the_plan_names_and_the_index_is_touched_D8(
    triple: tuple[Files, Files, Files],
) -> None:
    before, after, current = triple
    was, made_of_it = snapshot_of(before), snapshot_of(after)
    plan = derive(was, made_of_it, Reasons())
    done = decided(before, after, current)
    assert {swap.file for swap in done.swaps} <= {*plan.files, INDEX}
    for swap in done.swaps:
        assert swap.now == current.get(swap.file) != swap.then
    assert {one.file for one in done.left} <= {*changed(was, made_of_it, plan), INDEX}


@settings(max_examples=100)
@given(triples())
def test_each_memory_keeps_its_entry_and_no_entry_of_ours_leads_nowhere_F6(
    triple: tuple[Files, Files, Files],
) -> None:
    before, after, current = triple
    then = result(current, decided(before, after, current))
    text = then.get(INDEX, b"").decode()
    had = entrypoint.linked(current.get(INDEX, b"").decode())
    for file in then:
        if file != INDEX and (key(file) in had or file not in current):
            assert key(file) in entrypoint.linked(text)
    theirs = {pointer.file for pointer in entrypoint.pointers(current.get(INDEX, b"").decode())}
    nowhere = {pointer.file for pointer in entrypoint.pointers(text)} - then.keys()
    assert nowhere <= theirs - before.keys() - after.keys() | (theirs - current.keys())


@settings(max_examples=60)
@given(directories(), directories())
def test_where_nothing_came_in_between_it_is_as_the_plan_says_D8(before: Files, after: Files) -> None:
    done = decided(before, after, before)
    then = result(before, done)
    assert {file: data for file, data in then.items() if file != INDEX} == {
        file: data for file, data in after.items() if file != INDEX
    }
    assert done.left == ()
    if then == after:
        again = decided(before, after, then)
        assert (again.swaps, again.left) == ((), ())


@settings(max_examples=60)
@given(triples())
def test_what_is_decided_twice_is_done_once_D8(triple: tuple[Files, Files, Files]) -> None:
    before, after, current = triple
    first = decided(before, after, current)
    assert first == decided(before, after, current)


def test_an_mtime_that_a_merged_file_gets_is_the_newest_of_both_M5() -> None:
    before = {"a.md": topic("one", "two", "three")}
    after = {"a.md": topic("one changed", "two", "three")}
    current = {"a.md": topic("one", "two", "three", "four")}
    was, plan = snapshot_of(before), derive(snapshot_of(before), snapshot_of(after), Reasons())
    for mtimes, expected in (({"a.md": 70}, 80), ({"a.md": 90}, 90), ({}, None)):
        made_of_it = made(was, dict(after), mtimes=mtimes)
        found = Found(files={"a.md": (current["a.md"], 80)}, there={"a.md"})
        (swap,) = swaps_of(was, made_of_it, plan, found, now=NOW).swaps
        assert swap.then is not None
        assert facts("a.md", swap.then) == ("one changed", "two", "three", "four")
        assert swap.then_mtime_ns == expected
