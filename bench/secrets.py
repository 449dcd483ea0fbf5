# ruff: noqa: A005
"""How long the secret scan takes, worst first, and what it finds in a file of cases.

    python -m bench.secrets                      milliseconds a kilobyte, over 256 kB of each input
    python -m bench.secrets --kilobytes 64
    python -m bench.secrets --cases FILE         the case file (default: tests/data/secrets.jsonl)

The inputs are ordinary text, text full of the words that start rules, and, for each rule of the table, two
thirds of a token over and over. Each figure is the best of three, in processor time.
"""

from __future__ import annotations

import argparse
import base64
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from time import process_time

from tests.test_secrets_speed import UNITS, halves

from memdir.secrets import scan

REPO = Path(__file__).resolve().parent.parent
ROUNDS = 3


def inputs() -> Iterator[tuple[str, str]]:
    """Name and unit of each input; a unit is repeated to the length asked for."""
    random = Random(1)
    yield from UNITS.items()
    yield "random base64", base64.b64encode(random.randbytes(50_000)).decode()
    yield "random hexadecimal", random.randbytes(50_000).hex()
    yield "our own code", (REPO / "src" / "memdir" / "errors.py").read_text(encoding="utf-8")
    yield "our own prose", (REPO / "README.md").read_text(encoding="utf-8")
    yield from halves().items()


def cost(text: str) -> float:
    """Milliseconds a kilobyte (of 1,000 characters), the best of some rounds."""

    def once() -> float:
        before = process_time()
        scan(text)
        return process_time() - before

    return min(once() for _ in range(ROUNDS)) * 1e6 / len(text)


def speed(kilobytes: int) -> None:
    length = kilobytes * 1000
    rows = [(cost((unit * (length // len(unit) + 1))[:length]), name) for name, unit in inputs()]
    print(f"ms/kB over {kilobytes} kB")
    for milliseconds, name in sorted(rows, reverse=True):
        print(f"{milliseconds:7.3f}  {name}")


def cases(file: Path) -> None:
    right: Counter[tuple[str, str]] = Counter()
    whole: Counter[tuple[str, str]] = Counter()
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        tier = (row["expect"], row["tier"])
        text = (
            row["template"].replace("{PAD200000}", "x " * 200_000).replace("{S}", "".join(row["parts"] or ()))
        )
        found = scan(text)
        start, length = row.get("span") or (0, 0)
        hit = any(one.start < start + length and one.end > start for one in found)
        whole[tier] += 1
        right[tier] += hit if row["expect"] == "find" else not found
    for tier, count in sorted(whole.items()):
        print(f"{tier[0]:7} {tier[1]:8} {right[tier]} of {count}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kilobytes", type=int, default=256)
    parser.add_argument("--cases", type=Path, default=REPO / "tests" / "data" / "secrets.jsonl")
    options = parser.parse_args()
    cases(options.cases)
    speed(options.kilobytes)


if __name__ == "__main__":
    main()
