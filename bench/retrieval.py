"""Public conversations with known evidence -> how much of it is among the first five, beside baselines.

    python -m bench.retrieval [--data DIR] [--only NAME] [--json]

`DIR` holds `locomo/locomo10.json` (https://github.com/snap-research/LoCoMo, CC BY-NC 4.0) or
`realmem/*.json` (https://github.com/AvatarMemory/RealMemBench, Apache-2.0) or both; the Chinese memories come
with the bench.

    set                   memories                  questions, and what answers them
    locomo sessions       what a session said       categories 1 to 4: the sessions of the evidence
    locomo observations   one line observed in it   those of them whose evidence was observed
    realmem               one extracted line        turns marked as queries: the lines that the answer used
    chinese               one line                  in Chinese and in English: the one line

Time passes: a question is put to the memories that are older than it. Those of one session are written a
second apart, sessions at least two hours apart. `recall@5` is the mean share of the evidence among the first
five, `hit@5` how often any of it is there, `mrr` the mean of 1 / the place of the first piece among them.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import anyio

from memdir.memory import topic
from memdir.memory.index import Index, Term
from memdir.memory.word_lists import STOP_WORDS
from memdir.memory.words import stem, weight, words
from memdir.model.embedding.sentence_encoder import SentenceEncoder, is_installed
from memdir.recall.meaning import Meaning
from memdir.recall.order import in_order

ENCODER = SentenceEncoder()
CHINESE = Path(__file__).parent / "data" / "recall" / "chinese.json"
FIRST = 5
APART = 2 * 3600
"""Seconds between the memories of two sessions, at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Something to be found. `written`: seconds since 1970."""

    description: str
    body: str = ""
    written: float

    @property
    def text(self) -> str:
        """All it says."""
        return f"{self.description}\n{self.body}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`evidence`: places of the memories that answer it, all of them among the first `known`, which are those
    that are older than it."""

    text: str
    evidence: frozenset[int]
    known: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """The memories of one person or pair, oldest first, and the questions in the order they were asked."""

    memories: Sequence[Memory]
    questions: Sequence[Question]


class Ranker(Protocol):
    """What is measured. It is given the memories as they come, and asked in between."""

    def add(self, memories: Sequence[Memory]) -> None:
        """More memories; the first one of all has the place 0."""
        ...

    def rank(self, question: str) -> Sequence[int]:
        """Places of the memories that bear on it, best first."""
        ...


# -- the sets ------------------------------------------------------------------------------------------------


def read_sets(folder: Path | None) -> dict[str, list[Life]]:
    """The sets that are there, by name."""
    sets: dict[str, list[Life]] = {}
    locomo = folder / "locomo" / "locomo10.json" if folder else None
    personas = sorted((folder / "realmem").glob("*.json")) if folder else []
    if locomo is not None and locomo.exists():
        conversations = _json(locomo)
        sets["locomo sessions"] = [_locomo(one, _said) for one in conversations]
        sets["locomo observations"] = [_locomo(one, _observed) for one in conversations]
    if personas:
        sets["realmem"] = [_persona(_json(path)["dialogues"]) for path in personas]
    if CHINESE.exists():
        sets["chinese"] = [_chinese(_json(CHINESE))]
    return sets


_KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
"""The fifth, adversarial, asks for what was never said."""

Turn = tuple[int, int]
Found = tuple[str, str, Sequence[Turn]]  # description, body, the turns that it comes from


def _locomo(conversation: Mapping[str, Any], memories_of: Callable[[Any, int], Iterable[Found]]) -> Life:
    memories: list[Memory] = []
    sources: dict[Turn, set[int]] = defaultdict(set)
    clock = Clock()
    for session in _sessions(conversation):
        clock.sit_down(_when(conversation, session), "%I:%M %p on %d %B, %Y")
        for description, body, turns in memories_of(conversation, session):
            for turn in turns:
                sources[turn].add(len(memories))
            memories.append(Memory(description=description, body=body, written=clock.tick()))
    questions = [
        Question(text=row["question"], evidence=evidence, known=len(memories), kind=_KINDS[row["category"]])
        for row in conversation["qa"]
        if row["category"] in _KINDS
        and (evidence := frozenset().union(*(sources[turn] for turn in _turns(row["evidence"]))))
    ]
    return Life(memories=memories, questions=questions)


