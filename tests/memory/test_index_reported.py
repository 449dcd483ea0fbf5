"""What users of other programs reported of search and recall, held against the index and the selector.

b158, b159 ...: the numbers of the reports, each with its link.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memdir.memory import topic
from memdir.memory.index import Index, Term
from memdir.memory.words import words
from memdir.recall import local

NOW = datetime(2026, 11, 29, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    folder.mkdir()
    put(folder, "canary.md", "The canary takes ten percent of the traffic.")
    put(folder, "lag.md", "The replica lags behind.")
    return folder


def put(folder: Path, name: str, text: str, *, title: str = "", kind: str = "project") -> None:
    whole = topic.render(name=name.removesuffix(".md"), description=title or None, type=kind, body=text)
    (folder / name).write_text(whole, encoding="utf-8")


def found(memory: Path, query: str) -> list[str]:
    with closing(Index(str(memory), cache=None, clock=time.time_ns)) as one:
        one.refresh()
        return [hit.file for hit in one.rank([Term(word) for word in dict.fromkeys(words(query))])]


def chosen(memory: Path, query: str) -> list[str]:
    with closing(Index(str(memory), cache=None, clock=time.time_ns)) as one:
        one.refresh()
        return [verdict.file for verdict in local.judge(query, one, now=NOW) if verdict.chosen]


@pytest.mark.parametrize("query", ["しりとり", "成語接龍"])
def test_b158_japanese_and_chinese_is_found_M6(memory: Path, query: str) -> None:
    """https://github.com/openclaw/openclaw/issues/20730"""
    put(memory, "game.md", "成語接龍のルール: 「しりとり」と同じで、最後の字から始める。")
    assert found(memory, query) == ["game.md"]


@pytest.mark.parametrize("query", ["雾凇拼音", "雾凇拼音怎么装", "请问雾凇拼音的词库在哪里"])
def test_b159_a_query_in_unspaced_chinese_is_found_M6(memory: Path, query: str) -> None:
    """https://github.com/basicmachines-co/basic-memory/issues/1533"""
    put(memory, "ime.md", "我们用雾凇拼音做输入法的词库")
    assert found(memory, query)[:1] == ["ime.md"]


@pytest.mark.parametrize("query", ["队列", "负责人", "小李"])
def test_b160_a_chinese_query_of_two_characters_is_found_M6(memory: Path, query: str) -> None:
    """https://github.com/NousResearch/hermes-agent/issues/11511"""
    put(memory, "queue.md", "消息队列的负责人是小李")
    assert found(memory, query) == ["queue.md"]


@pytest.mark.parametrize(
    "query",
    [
        "src/lib",
        '"src/lib',
        "src/lib*",
        "^src/lib",
        "src/lib:",
        "-src/lib",
        "+src/lib",
        "{src/lib}",
        "(src/lib",
        "src/lib) OR (",
        "NEAR(src/lib, 2)",
        "NOT src/lib",
        "AND src/lib OR",
        "terms:src/lib",
        "'; drop table files; -- src/lib",
        "src/lib \x00 \ufffe",
    ],
)
def test_b161_nothing_that_is_typed_is_a_query_language_M6(memory: Path, query: str) -> None:
    """https://github.com/spences10/ccrecall/issues/23"""
    put(memory, "loader.md", "the loader lives in src/lib")
    assert found(memory, query) == ["loader.md"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("カナリアリリースは火曜日", "カナリア"),
        ("배포는 화요일에만 한다", "배포는"),
        ("the ＧＡＮＴＲＹ server", "gantry"),
        ("the gantry server", "ＧＡＮＴＲＹ"),
        ("ｶﾅﾘｱは火曜日", "カナリア"),
        ("caf\u00e9 gantry", "cafe\u0301"),
        ("cafe\u0301 gantry", "caf\u00e9"),
        ("ガントリー", "カ\u3099ントリー"),
        ("we ship 🚀 with gantry", "gantry 🚀"),
        ("GANTRY", "gantry"),
        ("die Straße", "STRASSE"),
    ],
    ids=[
        "katakana", "hangul", "full width", "full width asked", "half width", "NFC", "NFD", "NFD kana",
        "emoji", "case", "folding",
    ],
)  # fmt: skip
def test_b160_a_word_is_found_in_any_form_of_it_M6(memory: Path, text: str, query: str) -> None:
    put(memory, "one.md", text)
    assert found(memory, query) == ["one.md"]


def test_b162_files_are_read_as_utf8_whatever_the_locale_M6(memory: Path, tmp_path: Path) -> None:
    """https://github.com/vectorize-io/hindsight/pull/1119"""
    put(memory, "deploy.md", "部署到生产环境 naïve → ok")
    script = (
        "import sys, time\nfrom memdir.memory.index import Index\n"
        "one = Index(sys.argv[1], cache=sys.argv[2], clock=time.time_ns); one.refresh()\n"
        "print(ascii(one.standing(['\\u90e8\\u7f72', 'na\\xefve'])))\n"
    )
    away = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-c", script, str(memory), str(tmp_path / "cache")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **away})
    assert (done.stdout, done.stderr) == ("{'\\u90e8\\u7f72': 1, 'na\\xefve': 1}\n", "")


def test_b091_a_memory_that_was_superseded_gives_its_place_to_the_new_one_R9(memory: Path) -> None:
    """https://github.com/mem0ai/mem0/issues/5576"""
    put(memory, "old_host.md", "Staging runs on gantry-1. Superseded by `new_host.md`.", title="staging host")
    put(memory, "new_host.md", "Staging runs on gantry-2.", title="staging host")
    assert chosen(memory, "on which host does staging run?") == ["new_host.md"]


def test_b094_a_correction_comes_back_before_the_act_it_is_about_R9(memory: Path) -> None:
    """https://github.com/anthropics/claude-code/issues/43393"""
    put(
        memory,
        "commits.md",
        "Never amend commits; make a new one.",
        title="never amend commits",
        kind="feedback",
    )
    assert chosen(memory, "fix the typo and amend the commit") == ["commits.md"]
    assert chosen(memory, "fix the typo in the header") == []


def test_b098_what_one_project_knows_is_not_told_in_another_M6(memory: Path, tmp_path: Path) -> None:
    """https://github.com/openai/codex/issues/23658: here even where both were given one cache."""
    other = tmp_path / "other"
    other.mkdir()
    put(other, "tabs.md", "The replica is indented with tabs.")
    clock, cache = time.time_ns, str(tmp_path / "cache")
    with (
        closing(Index(str(memory), cache=cache, clock=clock)) as first,
        closing(Index(str(other), cache=cache, clock=clock)) as second,
    ):
        for index, files in ((first, ["lag.md"]), (second, ["tabs.md"])) * 2:
            index.refresh()
            assert [hit.file for hit in index.rank([Term("replica")])] == files


def test_b188_the_work_of_an_edit_does_not_grow_with_the_store_M6(memory: Path, tmp_path: Path) -> None:
    """https://github.com/rohitg00/agentmemory/issues/1299: every write rewrote all there was."""
    written: list[int] = []
    with closing(Index(str(memory), cache=str(tmp_path / "cache"), clock=time.time_ns)) as one:
        for size in (100, 2_000):
            for at in range(one.size, size):
                put(memory, f"m{at}.md", f"gantry number{at}")
            while one.refresh():
                pass
            put(memory, "m7.md", f"plinth {size}")
            before = one._connection.total_changes
            assert one.refresh() == 1
            written.append(one._connection.total_changes - before)
    assert written[1] <= written[0] + 5
