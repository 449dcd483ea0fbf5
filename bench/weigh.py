"""Talks with known right answers become the weights of the cues: `extract/local/weights.txt`.

    python -m bench.weigh --cases FILE...           the table
    python -m bench.weigh --cases FILE... --write   into the package
    python -m bench.weigh --cases FILE... --check   how well each file is told by what the others teach
    python -m bench.weigh --cases FILE... --cross-validate   the bench's figures of the first file, in fifths

Every sentence of a person is an example. It is worth a memory if it holds what a right answer asks for and
nothing that is forbidden; a sentence beside one that does, in the same paragraph, is no example at all. The
weights are those of a logistic regression with a penalty on large ones, one for the worth and one for each
kind, so that each is a number to be read: how much more likely the cue makes it.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from importlib import resources
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from bench.extract import EXTRACTORS, Case, Score, checker, known_of, load, report, scored, table, turns_of
from memdir.extract.local import score
from memdir.extract.local.candidates import spoken
from memdir.extract.local.proposals import told
from memdir.extract.local.score import BASE, KINDS, Weights, features, likely
from memdir.extract.local.speech import Sentence
from memdir.extract.local.values import Turn

PENALTY, KIND_PENALTY = 3.0, 10.0
STEPS, PACE = 200, 0.3
TUNED = 0.5
"""Weight of an example from the talks by which the phrases were chosen: there every cue looks too good."""

EXPECTED: Mapping[str, float] = {
    **dict.fromkeys(("question", "hypothetical", "sarcasm", "retract", "known"), -3.0),
    **dict.fromkeys(("limited", "elsewhere", "forget"), -2.5),
    **dict.fromkeys(("quoted", "task", "hedge", "machinery", "unreal", "replies"), -1.0),
    **dict.fromkeys(
        ("around sarcasm", "around hypothetical", "around retract", "around limited", "unreal"), -1.5
    ),
    **dict.fromkeys(("standing", "remember"), 1.5),
    **dict.fromkeys(("explicit standing", "approval continue", "place url"), 2.0),
    **dict.fromkeys(("change topic", "decided topic"), 1.5),
    **dict.fromkeys(("directive durable", "decided"), 1.5),
    **dict.fromkeys(("continue", "directive standing", "first role", "ahead commitment", "outside url"), 1.0),
}
"""What a cue is worth as long as the examples do not say otherwise: its meaning, before any counting."""
EXPECTED_KINDS: Mapping[str, Mapping[str, float]] = {
    "user": {"role": 2, "prefers": 1.5, "preference": 1, "first role": 1, "first preference": 1},
    "feedback": {
        **dict.fromkeys(("directive", "standing"), 1.2),
        **dict.fromkeys(("prohibit", "correction", "case", "practice", "approval"), 0.8),
        "continue": 2,
        **dict.fromkeys(("directive standing", "directive durable", "durable prohibit"), 1.5),
        "around approval": 0.5,
        "dated": -1,
        "url": -1.5,
        "outside": -0.5,
    },
    "project": {
        **dict.fromkeys(("ahead", "decided", "incident"), 1.5),
        **dict.fromkeys(("dated", "commitment", "commitment dated"), 1),
        "decision": 0.7,
        "organisation": 0.5,
        "past": 0.5,
        "directive": -0.5,
        **dict.fromkeys(("url", "role"), -1),
    },
    "reference": {
        "url": 2.5,
        **dict.fromkeys(("outside", "owner"), 1.2),
        **dict.fromkeys(("place", "outside place", "outside owner"), 1),
        "named": 0.3,
        "directive": -0.5,
    },
}
"""The same for the kinds."""
SAYINGS = Path(__file__).parent / "data" / "sayings.txt"
PASSING = 1.0
"""Weight of a saying: they are short and clear, and one talk has many sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """What is known of one sentence. `kinds` is empty if it is not worth a memory."""

    features: frozenset[str]
    kinds: frozenset[str]
    weight: float


# ---------------------------------------------------------------------------------- examples


