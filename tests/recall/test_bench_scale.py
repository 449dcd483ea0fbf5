"""The benchmark by size measures what it says (bench/scale.py), on memories that are what they claim
(bench/corpus.py)."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from bench import scale
from bench.corpus import KINDS, MOST, TARGETS, Corpus, File

from tests.cases import REPO


@pytest.fixture(scope="module")
def files() -> list[File]:
    return list(Corpus().files(1000))


# -- the memories and the prompts ----------------------------------------------------------------------------


def test_a_seed_makes_the_same_memories_and_prompts_in_every_process(files: list[File]) -> None:
    script = (
        "import hashlib; from bench.corpus import Corpus; c = Corpus()\n"
        "print(hashlib.sha256(repr([*c.files(50), *c.queries(50)]).encode()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    command = [sys.executable, "-c", script]
    other = subprocess.run(command, cwd=REPO, env=environment, check=True, capture_output=True, text=True)
    ours = hashlib.sha256(repr([*files[:50], *Corpus().queries(50)]).encode()).hexdigest()
    assert other.stdout.strip() == ours


def test_another_seed_makes_others(files: list[File]) -> None:
    assert next(Corpus(8).files(1)) != files[0]


def test_a_smaller_corpus_is_the_beginning_of_a_larger_one(files: list[File]) -> None:
    assert list(Corpus().files(1000, start=990)) == files[990:]


def test_every_size_from_the_number_of_targets_on_has_the_same_prompts() -> None:
    queries = Corpus().queries(TARGETS)
    assert queries == Corpus().queries(MOST)
    assert queries[:50] == Corpus().queries(50)
    assert Counter((query.lang, query.kind) for query in queries) == {
        **{("en", kind): 40 for kind in KINDS},
        **{("zh", kind): 10 for kind in KINDS},
    }


def test_a_prompt_has_exactly_one_target(files: list[File]) -> None:
    texts = {file.path: file.text.casefold() for file in files}
    assert len(texts) == len(files)
    for query in Corpus().queries(TARGETS):
        holders = [path for path, text in texts.items() if all(need in text for need in query.needs)]
        assert holders == [query.target]


def test_no_word_but_a_ticket_gives_the_target_away(files: list[File]) -> None:
    standing = Counter(gram for file in files for gram in scale.grams(file.text))
    texts = {file.path: file.text for file in files}
    for query in Corpus().queries(TARGETS):
        own = scale.grams(query.text) & scale.grams(texts[query.target])
        if query.kind != "identifier":
            assert min(standing[gram] for gram in own if "的" not in gram) > 1, query


def test_prompts_among_noise_have_40_to_80_words() -> None:
    prompts = [query for query in Corpus().queries(TARGETS) if query.kind == "prompt"]
    assert all(40 <= len(query.text.split()) <= 80 for query in prompts if query.lang == "en")
    assert all(80 <= len(query.text) <= 160 for query in prompts if query.lang == "zh")


def test_more_memories_than_there_can_be_are_refused() -> None:
    with pytest.raises(ValueError, match="only"):
        next(Corpus().files(MOST + 1))


def test_memories_are_written_with_their_times(tmp_path: Path, files: list[File]) -> None:
    total = Corpus().write(tmp_path, 20, start=10)
    written = {path.relative_to(tmp_path).as_posix(): path for path in tmp_path.rglob("*.md")}
    assert written.keys() == {file.path for file in files[10:20]}
    assert total == sum(len(path.read_bytes()) for path in written.values())
    for file in files[10:20]:
        assert written[file.path].read_text(encoding="utf-8") == file.text
        assert written[file.path].stat().st_mtime_ns == file.mtime_ns


# -- the figures ---------------------------------------------------------------------------------------------


def test_a_ratio_is_the_median_of_rounds_each_by_the_yardstick_around_it() -> None:
    timing = scale.Timing(row=[4.0, 30.0, 9.0], yardstick=[1.0, 3.0, 7.0, 11.0])
    assert timing.ratio == 2.0  # of 4 / 2, 30 / 5 and 9 / 9
    figures = timing.figures()
    assert figures == {"p50_ms": 9.0, "p95_ms": 30.0, "rounds": 3, "ratio": 2.0, "yardstick_p50_ms": 5.0}


def test_a_row_is_timed_between_rounds_of_its_yardstick() -> None:
    said: list[str] = []
    timing = scale.beside(
        lambda: said.append("yardstick"),
        lambda: said.append("row"),
        rounds=2,
        before=lambda: said.append("before"),
    )
    assert said == ["yardstick", "before", "row", "yardstick", "before", "row", "yardstick"]
    assert (len(timing.row), len(timing.yardstick)) == (2, 3)


@pytest.mark.parametrize(("share", "value"), [(50, 10), (95, 19), (100, 20)])
def test_a_percentile_is_one_of_the_values(share: float, value: float) -> None:
    assert scale.percentile([float(each) for each in range(20, 0, -1)], share) == value


def test_a_hit_is_a_prompt_whose_target_is_in_the_answer() -> None:
    queries = Corpus().queries(5)  # four English, one Chinese
    answers = {query: [query.target] if query.lang == "zh" else [] for query in queries}
    answers[queries[0]] = ["another.md", queries[0].target]
    assert scale.hits(answers)["by_lang"] == {"en": 0.25, "zh": 1.0}


def test_an_aim_is_met_at_its_limit_and_only_asked_at_its_sizes() -> None:
    rows = {"warm query": {"ratio": 1.5}, "ranking": {"p50_ms": 2.1}, "re-check": {"ratio": 9.0}}
    rows["first index"] = {"ratio": 9.0}
    figures = {"files": 1_000, "rows": rows, "hits": {"ranking": {"by_lang": {"en": 0.89}}}}
    met = {aim["what"]: aim["met"] for aim in scale.verdicts([figures])}
    assert met == {"warm query": True, "ranking": False, "hit@5 English": False}


def test_the_baselines_look_at_every_memory(tmp_path: Path, files: list[File]) -> None:
    Corpus().write(tmp_path, 50)
    query = next(query for query in Corpus().queries(50) if query.kind == "name")
    assert scale.stat_pass(str(tmp_path)) == 50
    assert scale.read_all(str(tmp_path)) == sum(len(file.text) for file in files[:50])
    assert query.target in scale.header_scan(str(tmp_path), query.text)
    assert 0 < scale.full_text_search(str(tmp_path), query.text) < 50


def test_it_runs_at_fifty_files() -> None:
    command = [sys.executable, "-m", "bench.scale", "--sizes", "50", "--rounds", "2", "--json"]
    report = json.loads(subprocess.run(command, cwd=REPO, check=True, capture_output=True).stdout)
    (figures,) = report["sizes"]
    assert figures["files"] == 50
    assert {"stat pass", "warm query", "ranking", "re-check", "first index", "process"} < figures[
        "rows"
    ].keys()
    assert all(row["p50_ms"] <= row["p95_ms"] for row in figures["rows"].values())
    assert figures["hits"]["ranking"]["by_lang"].keys() == {"en", "zh"}
    assert all(each["before"] <= each["peak"] for each in figures["memory_mb"].values())
    assert "warm query" in scale.table(report)
