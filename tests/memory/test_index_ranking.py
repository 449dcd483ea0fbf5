"""The ranking of an index of any size is that of a plain one over all files (memory/index/, M6)."""

from __future__ import annotations

import os
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from math import fsum
from pathlib import Path
from random import Random

import pytest

from memdir.memory import topic
from memdir.memory.index import Index, Term, index
from memdir.memory.rank import allowance, count, rarity
from memdir.memory.words import words
from memdir.recall import local

MANY = 3_000
COMMON = ("deploy", "service", "error", "cache", "token")
KINDS = ("project", "feedback", "user", "reference")
NOW = datetime(2026, 11, 29, tzinfo=UTC)


def texts(seed: int, files: int) -> dict[str, str]:
    """Small memories: a few common words, some of a middling number, one or two of their own."""
    chance = Random(seed)
    middling = [f"subject{at}" for at in range(150)]
    weights = [1 / (at + 1) for at in range(150)]
    made: dict[str, str] = {}
    for at in range(files):
        title = " ".join(chance.choices(middling, weights, k=chance.randint(1, 2)))
        said = chance.choices(middling, weights, k=chance.randint(3, 12)) + chance.choices(COMMON, k=3)
        chance.shuffle(said)
        made[f"m{at}.md"] = (
            f"---\nname: {title}\ndescription: {chance.choice(middling)} {chance.choice(COMMON)}\n"
            f"type: {chance.choice(KINDS)}\n---\n# part{at % 90}\n{' '.join(said)} own{at}\n"
        )
    return made


def write(folder: Path, made: dict[str, str], names: Sequence[str]) -> None:
    for name in names:
        (folder / name).write_text(made[name], encoding="utf-8")


def index_of(folder: Path, cache: Path | None = None) -> Index:
    return Index(str(folder), cache=None if cache is None else str(cache), clock=time.time_ns)


def plain(made: dict[str, str], query: Sequence[Term]) -> list[tuple[float, str]]:
    """BM25 over all of it, with nothing clever: the rules of `memory.rank` and no others."""
    counted: dict[str, dict[str, int]] = {}
    for name, text in made.items():
        one = topic.parse(text.encode(), filename=name)
        headings = "\n".join(line for line in one.body.splitlines() if line.startswith("#"))
        called, described = f"{name.removesuffix('.md')} {one.name}", one.description or ""
        counted[name] = count({
            "name": called, "description": described, "headings": headings, "body": one.body,
        })  # fmt: skip
    standing = Counter(word for said in counted.values() for word in said)
    mean = sum(sum(said.values()) for said in counted.values()) / len(counted)
    scored: list[tuple[float, str]] = []
    for name, said in counted.items():
        slack = allowance(sum(said.values()), mean)
        shares = [
            term.weight * rarity(standing[term.word], len(counted)) * (halves / (halves + slack))
            for term in query
            if (halves := said.get(term.word))
        ]
        if shares:
            scored.append((-fsum(shares), name))
    return sorted(scored)


def queries(seed: int, number: int) -> Iterator[list[Term]]:
    """Prompts as they come: some words that many files have, some that few have, one that none has."""
    chance = Random(seed)
    for _ in range(number):
        said = [f"subject{int(chance.triangular(0, 150, 10))}" for _ in range(chance.randint(2, 6))]
        said += [chance.choice(COMMON), f"part{chance.randrange(90)}", "nowhere"]
        said += [f"own{chance.randrange(MANY)}"] * (chance.random() < 0.3)
        yield terms_of(" ".join(said))


def terms_of(text: str) -> list[Term]:
    return [Term(word) for word in dict.fromkeys(words(text))]


@pytest.fixture(scope="module")
def many() -> dict[str, str]:
    return texts(1, MANY)