def examples(case: Case, *, weight: float = 1.0) -> Iterator[Example]:
    """The examples that one talk gives."""
    heard = [
        (sentence, features(sentence.cues, around))
        for turn in told(turns_of(case), known_of(case), today=date.fromisoformat(case["today"]))
        for sentence, around in spoken(turn)
    ]
    kinds = _kinds(case, [sentence for sentence, _ in heard])
    near = {(s.turn, s.block) for (s, _), found in zip(heard, kinds, strict=True) if found}
    for (sentence, names), found in zip(heard, kinds, strict=True):
        beside = (sentence.turn, sentence.block) in near and not _forbidden(case, sentence.text)
        if found or not beside:
            yield Example(features=names, kinds=frozenset(found), weight=weight)


def _kinds(case: Case, sentences: Sequence[Sentence]) -> list[set[str]]:
    """For each sentence the kinds of the right answers that it holds."""
    kinds: list[set[str]] = [set() for _ in sentences]
    for gold in case["gold"]:
        places = _best_turn(gold, sentences)
        hits = [_hits(gold, sentences[at].text) for at in places]
        for at, count in zip(places, hits, strict=True):
            if count and count == max(hits):
                kinds[at] |= {gold["type"], *gold.get("also_ok", ())}
    return kinds


def _best_turn(gold: Mapping[str, Any], sentences: Sequence[Sentence]) -> list[int]:
    """The places of the sentences of that turn which holds most of what the answer asks for."""
    turns: dict[int, list[int]] = {}
    for at, sentence in enumerate(sentences):
        turns.setdefault(sentence.turn, []).append(at)

    def held(places: list[int]) -> tuple[int, int]:
        whole = " ".join(sentences[at].text for at in places)
        return _hits(gold, whole), sum(_hits(gold, sentences[at].text) for at in places)

    return max(turns.values(), key=held, default=[])


def _hits(gold: Mapping[str, Any], text: str) -> int:
    if gold["action"] == "delete":
        return 0
    return sum(bool(re.search(wanted, text, re.IGNORECASE)) for wanted in gold["must"])


def _forbidden(case: Case, text: str) -> bool:
    return any(re.search(one["regex"], text, re.IGNORECASE) for one in case["forbidden"])