def _said(conversation: Mapping[str, Any], session: int) -> Iterable[Found]:
    """The whole session as one memory."""
    turns = conversation["conversation"][f"session_{session}"]
    pictures = [f" [{turn['blip_caption']}]" if turn.get("blip_caption") else "" for turn in turns]
    lines = [
        f"{turn['speaker']}: {turn['text']}{picture}" for turn, picture in zip(turns, pictures, strict=True)
    ]
    yield _when(conversation, session), "\n".join(lines), _turns(turn["dia_id"] for turn in turns)


def _observed(conversation: Mapping[str, Any], session: int) -> Iterable[Found]:
    """Each line that was observed in the session."""
    by_speaker = conversation["observation"].get(f"session_{session}_observation", {})
    for rows in by_speaker.values():
        for line, evidence in rows:
            yield line, "", _turns([evidence] if isinstance(evidence, str) else evidence)


def _sessions(conversation: Mapping[str, Any]) -> list[int]:
    found = (re.fullmatch(r"session_(\d+)", key) for key in conversation["conversation"])
    numbers = sorted(int(match[1]) for match in found if match)
    return [number for number in numbers if conversation["conversation"][f"session_{number}"]]


def _when(conversation: Mapping[str, Any], session: int) -> str:
    return str(conversation["conversation"][f"session_{session}_date_time"])


def _turns(evidence: Iterable[str]) -> list[Turn]:
    """`D8:6; D9:17`, `D:11:26`, `D30:05` -> session and turn of each."""
    return [
        (int(session), int(turn))
        for text in evidence
        for session, turn in re.findall(r"D:?(\d+):(\d+)", text)
    ]


def _persona(sessions: Sequence[Mapping[str, Any]]) -> Life:
    memories: list[Memory] = []
    places: dict[tuple[str, str], set[int]] = defaultdict(set)
    questions: list[Question] = []
    clock = Clock()
    for session in sessions:
        for asked, answer in pairwise(session["dialogue_turns"]):
            if not asked["is_query"]:
                continue
            used = (places[row["session_uuid"], row["content"]] for row in answer["memory_used"])
            if evidence := frozenset().union(*used):
                question = Question(
                    text=asked["content"], evidence=evidence, known=len(memories), kind=asked["category_name"]
                )
                questions.append(question)
        clock.sit_down(session["current_time"].split()[0], "%Y-%m-%d")
        for row in session["extracted_memory"]:
            places[row["session_uuid"], row["content"]].add(len(memories))
            memories.append(Memory(description=row["content"], written=clock.tick()))
    return Life(memories=memories, questions=questions)


def _chinese(data: Mapping[str, Any]) -> Life:
    places = {row["id"]: at for at, row in enumerate(data["memories"])}
    memories = [Memory(description=row["text"], written=0.0) for row in data["memories"]]
    questions = [
        Question(
            text=row["query"],
            evidence=frozenset(places[key] for key in row["gold"]),
            known=len(memories),
            kind=row["lang"],
        )
        for row in data["queries"]
    ]
    return Life(memories=memories, questions=questions)


class Clock:
    """When memories were written: session after session, even where the data has their days out of order."""

    def __init__(self) -> None:
        self._now = 0.0

    def sit_down(self, when: str, form: str) -> None:
        """A session begins."""
        said = datetime.strptime(when, form).replace(tzinfo=UTC).timestamp()
        self._now = max(self._now + APART, said)

    def tick(self) -> float:
        """The time of the next memory, a second later."""
        self._now += 1
        return self._now


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


# -- memdir --------------------------------------------------------------------------------------------------


