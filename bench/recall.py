"""Cases of recall -> how well the selectors do, beside plain ones.

    python -m bench.recall --cases DIR [--held] [--cross-validate] [--selector model --model NAME] [--json]

`DIR` holds `queries.jsonl` and a folder of memory files for each `dir` named there. A prompt that some
memories belong to scores the F1 of the answer (files that are merely acceptable don't count either way); one
that none belongs to scores 1 if the answer is empty, else 0. `score` is the mean over all prompts. The
baselines choose their threshold on four fifths of the prompts and are measured on the fifth;
`--cross-validate` does the same with the two thresholds of the selector by words, which otherwise runs as it
ships. `--held` measures it on the prompts of other authors too, `bench/data/recall/held_*.jsonl`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import anyio

from memdir.memory.entrypoint import NAME
from memdir.model import choose, specs
from memdir.model.client import ModelClient
from memdir.model.embedding.embedder import Embedder
from memdir.model.embedding.sentence_encoder import SentenceEncoder, is_installed
from memdir.recall import select_local
from memdir.recall.local import cut, weigh
from memdir.recall.select import select
from memdir.recall.shelf import Shelf

HELD = Path(__file__).parent / "data" / "recall"
TODAY = datetime(2026, 11, 29, 12, tzinfo=UTC)
FOLDS = 5
THRESHOLDS = [step / 50 for step in range(6, 20)]
BEHINDS = [0.4, 0.5, 0.6, 0.7, 0.8]

Setting = TypeVar("Setting")
Answers = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One prompt, and the files that belong to it."""

    id: str
    folder: str
    query: str
    recent_tools: tuple[str, ...]
    mention_agent: str | None
    relevant: frozenset[str]
    acceptable: frozenset[str]
    kind: str
    lang: str

    def score(self, answer: Iterable[str]) -> float:
        """F1 of the answer, or for a prompt that nothing belongs to: whether it is empty."""
        got = set(answer)
        if not self.relevant:
            return float(not got)
        got -= self.acceptable
        return 2 * len(got & self.relevant) / (len(got) + len(self.relevant))


def read_cases(path: Path) -> list[Case]:
    """The cases of a file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [
        Case(
            id=row["id"],
            folder=row["dir"],
            query=row["query"],
            recent_tools=tuple(row["recent_tools"]),
            mention_agent=row["mention_agent"],
            relevant=frozenset(row["relevant"]),
            acceptable=frozenset(row["acceptable"]),
            kind=row["kind"],
            lang=row["lang"],
        )
        for row in map(json.loads, filter(None, lines))
    ]


def summary(cases: Sequence[Case], answers: Answers) -> dict[str, Any]:
    """The figures for one selector."""
    scores = {case.id: case.score(answers.get(case.id, ())) for case in cases}

    def mean(chosen: Iterable[Case]) -> float | None:
        found = [scores[case.id] for case in chosen]
        return round(fmean(found), 4) if found else None

    def groups(key: Callable[[Case], str]) -> dict[str, float | None]:
        return {name: mean(c for c in cases if key(c) == name) for name in sorted(set(map(key, cases)))}

    return {
        "score": mean(cases),
        "f1": mean(case for case in cases if case.relevant),
        "empty_right": mean(case for case in cases if not case.relevant),
        "by_kind": groups(lambda case: case.kind),
        "by_lang": groups(lambda case: case.lang),
    }


def cross_validated(
    cases: Sequence[Case], settings: Sequence[Setting], answer: Callable[[Case, Setting], Sequence[str]]
) -> Answers:
    """For each prompt the answer with the setting that did best on the folds that it is not in."""
    answers = {(case.id, at): answer(case, setting) for case in cases for at, setting in enumerate(settings)}
    scores = {
        (case.id, at): case.score(answers[case.id, at]) for case in cases for at in range(len(settings))
    }
    chosen: dict[str, Sequence[str]] = {}
    for fold in range(FOLDS):
        others = [case for place, case in enumerate(cases) if place % FOLDS != fold]
        best = max(range(len(settings)), key=lambda at: sum(scores[case.id, at] for case in others))
        chosen |= {case.id: answers[case.id, best] for case in cases[fold::FOLDS]}
    return chosen


# -- the selectors -------------------------------------------------------------------------------------------


def as_shipped(cases: Sequence[Case], root: Path) -> Answers:
    """What the public function answers."""
    return {
        case.id: select_local(
            root / case.folder,
            case.query,
            recent_tools=case.recent_tools,
            mention_agent=case.mention_agent,
            now=TODAY,
        )
        for case in cases
    }


def with_chosen_thresholds(cases: Sequence[Case], root: Path) -> Answers:
    """What the selector answers with thresholds from the other folds."""
    shelves = {name: Shelf.of(root / name) for name in {case.folder for case in cases}}
    for shelf in shelves.values():
        shelf.index.refresh()
    weighed = {
        case.id: weigh(case.query, shelves[case.folder].index, recent_tools=case.recent_tools, now=TODAY)
        for case in cases
    }

    def answer(case: Case, setting: tuple[float, float]) -> list[str]:
        verdicts = cut(weighed[case.id], threshold=setting[0], behind=setting[1])
        return [verdict.file for verdict in verdicts if verdict.chosen]

    return cross_validated(cases, [(t, b) for t in THRESHOLDS for b in BEHINDS], answer)


async def by(
    cases: Sequence[Case], root: Path, *, embedder: Embedder | None = None, model: ModelClient | None = None
) -> Answers:
    """What a conversation's first prompt would get, with an embedder, or by a model."""
    shelves = {name: Shelf.of(root / name, embedder=embedder) for name in {case.folder for case in cases}}
    for shelf in shelves.values():
        await shelf.take_in()
    answers: dict[str, Sequence[str]] = {}
    for case in cases:
        tools, shelf = case.recent_tools, shelves[case.folder]
        selection = await select(shelf, case.query, recent_tools=tools, model=model, now=TODAY)
        if selection.error or selection.instead_of:
            raise SystemExit(f"{case.id}: {selection.instead_of or selection.error}")
        answers[case.id] = selection.files
    return answers