def sayings(path: Path, *, weight: float = 1.0) -> Iterator[Example]:
    """The examples of a file of short sayings, each as the first word in a talk and as an answer."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        kind, said = line.split(maxsplit=1)
        kinds = frozenset() if kind == "-" else frozenset({kind})
        for opening in ((), _OPENING):
            talk = [*opening, Turn(role="person", text=said)]
            for sentence, around in spoken(told(talk, [], today=date(2026, 3, 5))[-1]):
                yield Example(features=features(sentence.cues, around), kinds=kinds, weight=weight)


_OPENING = (
    Turn(role="person", text="hello"),
    Turn(role="assistant", text="I changed it and the tests pass."),
)


# ---------------------------------------------------------------------------------- fitting


FOLDS = 5
PLACE = 0.5
"""Of the fitted weight for standing first or last in a turn: people type shorter turns than these talks."""


def fit(cases: Sequence[Example]) -> dict[str, tuple[float, ...]]:
    """The table: for each feature its weights for the worth and for every kind."""
    given = [(e.features, bool(e.kinds), e.weight) for e in cases]
    worth = regression(given, penalty=PENALTY, expected=EXPECTED)
    kept = [example for example in cases if example.kinds]
    kinds = [
        regression(
            [(e.features, kind in e.kinds, e.weight) for e in kept],
            penalty=KIND_PENALTY,
            expected=EXPECTED_KINDS[kind],
        )
        for kind in KINDS
    ]
    worth |= {name: worth[name] * PLACE for name in ("leads", "closes") if name in worth}
    names = sorted({name for one in (worth, *kinds) for name in one})
    return {name: tuple(one.get(name, 0.0) for one in (worth, *kinds)) for name in names}


def regression(
    cases: Sequence[tuple[frozenset[str], bool, float]],
    *,
    penalty: float,
    expected: Mapping[str, float] = MappingProxyType({}),
) -> dict[str, float]:
    """Logistic regression by gradient descent; each weight has a pace of its own. Only the base is free: any
    other is held to what is expected of it.
    """
    names = sorted({name for given, _, _ in cases for name in given} | set(expected))
    weights = {name: expected.get(name, 0.0) for name in names}
    squares = dict.fromkeys(names, 1e-3)
    for _ in range(STEPS):
        slope = {
            name: penalty * (weight - expected.get(name, 0.0)) * (name != BASE)
            for name, weight in weights.items()
        }
        for given, right, weight in cases:
            miss = weight * (likely(sum(weights[name] for name in given)) - right)
            for name in given:
                slope[name] += miss
        for name, value in slope.items():
            squares[name] += value * value
            weights[name] -= PACE * value / math.sqrt(squares[name])
    return weights


def precision_at(table: Mapping[str, tuple[float, ...]], cases: Sequence[Example], recall: float) -> float:
    """Of the sentences judged best, the share that is worth a memory, when so much of all is found."""
    wanted, right = recall * sum(bool(example.kinds) for example in cases), 0
    ranked = sorted(cases, key=lambda e: -sum(table[name][0] for name in e.features if name in table))
    for count, example in enumerate(ranked, start=1):
        right += bool(example.kinds)
        if right >= wanted:
            return right / count
    return 0.0


# ---------------------------------------------------------------------------------- command line

HEAD = """\
# What each cue is worth, fitted by bench/weigh.py to talks with known right answers; see score.py.
# First for being worth a memory at all, then for each kind of memory. In log odds: 0.7 doubles the odds.
"""


def shown(table: Mapping[str, tuple[float, ...]]) -> str:
    """The table as text, the strongest first within each half."""
    order = sorted(table, key=lambda name: (name != BASE, name.startswith("around "), -table[name][0]))
    head = f"# {'':22}{'worth':>9}" + "".join(f"{kind:>10}" for kind in KINDS)
    rows = [f"{name:24}{''.join(f'{weight:+10.2f}' for weight in table[name])[1:]}" for name in order]
    return "\n".join([HEAD + head, *rows, ""])


def cross_validated(paths: Sequence[Path], check: ModuleType) -> list[tuple[Case, Score]]:
    """Every fifth talk of the first file by weights that were fitted to its other four and the other files.

    The phrases and the threshold stay as they are: they were made with all of the first file in view.
    """
    judged, *others = [(path, load(path, check)) for path in paths]
    taught = [e for path, cases in others for case in cases for e in examples(case, weight=_weight(path))]
    taught += sayings(SAYINGS, weight=PASSING)
    found: list[tuple[Case, Score]] = []
    for fold in range(FOLDS):
        rest = [case for at, case in enumerate(judged[1]) if at % FOLDS != fold]
        own = [e for case in rest for e in examples(case, weight=_weight(judged[0]))]
        with _judging_by(fit([*own, *taught])):
            found += scored(judged[1][fold::FOLDS], EXTRACTORS["local"], check)
    return found


@contextmanager
def _judging_by(weights: Weights) -> Iterator[None]:
    """Use other weights than the package's."""
    before = score.weights
    score.weights = lambda: weights  # type: ignore[assignment]
    try:
        yield
    finally:
        score.weights = before


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.weigh", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--cases", type=Path, nargs="+", required=True, help="talks, JSON lines")
    parser.add_argument("--write", action="store_true", help="into the package")
    parser.add_argument("--check", action="store_true", help="how well each file is told by the others")
    parser.add_argument(
        "--cross-validate",
        action="store_true",
        help="the figures of the first file, in fifths",
    )
    options = parser.parse_args(arguments)
    check = checker(options.cases[0])
    files = {
        path: [e for case in load(path, check) for e in examples(case, weight=_weight(path))]
        for path in options.cases
    }
    if options.cross_validate:
        print(
            table("local, each fifth by weights of the rest", report(cross_validated(options.cases, check)))
        )
        return 0
    files[SAYINGS] = list(sayings(SAYINGS, weight=PASSING))
    if options.check:
        for path, own in files.items():
            weights = fit([e for other, taught in files.items() if other != path for e in taught])
            print(
                path.name,
                *(f"{share:.0%}: {precision_at(weights, own, share):.2f}" for share in (0.4, 0.6, 0.8)),
            )
        return 0
    text = shown(fit([example for own in files.values() for example in own]))
    if options.write:
        Path(str(resources.files("memdir.extract.local").joinpath("weights.txt"))).write_text(text, "utf-8")
    else:
        print(text, end="")
    return 0


def _weight(path: Path) -> float:
    return TUNED if path.name == "extraction.jsonl" else 1.0


if __name__ == "__main__":
    raise SystemExit(main())