class Memdir:
    """A memory directory, written file by file, and its index. All that is memdir's own is in `rank`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._index = Index(str(folder), cache=None, clock=time.time_ns)
        self._count = 0

    def add(self, memories: Sequence[Memory]) -> None:
        """One topic file each, changed last when it was written."""
        for memory in memories:
            path = self._folder / f"m{self._count}.md"
            text = topic.render(
                name=path.stem, description=memory.description, type="project", body=memory.body
            )
            path.write_text(text, encoding="utf-8")
            os.utime(path, (memory.written, memory.written))
            self._count += 1
        self._index.refresh()

    def rank(self, question: str) -> Sequence[int]:
        """The order in which memories are looked at."""
        terms = [Term(word, weight=weight(word)) for word in dict.fromkeys(words(question))]
        scores = {hit.file: hit.score for hit in self._index.rank(terms)}
        ranked = in_order(scores, self._index.moments(), near=self._near(question))
        return [int(file[1:-3]) for file, _ in ranked]

    def _near(self, _question: str) -> Mapping[str, float]:
        return {}


class Semantic(Memdir):
    """The same with the sentence encoder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._meaning = Meaning(self._index, ENCODER, folder)

    def _near(self, question: str) -> Mapping[str, float]:
        async def look() -> Mapping[str, float]:
            await self._meaning.take_in()
            return await self._meaning.nearness(question)

        return anyio.run(look)


# -- baselines -----------------------------------------------------------------------------------------------


class FullText:
    """SQLite FTS5 as it comes, `porter`: any word of the question that is no stop word."""

    def __init__(self) -> None:
        self._database = sqlite3.connect(":memory:")
        self._database.execute("create virtual table memories using fts5(text, tokenize='porter')")

    def add(self, memories: Sequence[Memory]) -> None:
        """One row each."""
        rows = [(memory.text,) for memory in memories]
        self._database.executemany("insert into memories (text) values (?)", rows)

    def rank(self, question: str) -> Sequence[int]:
        """By `bm25`."""
        asked = sorted(set(re.findall(r"\w+", question.lower())) - STOP_WORDS)
        if not asked:
            return []
        statement = (
            f"select rowid - 1 from memories where memories match ? order by bm25(memories), 1 limit {FIRST}"
        )
        return [row[0] for row in self._database.execute(statement, [" OR ".join(f'"{w}"' for w in asked)])]


class Plain:
    """BM25 as in the books (k1 1.5, b 0.75): stemmed English words, Chinese characters and their pairs."""

    def __init__(self) -> None:
        self._counts: list[Counter[str]] = []
        self._standing: Counter[str] = Counter()
        self._length = 0

    def add(self, memories: Sequence[Memory]) -> None:
        """Count their words."""
        for memory in memories:
            counts = Counter(self._words(memory.text))
            self._counts.append(counts)
            self._standing.update(counts.keys())
            self._length += counts.total()

    def rank(self, question: str) -> Sequence[int]:
        """By BM25."""
        size, asked = len(self._counts), set(self._words(question))
        scores: dict[int, float] = {}
        for place, counts in enumerate(self._counts):
            slack = 1.5 * (0.25 + 0.75 * counts.total() * size / self._length)
            for word in asked & counts.keys():
                rarity = math.log(1 + (size - self._standing[word] + 0.5) / (self._standing[word] + 0.5))
                share = rarity * counts[word] / (counts[word] + slack)
                scores[place] = scores.get(place, 0.0) + share
        return sorted(scores, key=lambda place: (-scores[place], place))

    @staticmethod
    def _words(text: str) -> list[str]:
        runs = re.findall(r"[a-z0-9']+|[\u3400-\u9fff]+", text.lower())
        latin = [stem(run) for run in runs if run.isascii() and run not in STOP_WORDS]
        han = [run for run in runs if not run.isascii()]
        return (
            latin + [char for run in han for char in run] + [a + b for run in han for a, b in pairwise(run)]
        )


