"""How recall grows with the number of memories, each figure beside a baseline taken in the same minute.

    python -m bench.scale                           a table: 200, 1,000, 10,000 and 50,000 files
    python -m bench.scale --sizes 1000 --json       one JSON object
    python -m bench.scale --seed 8 --rounds 100     other memories; more rounds for each figure

The memories are those of `bench.corpus`; the same prompts at every size. A round of a row is timed between
two rounds of its yardstick, and its ratio is to their mean: a busy machine slows both. A row ends early when
it has used up its time, though not before some rounds; `rounds` says how many there were. All files are in
the system's cache. Memories are found by their words alone, also where the extra `semantic` is installed. The
rows, and in brackets their yardsticks:

    stat pass       every folder listed, one stat a file: nothing that looks at every file can be faster
    header scan     a plain loop in Python: the first 30 lines of each file, words in common [stat pass]
    rg -l           three words of the prompt; `grep -rl` where there is no rg [stat pass]
    warm query      what a turn of a running conversation pays, from the prompt to the files [stat pass]
    ranking         the part of it that looks at no file [stat pass]
    re-check        what has changed, when one file has [stat pass]
    first index     of all files, into an empty cache [reading them all once]
    process         `memdir recall PROMPT` from start to end, indexed before [`python -c pass`]

hit@5: prompts whose one right file is among the first five, by ranking alone, and as selected, where too
low a score is no answer.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import cycle, islice
from pathlib import Path
from random import Random
from statistics import fmean, median
from tempfile import TemporaryDirectory
from time import perf_counter, time_ns
from typing import Any

import memdir
from bench.corpus import Corpus, Query

REPO = Path(__file__).resolve().parent.parent
SIZES = (200, 1_000, 10_000, 50_000)
ROUNDS = 40
TIME = 15.0  # seconds for a row, unless its fewest rounds take longer
TOP = 5


class Recall:
    """What is measured: the one place that knows how memdir is called."""

    def __init__(self, directory: str, cache: Path) -> None:
        from memdir.memory.index import Index
        from memdir.recall import local

        self._local = local
        self._index = Index(directory, cache=str(cache), clock=time_ns)

    def refresh(self) -> int:
        """Look at every file, read what changed."""
        return self._index.refresh()

    def query(self, text: str) -> list[str]:
        """The files that a turn would see, the directory looked at anew."""
        self._index.refresh()
        verdicts = self._local.judge(text, self._index, now=datetime.now(UTC))
        return [verdict.file for verdict in verdicts if verdict.chosen]

    def rank(self, text: str) -> list[str]:
        """The best files, as many as a turn judges, however little they have in common with the prompt; no
        file is looked at."""
        terms, _ = self._local.asked(text, self._index)
        return [hit.file for hit in self._index.rank(terms, depth=self._local.DEPTH)]

    def close(self) -> None:
        """Let go of the cache."""
        self._index.close()


# -- baselines -----------------------------------------------------------------------------------------------


def stat_pass(directory: str) -> int:
    """List every folder and ask once for each file's status; how many files."""
    count, waiting = 0, [directory]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
                    count += 1
    return count


def files_of(directory: str) -> Iterator[str]:
    """The paths of all memories."""
    for folder, _, names in os.walk(directory):
        for name in names:
            yield f"{folder}/{name}"


def read_all(directory: str) -> int:
    """Open, read and decode every file once; how many characters."""
    total = 0
    for path in files_of(directory):
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - the fastest way is the yardstick
            total += len(file.read().decode())
    return total


def header_scan(directory: str, prompt: str) -> list[str]:
    """The files whose first 30 lines share most words, or pairs of Chinese characters, with the prompt."""
    wanted = grams(prompt)
    found = []
    for path in files_of(directory):
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            shared = len(wanted & grams("".join(islice(file, 30))))
        if shared:
            found.append((-shared, path))
    return [path.removeprefix(f"{directory}/") for _, path in sorted(found)[:TOP]]


def grams(text: str) -> set[str]:
    """Words of three letters or more, and pairs of Chinese characters."""
    runs = re.findall(r"[\u4e00-\u9fff]{2,}", text)
    return {run[at : at + 2] for run in runs for at in range(len(run) - 1)} | set(
        re.findall(r"[a-z0-9_]{3,}", text.lower())
    )


def full_text_search(directory: str, prompt: str) -> int:
    """The files that hold one of the three longest words of the prompt, by a fast program; how many."""
    runs = sorted(set(re.findall(r"[A-Za-z0-9_.-]{3,}|[\u4e00-\u9fff]{2,6}", prompt)), key=len)
    words = [part for word in runs[-3:] for part in ("-e", word)]
    if rg := shutil.which("rg"):
        command = [rg, "--no-config", "-liF", *words, directory]
    else:
        command = ["grep", "-rliF", *words, directory]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.stdout.count(b"\n")


