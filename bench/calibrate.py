"""Recall cases -> constants for the selector by words, and how well such a choice carries over to others.

    python -m bench.calibrate --cases DIR [--held FILE ...]

`DIR` is what `bench.recall` reads; each `--held` is one more file of prompts on the same memories. Every
setting of `GRID` is tried on every prompt. A setting is worth its mean score, less what it lacks of `SILENT`
on the prompts that nothing belongs to. Printed are the best one on all prompts, and what settings reach on
prompts that they were not chosen on: by fifths of the prompts (three shuffles), by one memory directory at a
time, from the prompts of `DIR` to the held ones, and back. A figure is the score (F1 / silence).
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from bench.recall import TODAY, Case, read_cases
from memdir.memory.index import Index
from memdir.recall import local

GRID: Mapping[str, Sequence[float]] = {
    "LEAST": (1.6, 2.2, 2.8),
    "MOST": (4.6, 5.4, 6.4),
    "LONE": (0.7, 0.8, 1.0),
    "ROUTINE": (0.5, 0.65, 1.0),
    "BEHIND": (0.4, 0.5, 0.6, 0.7),
    "THRESHOLD": tuple(step / 100 for step in range(15, 26)),
}
"""Constant of `memdir.recall.local` -> the values that are tried."""

_CUTS = ("BEHIND", "THRESHOLD")  # what `cut` takes; the others need the prompts weighed anew
SILENT = 0.9
"""The share of prompts without a memory that should be left alone."""

FOLDS, SHUFFLES = 5, 3

Setting = tuple[float, ...]
Scores = Mapping[Setting, Sequence[float]]


def scores_of(cases: Sequence[Case], indexes: Mapping[str, Index]) -> Scores:
    """For each setting the score of every prompt."""
    found: dict[Setting, Sequence[float]] = {}
    for weighing in product(*(GRID[name] for name in GRID if name not in _CUTS)):
        with _constants(weighing):
            weighed = [
                local.weigh(case.query, indexes[case.folder], recent_tools=case.recent_tools, now=TODAY)
                for case in cases
            ]
        for behind, threshold in product(*(GRID[name] for name in _CUTS)):
            found[(*weighing, behind, threshold)] = [
                case.score(v.file for v in local.cut(one, threshold=threshold, behind=behind) if v.chosen)
                for case, one in zip(cases, weighed, strict=True)
            ]
    return found


class _constants:  # noqa: N801 - used as a statement
    """The selector with these constants, while the block lasts."""

    def __init__(self, weighing: Setting) -> None:
        self._names = [name for name in GRID if name not in _CUTS]
        self._new = weighing

    def __enter__(self) -> None:
        self._old = [getattr(local, name) for name in self._names]
        self._set(self._new)

    def __exit__(self, *_: object) -> None:
        self._set(self._old)

    def _set(self, values: Sequence[float]) -> None:
        for name, value in zip(self._names, values, strict=True):
            setattr(local, name, value)


def best(cases: Sequence[Case], scores: Scores, among: Sequence[int]) -> Setting:
    """The setting that is worth most on these prompts; of equals the first of the grid."""
    empty = [at for at in among if not cases[at].relevant]

    def worth(setting: Setting) -> float:
        reached = scores[setting]
        return fmean(reached[at] for at in among) - max(0.0, SILENT - fmean(reached[at] for at in empty))

    return max(scores, key=worth)


def carried_over(cases: Sequence[Case], scores: Scores, splits: Sequence[Sequence[int]]) -> dict[int, float]:
    """For each prompt of the splits its score with the setting chosen on all other prompts."""
    reached: dict[int, float] = {}
    for split in splits:
        others = sorted(set(range(len(cases))) - set(split))
        setting = best(cases, scores, others)
        reached |= {at: scores[setting][at] for at in split}
    return reached


def fifths(count: int) -> Iterator[list[list[int]]]:
    """Splits into fifths, a few times over."""
    for seed in range(SHUFFLES):
        order = random.Random(seed).sample(range(count), count)
        yield [order[fold::FOLDS] for fold in range(FOLDS)]


def row(
    label: str, cases: Sequence[Case], sets: Sequence[str], reached: Sequence[Mapping[int, float]]
) -> str:
    """One line of the report: score, F1 and silence of each set of prompts."""
    cells = []
    for name in [*dict.fromkeys(sets), "all"]:
        here = [at for at in reached[0] if name in ("all", sets[at])]
        if here:
            mean: Callable[[list[int]], float] = lambda some: fmean(r[at] for r in reached for at in some)  # noqa: E731
            full = mean([at for at in here if cases[at].relevant])
            empty = mean([at for at in here if not cases[at].relevant])
            cells.append(f"{name} {mean(here):.3f} ({full:.2f}/{empty:.2f})")
    return f"{label:24} " + "   ".join(cells)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.calibrate", description="Fit the selector by words."
    )
    parser.add_argument(
        "--cases", type=Path, required=True, help="folder with queries.jsonl and the memories"
    )
    parser.add_argument("--held", type=Path, nargs="*", default=[], help="more prompts on the same memories")
    options = parser.parse_args()
    with TemporaryDirectory() as scratch:
        root = Path(scratch)
        cases, sets = read_cases(options.cases / "queries.jsonl"), list[str]()
        sets += ["cases"] * len(cases)
        for path in options.held:
            more = read_cases(path)
            cases, sets = [*cases, *more], [*sets, *([path.stem] * len(more))]
        indexes = {}
        for name in sorted({case.folder for case in cases}):
            shutil.copytree(options.cases / name, root / name)
            for path in (root / name).iterdir():
                path.chmod(0o644)
                os.utime(path, (TODAY.timestamp(), TODAY.timestamp()))
            indexes[name] = Index(str(root / name), cache=None, clock=time.time_ns)
            indexes[name].refresh()
        report(cases, sets, scores_of(cases, indexes))


def report(cases: Sequence[Case], sets: Sequence[str], scores: Scores) -> None:
    """Print what was found."""
    everyone = range(len(cases))
    shipped = tuple(min(GRID[name], key=lambda v: abs(v - getattr(local, name))) for name in GRID)
    print(row("as shipped", cases, sets, [dict(enumerate(scores[shipped]))]))
    chosen = best(cases, scores, list(everyone))
    print(row("best on all (in sample)", cases, sets, [dict(enumerate(scores[chosen]))]))
    print("   ", dict(zip(GRID, chosen, strict=True)))
    folds = [carried_over(cases, scores, splits) for splits in fifths(len(cases))]
    print(row("by fifths", cases, sets, folds))
    folders = sorted({case.folder for case in cases})
    by_folder = [[at for at in everyone if cases[at].folder == name] for name in folders]
    print(row("by directory", cases, sets, [carried_over(cases, scores, by_folder)]))
    if held := [at for at in everyone if sets[at] != sets[0]]:
        print(row("first set -> held", cases, sets, [carried_over(cases, scores, [held])]))
        rest = [at for at in everyone if sets[at] == sets[0]]
        print(row("held -> first set", cases, sets, [carried_over(cases, scores, [rest])]))


if __name__ == "__main__":
    main()