class Newest:
    """The memories that were written last, whatever is asked."""

    def __init__(self) -> None:
        self._size = 0

    def add(self, memories: Sequence[Memory]) -> None:
        """Count them."""
        self._size += len(memories)

    def rank(self, question: str) -> Sequence[int]:  # noqa: ARG002 - it does not matter
        """Latest first."""
        return range(self._size - 1, -1, -1)


RANKERS: Mapping[str, Callable[[Path], Ranker]] = {
    "memdir": Memdir,
    **({"memdir[semantic]": Semantic} if is_installed() else {}),
    "plain bm25": lambda _: Plain(),
    "fts5 porter": lambda _: FullText(),
    "newest": lambda _: Newest(),
}
"""Name -> a ranker for one life; it may write into an empty folder."""


# -- report --------------------------------------------------------------------------------------------------


def measure(lives: Sequence[Life], ranker: Callable[[Path], Ranker]) -> dict[str, Any]:
    """The figures of one ranker on one set."""
    questions: list[Question] = []
    answers: list[Sequence[int]] = []
    started = time.perf_counter()
    for life in lives:
        with TemporaryDirectory() as scratch:
            answers += ask(life, ranker(Path(scratch)))
        questions += life.questions
    taken = time.perf_counter() - started
    kinds = sorted({question.kind for question in questions})
    rows = list(zip(questions, answers, strict=True))
    figures = summary(rows)
    figures["by_kind"] = {kind: summary([row for row in rows if row[0].kind == kind]) for kind in kinds}
    return figures | {"seconds": round(taken, 2)}


def ask(life: Life, ranker: Ranker) -> list[Sequence[int]]:
    """The first five for each question, with the memories that there were then."""
    answers: list[Sequence[int]] = []
    given = 0
    for question in life.questions:
        if question.known > given:
            ranker.add(life.memories[given : question.known])
            given = question.known
        answers.append(list(ranker.rank(question.text))[:FIRST])
    return answers


def summary(rows: Sequence[tuple[Question, Sequence[int]]]) -> dict[str, Any]:
    """The figures of some questions and their answers."""
    found = [[place in question.evidence for place in answer] for question, answer in rows]
    recall = [sum(hits) / len(question.evidence) for hits, (question, _) in zip(found, rows, strict=True)]
    return {
        "questions": len(rows),
        "recall@5": round(fmean(recall), 4),
        "hit@5": round(fmean(any(hits) for hits in found), 4),
        "mrr": round(fmean(1 / (1 + hits.index(True)) if any(hits) else 0.0 for hits in found), 4),
    }


def table(report: Mapping[str, Mapping[str, Any]]) -> str:
    """The report for people."""
    measures = ["recall@5", "hit@5", "mrr"]
    blocks = []
    for name, rankers in report.items():
        kinds = next(iter(rankers.values()))["by_kind"]
        counted = ", ".join(f"{figures['questions']} {kind}" for kind, figures in kinds.items())
        columns = "".join(f"{column:>10}" for column in [*measures, "seconds"])
        lines = [f"{name}: {counted}", f"{'':14}{columns}   recall@5 by kind"]
        for ranker, figures in rankers.items():
            cells = "".join(f"{figures[measure]:10.3f}" for measure in measures)
            by_kind = "  ".join(f"{one['recall@5']:.3f}" for one in figures["by_kind"].values())
            lines.append(f"{ranker:14}{cells}{figures['seconds']:10.1f}   {by_kind}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.retrieval", description="Measure retrieval on public conversations."
    )
    parser.add_argument(
        "--data", type=Path, help="folder with locomo/ and realmem/; else only the Chinese set"
    )
    parser.add_argument("--only", action="append", help="name of a set; may be given more than once")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    sets = read_sets(options.data)
    chosen = {name: lives for name, lives in sets.items() if not options.only or name in options.only}
    report = {
        name: {ranker: measure(lives, make) for ranker, make in RANKERS.items()}
        for name, lives in chosen.items()
    }
    print(json.dumps(report, ensure_ascii=False) if options.json else table(report))


if __name__ == "__main__":
    main()