# -- timing --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Timing:
    """The rounds of a row and, one more, those of its yardstick around them; milliseconds."""

    row: Sequence[float]
    yardstick: Sequence[float] = field(default=())

    @property
    def ratio(self) -> float:
        """The median over the rounds, each by the mean of the yardstick before and after it."""
        around = zip(self.row, self.yardstick, self.yardstick[1:], strict=False)
        return median(each / fmean((before, after)) for each, before, after in around)

    def figures(self) -> dict[str, float]:
        """What is reported of it."""
        own = {"p50_ms": median(self.row), "p95_ms": percentile(self.row, 95), "rounds": len(self.row)}
        if not self.yardstick:
            return own
        return {**own, "ratio": self.ratio, "yardstick_p50_ms": median(self.yardstick)}


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that `share` percent of them do not exceed."""
    at = -(-len(values) * share // 100)  # rounded up
    return sorted(values)[max(0, int(at) - 1)]


def milliseconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    start = perf_counter()
    work()
    return (perf_counter() - start) * 1000


def beside(
    yardstick: Callable[[], object],
    row: Callable[[], object],
    *,
    rounds: int,
    least: int = 3,
    before: Callable[[], object] = lambda: None,
) -> Timing:
    """Time the row between rounds of its yardstick. `before` comes before each of its rounds, untimed."""
    end = perf_counter() + TIME
    rows, yardsticks = list[float](), [milliseconds(yardstick)]
    while len(rows) < min(least, rounds) or (len(rows) < rounds and perf_counter() < end):
        before()
        rows.append(milliseconds(row))
        yardsticks.append(milliseconds(yardstick))
    return Timing(rows, yardsticks)


# -- one size ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """The folders of one size: the memories, and what memdir derives from them."""

    directory: str
    scratch: Path

    @property
    def cache(self) -> Path:
        """Where the index is that the rows within this process use."""
        return self.scratch / "cache"


def measure_size(place: Place, queries: Sequence[Query], *, rounds: int) -> dict[str, Any]:
    """All figures of one size."""
    order = Random(1).sample(queries, len(queries))
    rows = dict[str, Timing]()
    rows["first index"] = _first_index(place, rounds=min(rounds, 3))
    recall = Recall(place.directory, place.cache)
    try:
        recall.refresh()
        rows |= _in_process(place.directory, recall, order, rounds=rounds)
        ranked = {query: recall.rank(query.text)[:TOP] for query in queries}
        selected = {query: recall.query(query.text) for query in queries}
    finally:
        recall.close()
    processes = _Processes(place)
    rows["process"] = processes.timed(order, rounds=min(rounds, 15))
    return {
        "files": stat_pass(place.directory),
        "rows": {name: timing.figures() for name, timing in rows.items()},
        "first_process_ms": processes.first_ms,
        "hits": {"ranking": hits(ranked), "selection": hits(selected)},
        "memory_mb": {"query": processes.memory(place.cache), "first index": processes.memory(None)},
        "index_mb": sum(path.stat().st_size for path in place.cache.iterdir()) / 1e6,
    }


def _first_index(place: Place, *, rounds: int) -> Timing:
    def index() -> None:
        recall = Recall(place.directory, place.cache)
        recall.refresh()
        recall.close()

    def forget() -> None:
        shutil.rmtree(place.cache, ignore_errors=True)
        place.cache.mkdir(parents=True)

    read_all(place.directory)  # from now on in the system's cache
    return beside(lambda: read_all(place.directory), index, rounds=rounds, least=1, before=forget)


def _in_process(
    directory: str, recall: Recall, queries: Sequence[Query], *, rounds: int
) -> dict[str, Timing]:
    """The rows that stand beside the stat pass, and the stat pass itself."""
    texts = cycle(query.text for query in queries)
    work: dict[str, Callable[[], object]] = {
        "header scan": lambda: header_scan(directory, next(texts)),
        "rg -l" if shutil.which("rg") else "grep -rl": lambda: full_text_search(directory, next(texts)),
        "warm query": lambda: recall.query(next(texts)),
        "ranking": lambda: recall.rank(next(texts)),
    }
    recall.query(next(texts))  # what is loaded once is loaded now
    rows = {name: beside(lambda: stat_pass(directory), row, rounds=rounds) for name, row in work.items()}
    path = Path(directory, queries[0].target)
    with _Edits(path) as edit:
        rows["re-check"] = beside(lambda: stat_pass(directory), recall.refresh, rounds=rounds, before=edit)
    recall.refresh()
    stats = [each for timing in rows.values() for each in timing.yardstick]
    return {"stat pass": Timing(stats), **rows}


def hits(answers: Mapping[Query, Sequence[str]]) -> dict[str, Any]:
    """The share of the prompts whose target is in the answer, by language and kind."""
    found = {query: query.target in files for query, files in answers.items()}

    def share(of: Callable[[Query], str]) -> dict[str, float]:
        groups = sorted({of(query) for query in found})
        return {group: fmean(hit for query, hit in found.items() if of(query) == group) for group in groups}

    return {
        "by_lang": share(lambda query: query.lang),
        "by_kind": share(lambda query: f"{query.lang} {query.kind}"),
    }


class _Edits:
    """One memory, rewritten again and again, each time with another last line; put back at the end."""

    def __init__(self, path: Path) -> None:
        self._path, self._text, self._status, self._count = path, path.read_bytes(), path.stat(), 0

    def __enter__(self) -> Callable[[], object]:
        return self._edit

    def __exit__(self, *_: object) -> None:
        self._path.write_bytes(self._text)
        os.utime(self._path, ns=(self._status.st_mtime_ns, self._status.st_mtime_ns))

    def _edit(self) -> None:
        self._count += 1
        self._path.write_bytes(self._text + f"- Edited {self._count} times.\n".encode())


# -- processes -----------------------------------------------------------------------------------------------


class _Processes:
    """memdir in processes of its own, with a home of its own, in which nothing is compiled anew."""

    def __init__(self, place: Place) -> None:
        self._place = place
        home, self._folder = place.scratch / "home", place.scratch / "project"
        state = home / ".memdir"
        state.mkdir(parents=True)
        self._folder.mkdir()
        settings = {"autoMemoryDirectory": place.directory}
        (state / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMDIR_")}
        kept.pop("PYTHONDONTWRITEBYTECODE", None)
        self._environment = kept | {"MEMDIR_HOME": str(state), "HOME": str(home), "USERPROFILE": str(home)}
        self._environment["MEMDIR_RECALL_EMBEDDER"] = "none"
        compileall.compile_dir(Path(memdir.__file__).parent, quiet=1)
        self._run("-c", "pass")
        self.first_ms = milliseconds(lambda: self._recall("the first prompt of all"))

    def timed(self, queries: Sequence[Query], *, rounds: int) -> Timing:
        """`memdir recall PROMPT`, beside a Python that does nothing."""
        texts = cycle(query.text for query in queries)
        self._recall(next(texts))  # libraries that were not compiled are so now
        return beside(lambda: self._run("-c", "pass"), lambda: self._recall(next(texts)), rounds=rounds)

    def memory(self, cache: Path | None) -> dict[str, float]:
        """Peak resident megabytes of a process that answers prompts, or, without a cache, that fills one."""
        with TemporaryDirectory(dir=self._place.scratch) as empty:
            call = f"probe({self._place.directory!r}, {str(cache or empty)!r}, queries={cache is not None})"
            done = self._run("-c", f"from bench.scale import probe; {call}", cwd=REPO)
        before, peak = map(float, done.split())
        return {"before": before, "peak": peak}

    def _recall(self, text: str) -> str:
        return self._run("-m", "memdir", "recall", text)

    def _run(self, *arguments: str, cwd: Path | None = None) -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(
            command,
            cwd=cwd or self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{command}: {done.stderr}")
        return done.stdout


def probe(directory: str, cache: str, *, queries: bool) -> None:
    """Print the peak of this process in MB, before and after its work: refresh, then some prompts."""
    before = _peak_mb()
    recall = Recall(directory, Path(cache))
    recall.refresh()
    for query in Corpus().queries(50) if queries else ():
        recall.query(query.text)
    recall.close()
    print(before, _peak_mb())


def _peak_mb() -> float:
    """Of this program alone: `ru_maxrss` counts, on Linux, the one that started it too."""
    with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))


# -- report --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Aim:
    """What a figure of some sizes should reach. `path`: where it stands in the report of one size."""

    what: str
    path: tuple[str, ...]
    limit: float
    unit: str
    at_most: bool = True
    sizes: Callable[[int], bool] = lambda _: True

    def met(self, value: float) -> bool:
        """Whether the figure reaches it."""
        return value <= self.limit if self.at_most else value >= self.limit


AIMS = (
    Aim("warm query", ("rows", "warm query", "ratio"), 1.5, "x stat pass"),
    Aim("ranking", ("rows", "ranking", "p50_ms"), 2, "ms", sizes=lambda size: size == 1_000),
    Aim("ranking", ("rows", "ranking", "p50_ms"), 10, "ms", sizes=lambda size: size == 50_000),
    Aim("hit@5 English", ("hits", "ranking", "by_lang", "en"), 0.9, "", at_most=False),
    Aim("hit@5 Chinese", ("hits", "ranking", "by_lang", "zh"), 0.9, "", at_most=False),
    Aim("first index", ("rows", "first index", "ratio"), 3, "x reading", sizes=lambda size: size == 10_000),
    Aim("re-check", ("rows", "re-check", "ratio"), 1.3, "x stat pass", sizes=lambda size: size >= 10_000),
)


def verdicts(sizes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each aim beside the figure, at each size that it is for."""
    found = list[dict[str, Any]]()
    for aim in AIMS:
        for figures in sizes:
            if aim.sizes(figures["files"]):
                value: Any = figures
                for key in aim.path:
                    value = value.get(key, {})
                if value != {}:  # the smallest corpora have no Chinese prompts
                    bound = f"{'at most' if aim.at_most else 'at least'} {aim.limit:g} {aim.unit}".strip()
                    row = {"what": aim.what, "files": figures["files"], "aim": bound}
                    found.append({**row, "value": value, "met": aim.met(value)})
    return found