def with_meaning(cases: Sequence[Case], root: Path) -> Answers | None:
    """With the sentence encoder; None if the extra `semantic` is not installed."""
    if not is_installed():
        return None
    return anyio.run(partial(by, cases, root, embedder=SentenceEncoder()))


def with_model(cases: Sequence[Case], root: Path, name: str) -> Answers:
    """By a language model, one question a prompt."""

    async def ask() -> Answers:
        client = choose.client(specs.parse(name))
        try:
            return await by(cases, root, model=client)
        finally:
            await client.aclose()

    return anyio.run(ask)


# -- baselines -----------------------------------------------------------------------------------------------

Ranked = Sequence[tuple[str, float]]


def full_text(cases: Sequence[Case], root: Path, *, body: bool) -> dict[str, Ranked]:
    """SQLite FTS5 (`porter`, any word of the prompt, bm25) over the whole text or the header alone."""
    database = sqlite3.connect(":memory:")
    tables = {name: f"t{at}" for at, name in enumerate(sorted({case.folder for case in cases}))}
    for name, table in tables.items():
        database.execute(f"create virtual table {table} using fts5(file unindexed, text, tokenize='porter')")
        rows = [(path.name, text if body else text.split("\n---\n")[0]) for path, text in _texts(root / name)]
        database.executemany(f"insert into {table} values (?, ?)", rows)
    found: dict[str, Ranked] = {}
    for case in cases:
        table, tokens = tables[case.folder], sorted(set(re.findall(r"\w+", case.query.lower())))
        statement = (
            f"select file, -bm25({table}) from {table} where {table} match ? order by 2 desc, 1 limit 5"
        )
        found[case.id] = database.execute(statement, [" OR ".join(f'"{t}"' for t in tokens)]).fetchall()
    database.close()
    return found


def overlap(cases: Sequence[Case], root: Path) -> dict[str, Ranked]:
    """How many of the prompt's words, and pairs of Chinese or Japanese characters, stand in the file."""
    texts = {name: _texts(root / name) for name in {case.folder for case in cases}}
    found: dict[str, Ranked] = {}
    for case in cases:
        hits = [
            (path.name, float(sum(gram in text.lower() for gram in _grams(case.query))))
            for path, text in texts[case.folder]
        ]
        found[case.id] = sorted((hit for hit in hits if hit[1]), key=lambda hit: (-hit[1], hit[0]))[:5]
    return found


