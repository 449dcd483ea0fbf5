"""A prompt and memories -> the few that bear on it, by words alone, and why each was chosen or not (R5, R9).

The selector that needs no model. The score of a memory is the share of the prompt that it speaks of, 0 to
about 1: each word of the prompt weighs by how rare it is in the directory, and counts by where in the memory
it stands. Returning nothing is the normal answer: what does not bear on the work costs more than it brings.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from memdir.memory.rank import Corpus, Document, Term, similarity
from memdir.memory.scan import scan
from memdir.memory.words import weight, words
from memdir.recall.candidates import Memory, load
from memdir.recall.vocabulary import AGENT_TOOLS, relatives

THRESHOLD = 0.2
"""The least score that makes a memory worth a reader's time."""

BEHIND = 0.4
"""What the others must reach of the best one's score."""

LEAST, MOST = 12.0, 25.0
"""A prompt is held to say at least, and at most, so much (in weight × rarity; a rare word has about 3.7): one
common word is not yet a reason, and in a pasted log the few telling words decide."""

TOOL = 0.5
"""What the name of a tool in use weighs beside the words of the prompt."""

ACCIDENT = 0.3
"""What two Chinese characters weigh that stand together in no memory."""

ALIKE, TRACE = 0.15, 0.2
"""A memory takes an outdated one's place if their titles are so similar, and it has so much of its score."""