@pytest.fixture(scope="module")
def library(many: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("memory")
    write(folder, many, list(many))
    with closing(index_of(folder)) as made:
        made.refresh()
        yield made


def test_in_a_small_directory_every_score_is_that_of_a_plain_ranking_M6(tmp_path: Path) -> None:
    made = texts(2, index.SMALL)
    write(tmp_path, made, list(made))
    with closing(index_of(tmp_path)) as small:
        small.refresh()
        for query in queries(3, 10):
            found = [(-hit.score, hit.file) for hit in small.rank(query, depth=1_000)]
            assert found == plain(made, query)


def test_among_thousands_the_best_five_are_those_of_a_plain_ranking_M6(
    many: dict[str, str], library: Index
) -> None:
    for query in queries(4, 25):
        found = [(-hit.score, hit.file) for hit in library.rank(query)]
        assert found[:5] == plain(many, query)[:5], [term.word for term in query]
        assert found == sorted(found)


def test_whatever_the_order_they_came_in_the_answer_is_the_same_M6(
    many: dict[str, str], library: Index, tmp_path: Path
) -> None:
    """Neither ids nor the order in which files are read may show: equals go by path."""
    names = list(many)
    Random(5).shuffle(names)
    with closing(index_of(tmp_path)) as other:
        for at in range(0, MANY, 1_000):
            write(tmp_path, many, names[at : at + 1_000])
            (tmp_path / "passing.md").write_text(f"subject1 own{at} passing{at}")
            other.refresh()
        (tmp_path / "passing.md").unlink()
        other.refresh()
        for query in queries(6, 10):
            mine = [(hit.file, hit.score, hit.words) for hit in library.rank(query)]
            assert [(hit.file, hit.score, hit.words) for hit in other.rank(query)] == mine


def test_files_that_score_the_same_come_by_path_M6(tmp_path: Path) -> None:
    for name in ("b.md", "a.md", "c.md"):
        (tmp_path / name).write_text("---\nname: x\n---\nfrost\n")
    with closing(index_of(tmp_path)) as same:
        same.refresh()
        hits = same.rank([Term("frost")])
        assert [hit.file for hit in hits] == ["a.md", "b.md", "c.md"]
        assert len({hit.score for hit in hits}) == 1


def test_of_more_equals_than_are_looked_at_it_takes_the_newest_M6(tmp_path: Path) -> None:
    for at in range(index.MOST + 300):
        (tmp_path / f"m{at}.md").write_text("---\nname: x\n---\nfrost\n")
        os.utime(tmp_path / f"m{at}.md", (at, at))
    with closing(index_of(tmp_path)) as level:
        level.refresh()
        found = {hit.file for hit in level.rank([Term("frost")])}
        assert found == {f"m{at}.md" for at in range(300, index.MOST + 300)}


# -- bounded work --------------------------------------------------------------------------------------------


def test_a_long_prompt_costs_work_by_budget_and_not_by_its_words(library: Index) -> None:
    """Each of a thousand words that are in the directory must not be looked up among all the others."""
    paste = " ".join(f"own{at} subject{at % 150} part{at % 90}" for at in range(100_000))
    assert len(paste) > 10**6
    statements: list[str] = []
    library._connection.set_trace_callback(statements.append)
    local.judge(paste, library, now=NOW)
    library._connection.set_trace_callback(None)
    asked = [said for said in statements if said.startswith("select rowid from postings")]
    assert 0 < len(asked) < 2 * index.BUDGET
    assert sum(said.count(" OR ") + 1 for said in asked) < 2 * (index.BUDGET + index.REFINED)


@pytest.mark.parametrize(
    "query",
    ["", " \n", "?!", "🚀", "the of and", "\x00", "\ud800"],
    ids=["empty", "blank", "marks", "emoji", "stop words", "NUL", "half a character"],
)
def test_a_prompt_without_a_word_finds_nothing(library: Index, query: str) -> None:
    assert library.rank(terms_of(query)) == []
    assert local.judge(query, library, now=NOW) == []


def test_b164_what_nobody_says_any_more_is_not_kept_M6(tmp_path: Path) -> None:
    """A note that is written anew every day, with words of its own, must not make the index grow.

    As in https://github.com/rohitg00/agentmemory/issues/1374, which kept every reference for good.
    """
    memory, cache = tmp_path / "memory", tmp_path / "cache"
    memory.mkdir()
    (memory / "still.md").write_text("frost")
    with closing(index_of(memory, cache)) as one:
        for day in range(30):
            (memory / "today.md").write_text(" ".join(f"day{day}word{at}" for at in range(40)))
            one.refresh()
    with closing(sqlite3.connect(next(cache.glob("*.sqlite")))) as connection:
        kept = {term for (term,) in connection.execute("select term from terms")}
    assert "frost" in kept
    assert {term for term in kept if term.startswith("day")} <= set(words((memory / "today.md").read_text()))