def thresholded(cases: Sequence[Case], ranked: Mapping[str, Ranked]) -> Answers:
    """A ranking, cut at the threshold (on the score, or per word) that did best on the other folds."""
    size = {case.id: max(1, len(_grams(case.query))) for case in cases}
    settings = sorted(
        {
            (score / (size[key] if per else 1), per)
            for key, hits in ranked.items()
            for _, score in hits
            for per in (0, 1)
        }
    )

    def answer(case: Case, setting: tuple[float, int]) -> list[str]:
        least = setting[0] * (size[case.id] if setting[1] else 1)
        return [file for file, score in ranked[case.id] if score >= least]

    return cross_validated(cases, [*settings, (math.inf, 0)], answer)


def _texts(folder: Path) -> list[tuple[Path, str]]:
    paths = (path for path in sorted(folder.glob("*.md")) if path.name != NAME)
    return [(path, path.read_text(encoding="utf-8")) for path in paths]


def _grams(text: str) -> set[str]:
    runs = re.findall(r"[\u3040-\u30ff\u4e00-\u9fff]{2,}", text)
    pairs = {run[at : at + 2] for run in runs for at in range(len(run) - 1)}
    return pairs | set(re.findall(r"[a-z0-9_]{3,}", text.lower()))


# -- report --------------------------------------------------------------------------------------------------


def measure(
    folder: Path, *, cross_validate: bool = False, held: bool = False, model: str | None = None
) -> dict[str, Any]:
    """All figures. The memories are copied, with equal times, so that age says nothing."""
    cases = read_cases(folder / "queries.jsonl")
    with TemporaryDirectory() as scratch:
        root = Path(scratch)
        for name in {case.folder for case in cases}:
            shutil.copytree(folder / name, root / name)
        for path in root.rglob("*"):
            os.utime(path, (TODAY.timestamp(), TODAY.timestamp()))
        os.environ["MEMDIR_HOME"] = str(root / ".memdir")
        report: dict[str, Any] = {"local": summary(cases, as_shipped(cases, root))}
        near = with_meaning(cases, root)
        report["semantic"] = None if near is None else summary(cases, near)
        if cross_validate:
            report["cross_validated"] = summary(cases, with_chosen_thresholds(cases, root))
        if model is not None:
            report["model"] = summary(cases, with_model(cases, root, model))
        for path in sorted(HELD.glob("held_*.jsonl")) if held else ():
            others = read_cases(path)
            report[f"local on {path.stem}"] = summary(others, as_shipped(others, root))
        header, text = full_text(cases, root, body=False), full_text(cases, root, body=True)
        baselines = {
            "nothing": {},
            "fts5 header": thresholded(cases, header),
            "fts5 full text": thresholded(cases, text),
            "word overlap": thresholded(cases, overlap(cases, root)),
        }
    return report | {"baselines": {name: summary(cases, answers) for name, answers in baselines.items()}}


def table(report: Mapping[str, Any]) -> str:
    """The report for people."""
    rows = {name: row for name, row in report.items() if name != "baselines" and row} | report["baselines"]
    width = max(16, *map(len, rows))
    lines = [f"{'selector':{width}}  score     f1  empty right"]
    lines += [
        f"{name:{width}}  {row['score']:5.2f}  {row['f1']:5.2f}  {row['empty_right']:11.2f}"
        for name, row in rows.items()
    ]
    for key in ("by_kind", "by_lang"):
        groups = dict.fromkeys(group for row in rows.values() for group in row[key])
        lines += ["", f"{key.replace('_', ' '):20}" + "".join(f"{name:>18}" for name in rows)]
        for group in groups:
            values = (row[key].get(group) for row in rows.values())
            lines.append(
                f"{group:20}" + "".join(f"{'-' if v is None else format(v, '.2f'):>18}" for v in values)
            )
    return "\n".join(lines)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description="Measure recall on cases.")
    parser.add_argument(
        "--cases", type=Path, required=True, help="folder with queries.jsonl and the memories"
    )
    parser.add_argument("--cross-validate", action="store_true", help="also choose thresholds by fold")
    parser.add_argument("--held", action="store_true", help="also prompts of other authors")
    parser.add_argument("--selector", choices=["local", "model"], default="local", help="also a model")
    parser.add_argument("--model", help="the model, with --selector model: anthropic:NAME, say")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    if (options.selector == "model") != bool(options.model):
        parser.error("--selector model and --model NAME go together")
    report = measure(
        options.cases,
        cross_validate=options.cross_validate,
        held=options.held,
        model=options.model,
    )
    print(json.dumps(report, ensure_ascii=False) if options.json else table(report))


if __name__ == "__main__":
    main()