KNOWN = "in the conversation already"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of one memory, and why (R10). `words`: what it shares with the prompt, weightiest first."""

    file: str
    score: float
    chosen: bool
    why: str
    words: Mapping[str, float] = field(default_factory=dict)


def select_local(
    directory: Path | str,
    query: str,
    *,
    recent_tools: Collection[str] = (),
    mention_agent: str | None = None,
    limit: int = 5,
    now: datetime,
) -> list[str]:
    """The memories of `directory` that bear on the prompt, best first, as paths relative to it; mostly none.

    `recent_tools`: tools and programs used just now. `mention_agent`: the agent type that the prompt
    addresses: only a directory of that type's own counts then (R3). `now`: an aware datetime; of two memories
    that bear on the prompt alike, the younger one comes first.
    """
    root = Path(directory)
    if mention_agent is not None and root.name != mention_agent:
        return []
    memories = load(root, scan(root, limit=None), now=now)
    verdicts = judge(query, memories, recent_tools=recent_tools, limit=limit)
    return [verdict.file for verdict in verdicts if verdict.chosen]


def judge(
    query: str,
    memories: Sequence[Memory],
    *,
    known: Collection[str] = (),
    recent_tools: Collection[str] = (),
    limit: int = 5,
    corpus: Corpus | None = None,
) -> list[Verdict]:
    """All memories that share words with the prompt, best first; at most `limit` of them chosen.

    `known`: files that the conversation has seen; they are not chosen, and take no place from others (R4).
    `corpus`: their words, if they were counted before.
    """
    return cut(weigh(query, memories, known=known, recent_tools=recent_tools, corpus=corpus), limit=limit)


def weigh(
    query: str,
    memories: Sequence[Memory],
    *,
    known: Collection[str] = (),
    recent_tools: Collection[str] = (),
    corpus: Corpus | None = None,
) -> list[Verdict]:
    """All that share words with the prompt, best first; chosen are those that nothing speaks against yet."""
    by_file = {memory.file: memory for memory in memories}
    tools = {tool.casefold() for tool in recent_tools} - AGENT_TOOLS
    corpus = corpus or Corpus([document(memory) for memory in memories])
    verdicts = _unless_outdated(_score(query, corpus, tools), by_file)
    verdicts = [_unless_in_use(verdict, by_file[verdict.file], tools) for verdict in verdicts]
    verdicts = [replace(v, chosen=False, why=KNOWN) if v.file in known else v for v in verdicts]
    return sorted(verdicts, key=lambda v: (-v.score, by_file[v.file].age, v.file))


def _score(query: str, corpus: Corpus, tools: Collection[str]) -> list[Verdict]:
    terms = [
        Term(word=word, weight=weight(word), kin=relatives().get(word, frozenset()))
        for word in dict.fromkeys(words(query))
    ]
    said = sum(_says(term, corpus) for term in terms)
    beside = {word for tool in tools for word in words(tool)} - {term.word for term in terms}
    terms += [Term(word=word, weight=TOOL) for word in sorted(beside)]
    share = 1 / min(max(said, LEAST), MOST)
    return [
        Verdict(file=found.key, score=found.score * share, chosen=True, why="", words=found.matched)
        for found in corpus.rank(terms)
    ]


def _says(term: Term, corpus: Corpus) -> float:
    """What the term adds to what the prompt says. Two Chinese characters that stand together nowhere else are
    most likely no word, but the end of one and the beginning of the next."""
    accident = len(term.word) == 2 and term.word >= "\u3400" and not term.kin and term.word not in corpus
    return term.weight * corpus.rarity(term.word) * (ACCIDENT if accident else 1.0)


def document(memory: Memory) -> Document:
    """The memory as something to be found by its words."""
    fields = {
        "name": f"{memory.stem} {memory.name}",
        "description": memory.description,
        "headings": memory.headings,
        "body": memory.body,
    }
    return Document(key=memory.file, fields=fields)


_MANUAL = re.compile(
    r"\b(usage|cheat[ -]?sheet|commands?|command line|how to (call|use|run)|calls|tasks|options)\b"
    r"|用法|命令|使い方",
    re.IGNORECASE,
)
_WARNING = re.compile(
    r"\b(never|careful|caution|warnings?|traps?|gotchas?|pitfalls?|trouble|beware|bugs?|issues?|problems?)\b"
    r"|坑|教训|注意|小心|問題|问题|落とし穴",
    re.IGNORECASE,
)


def _unless_in_use(verdict: Verdict, memory: Memory, tools: Collection[str]) -> Verdict:
    """How to call a tool that is being called right now is left out; warnings about it stay (R5)."""
    if memory.type == "feedback" or not _MANUAL.search(memory.title) or _WARNING.search(memory.title):
        return verdict
    spoken = set(re.findall(r"[\w-]+", f"{memory.title} {memory.body}".casefold()))
    tool = next((tool for tool in sorted(tools) if tool in spoken), None)
    return replace(verdict, chosen=False, why=f"how to use {tool}, which is in use") if tool else verdict


_OUTDATED = re.compile(
    r"\b(supersed\w+|replace[ds] (this|it|by|with)|obsolete|deprecated|retired|out of use|switched off"
    r"|no longer (used|read|valid|works?)|gave it up|only valid (up to|until)|kept only"
    r"|nothing new (may|should) use|not use (it |this )?for anything new)\b"
    r"|停用|废弃|取代|作废|不再(使)?用|只作历史|已下线|廃止|使わない|非推奨",
    re.IGNORECASE,
)


def _unless_outdated(verdicts: Sequence[Verdict], memories: Mapping[str, Memory]) -> list[Verdict]:
    """A memory that says that it is past gives its place to the one that took over, if that one is there."""
    kept = {verdict.file: verdict for verdict in verdicts}
    outdated = [v for v in verdicts if _OUTDATED.search(memories[v.file].body)]
    current = [v for v in verdicts if v not in outdated]
    for old in outdated:
        if heir := _heir(old, current, memories):
            kept[old.file] = replace(old, chosen=False, why=f"outdated: {heir} took its place")
            kept[heir] = replace(kept[heir], score=max(kept[heir].score, old.score))
    return list(kept.values())


def _heir(old: Verdict, current: Sequence[Verdict], memories: Mapping[str, Memory]) -> str | None:
    """The memory that the outdated one names, else the one whose title is most like its own."""
    memory = memories[old.file]
    if named := [v.file for v in current if v.file in memory.body]:
        return named[0]
    likeness = {
        v.file: similarity(memory.title, memories[v.file].title)
        for v in current
        if v.score >= TRACE * old.score
    }
    heir = max(likeness, key=likeness.__getitem__, default=None)
    return heir if heir is not None and likeness[heir] >= ALIKE else None


def cut(
    verdicts: Sequence[Verdict], *, limit: int = 5, threshold: float = THRESHOLD, behind: float = BEHIND
) -> list[Verdict]:
    """The same verdicts, where those that score too little are not chosen, nor those past the limit (R9)."""
    best = max((v.score for v in verdicts if v.chosen), default=0.0)
    judged: list[Verdict] = []
    taken = 0
    for verdict in verdicts:
        if not verdict.chosen:
            judged.append(verdict)
            continue
        why = _too_little(verdict.score, best, threshold, behind)
        why = why or ("others bear on it more" if taken >= limit else "")
        taken += not why
        judged.append(replace(verdict, chosen=not why, why=why or "bears on the prompt"))
    return judged


def _too_little(score: float, best: float, threshold: float, behind: float) -> str:
    if score < threshold:
        return f"too little in common: {score:.2f} of {threshold:.2f}"
    return "far behind the best" if score < behind * best else ""