def measure(sizes: Sequence[int], *, seed: int, rounds: int) -> dict[str, Any]:
    """All figures. The memories are in a temporary directory, to which each size adds what it has more."""
    corpus, report = Corpus(seed), list[dict[str, Any]]()
    queries = corpus.queries(min(sizes))
    with TemporaryDirectory(prefix="scale-") as temporary:
        root = Path(os.path.realpath(temporary))
        directory = root / "memories"
        size = written = 0
        for larger in sorted(set(sizes)):
            written += corpus.write(directory, larger, start=size)
            size = larger
            place = Place(str(directory), root / str(size))
            place.scratch.mkdir()
            report.append({"text_mb": written / 1e6, **measure_size(place, queries, rounds=rounds)})
            shutil.rmtree(place.scratch)
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "system": platform.platform(),
            "cpus": os.cpu_count(),
            "python": platform.python_version(),
            "load": os.getloadavg(),
        },
        "seed": seed,
        "queries": len(queries),
        "sizes": report,
        "aims": verdicts(report),
    }


def table(report: Mapping[str, Any]) -> str:
    """The report for people: a column a size."""
    sizes, machine = report["sizes"], report["machine"]
    system = f"{machine['system']}, {machine['cpus']} processors, load {machine['load'][0]:.1f}"
    lines = [
        f"{system}, Python {machine['python']}; {report['queries']} prompts, seed {report['seed']}",
        "p50 / p95 in ms, and how many times the yardstick",
        "",
        f"{'files':18}" + "".join(f"{figures['files']:>28,}" for figures in sizes),
    ]

    def row(name: str, cell: Callable[[Mapping[str, Any]], str]) -> None:
        lines.append(f"{name:18}" + "".join(f"{cell(figures):>28}" for figures in sizes))

    for name in sizes[0]["rows"]:
        row(name, lambda figures, name=name: _timed(figures["rows"][name]))  # type: ignore[misc]
    row("first process", lambda figures: f"{figures['first_process_ms']:.0f} ms")
    for lang in ("en", "zh"):
        for how in ("ranking", "selection"):
            row(f"hit@5 {lang} {how}", lambda f, h=how, g=lang: _share(f["hits"][h]["by_lang"].get(g)))  # type: ignore[misc]
    for what in ("query", "first index"):
        row(f"peak, {what}", lambda f, w=what: _memory(f["memory_mb"][w]))  # type: ignore[misc]
    row("index on disk", lambda f: f"{f['index_mb']:.1f} MB of {f['text_mb']:.1f}")
    lines += ["", "aims"]
    for aim in report["aims"]:
        met = "met" if aim["met"] else "missed"
        lines.append(
            f"  {met:7} {aim['what']:15} {aim['files']:>7,} files  {aim['value']:8.2f}  {aim['aim']}"
        )
    return "\n".join(lines)


def _timed(figures: Mapping[str, float]) -> str:
    ratio = f"{figures['ratio']:7.2f}x" if "ratio" in figures else " " * 8
    return f"{figures['p50_ms']:.1f} / {figures['p95_ms']:.1f}{ratio}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _memory(figures: Mapping[str, float]) -> str:
    return f"{figures['peak']:.0f} MB ({figures['before']:.0f} before)"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description="Measure recall by size.")
    sizes = ",".join(map(str, SIZES))
    parser.add_argument("--sizes", default=sizes, help=f"numbers of files ({sizes})")
    parser.add_argument("--seed", type=int, default=7, help="of the memories and prompts (7)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"of each row, at most ({ROUNDS})")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    wanted = [int(size) for size in options.sizes.split(",")]
    report = measure(wanted, seed=options.seed, rounds=options.rounds)
    print(json.dumps(report, ensure_ascii=False) if options.json else table(report))


if __name__ == "__main__":
    main()
