"""A prompt and the index of a directory -> the few memories that bear on it, by words, and why (R5, R9).

The selector that needs no model. The score of a memory is the share of the prompt that it speaks of, 0 to
about 1: each word of the prompt weighs by how rare it is in the directory and where in the prompt it stands,
and counts by where in the memory it stands. Returning nothing is the normal answer: what does not bear on the
work costs more than it brings.

The constants were fitted by `bench.calibrate` on prompts by several people. Near its optimum the score is
flat; of settings that do about as well, the more silent one was taken.

Imports little: it runs at every prompt.
"""

from __future__ import annotations

import math

from memdir.memory.index import Term
from memdir.memory.rank import SMALLEST, rarity
from memdir.memory.traits import OUTDATED
from memdir.memory.words import weight, words
from memdir.recall.emphasis import emphasis
from memdir.recall.objections import out_of_reach, programs, successor, tool_in_use
from memdir.recall.routine import is_routine
from memdir.recall.verdict import Verdict
from memdir.recall.vocabulary import relatives

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from memdir.memory.index import Hit, Index, Known

THRESHOLD = 0.2
"""The least score that makes a memory worth a reader's time."""

BEHIND = 0.6
"""What the others must reach of the best one's score."""

LEAST, MOST = 2.2, 5.4
"""A prompt is held to say at least, and at most, as much as so many words that stand in one memory only: one
common word is not yet a reason, and of a long prompt nobody expects that a memory answers all."""

TELLING, LONE = 0.2, 0.8
"""A word tells if it adds so much of what a word that stands in one memory only can. Of a memory that shares
no two telling words with the prompt, the score counts so much: one word is often used in another sense."""

LARGE = 200
"""Memories from which on a word that stands in one of them only is no rarer for that."""

CROWD = 0.2
"""How much less a score counts with each tenfold of the memories: among more of them, more fit by chance."""

ROUTINE = 0.65
"""What of its score a memory keeps where the prompt is routine."""

TOOL = 1.0
"""What the name of a tool in use weighs beside the words of the prompt."""

ACCIDENT = 0.3
"""What two Chinese characters weigh that stand together in no memory."""

TRACE = 0.2
"""A memory takes an outdated one's place only if it has so much of its score."""

DAY = 86_400 * 10**9
"""Nanoseconds. Of two memories that score the same, the one that is fewer days old comes first."""

NEAR, MIDDLE = 0.015, 1.0
"""With sentence vectors: what a memory gains or loses for each standard deviation of the directory's cosines
by which it is nearer to the prompt than MIDDLE deviations above their mean."""

NEW = 1 / 3
"""What of its score a memory must have from words that the session has not used before."""

LONGEST = 20_000
"""Characters of a prompt that are looked at."""

DEPTH = 48
"""Memories that are judged, beside those that are known: no more than a few of them can be chosen."""

KNOWN = "in the conversation already"


def judge(
    query: str,
    index: Index,
    *,
    known: Collection[str] = (),
    recent_tools: Collection[str] = (),
    earlier: Collection[str] = (),
    near: Mapping[str, float] | None = None,
    use: Mapping[str, float] | None = None,
    limit: int = 5,
    now: datetime,
) -> list[Verdict]:
    """All memories that share words with the prompt, best first; at most `limit` of them chosen.

    `known`: files that the conversation has seen; they are not chosen, and take no place from others (R4).
    `earlier`: the words of the session's prompts before this one: memories are chosen on new matter only.
    `near`: the cosines of sentence vectors with the prompt's, for the files that have one (extra `semantic`).
    `use`: what past use says of files: so much of its score a memory gains or loses.
    """
    verdicts = weigh(
        query,
        index,
        known=known,
        recent_tools=recent_tools,
        earlier=earlier,
        near=near,
        use=use,
        now=now,
    )
    return cut(verdicts, limit=limit)


def weigh(
    query: str,
    index: Index,
    *,
    known: Collection[str] = (),
    recent_tools: Collection[str] = (),
    earlier: Collection[str] = (),
    near: Mapping[str, float] | None = None,
    use: Mapping[str, float] | None = None,
    now: datetime,
) -> list[Verdict]:
    """All that share words with the prompt, best first; chosen are those that nothing speaks against yet."""
    tools = programs(recent_tools)
    terms, most = asked(query, index, tools)
    telling = TELLING * _rarest(index.size)
    expected = most * _crowd(index.size)
    bonus = _bonus(near or {})
    worth = ROUTINE if is_routine(query) else 1.0
    own = set(words(_ends(query)))
    ranked = index.rank(terms, depth=DEPTH + len(known))
    hits = {hit.file: hit for hit in ranked if not own.isdisjoint(hit.words)}  # a tool in use is no matter
    scores = {
        file: worth
        * (1 + (use or {}).get(file, 0.0))
        * max(0.0, _strength(hit, telling) / expected + bonus.get(file, 0.0))
        for file, hit in hits.items()
    }
    verdicts = [
        Verdict(file=file, score=scores[file], chosen=True, why="", words=hit.words)
        for file, hit in hits.items()
    ]
    memories = {file: hit.memory for file, hit in hits.items()}
    verdicts = _unless_outdated(verdicts, memories)
    verdicts = [_unless_in_use(verdict, memories[verdict.file], tools) for verdict in verdicts]
    verdicts = [_unless_known(verdict, known, earlier) for verdict in verdicts]
    moment = int(now.timestamp()) * 10**9
    days = {file: max(0, moment - memory.modified) // DAY for file, memory in memories.items()}
    return sorted(verdicts, key=lambda one: (-one.score, days[one.file], one.file))


def asked(query: str, index: Index, tools: Collection[str] = ()) -> tuple[list[Term], float]:
    """The words of a prompt as terms, and how much it says in all: what a memory that says it too scores."""
    own = emphasis(_ends(query))
    kin = relatives()
    terms = [
        Term(word, weight=counts * weight(word), kin=kin.get(word, frozenset()))
        for word, counts in own.items()
    ]
    standing, size = index.standing(own), index.size
    said = sum(_says(term, standing.get(term.word, 0), size) for term in terms)
    beside = {word for tool in tools for word in words(tool)} - own.keys()
    terms += [Term(word, weight=TOOL) for word in sorted(beside)]
    rarest = _rarest(size)
    return terms, min(max(said, LEAST * rarest), MOST * rarest)


def _ends(prompt: str) -> str:
    """The beginning and the end of a prompt that is too long to be looked at whole."""
    half = LONGEST // 2
    return prompt if len(prompt) <= LONGEST else f"{prompt[:half]}\n{prompt[-half:]}"


def _rarest(size: int) -> float:
    """What a word adds that stands in one memory only. In a large directory the words of a subject stand in
    many memories, however well they fit: there it is measured as in one of `LARGE`."""
    return rarity(1, min(size, LARGE))


def _crowd(size: int) -> float:
    return 1 + CROWD * math.log10(max(size, SMALLEST) / SMALLEST)


def _strength(hit: Hit, telling: float) -> float:
    """What the memory shares with the prompt; less if that is hardly more than one word."""
    second = sorted(hit.words.values(), reverse=True)[1:2]
    return hit.score if second and second[0] >= telling else LONE * hit.score


def _says(term: Term, standing: int, size: int) -> float:
    """What the term adds to what the prompt says. Two Chinese characters that stand together nowhere else are
    most likely no word, but the end of one and the beginning of the next."""
    accident = len(term.word) == 2 and term.word >= "\u3400" and not term.kin and not standing
    return term.weight * rarity(standing, size) * (ACCIDENT if accident else 1.0)


def _bonus(near: Mapping[str, float]) -> dict[str, float]:
    """What nearness in meaning adds to a score, or takes. It never brings in what shares no word."""
    if len(near) < 2:
        return {}
    mean = sum(near.values()) / len(near)
    spread = math.sqrt(sum((cosine - mean) ** 2 for cosine in near.values()) / len(near)) or 1.0
    return {file: NEAR * ((cosine - mean) / spread - MIDDLE) for file, cosine in near.items()}


def _unless_known(verdict: Verdict, known: Collection[str], earlier: Collection[str]) -> Verdict:
    """What the conversation has seen, or what its subject would have brought before, is left out."""
    if verdict.file in known:
        return verdict.left_out(KNOWN)
    if out_of_reach(verdict.file):
        return verdict.left_out("its name is out of reach: rename it")
    new = sum(share for word, share in verdict.words.items() if word not in earlier)
    if earlier and new < NEW * sum(verdict.words.values()):
        return verdict.left_out("nothing new: the session has been on this before")
    return verdict


def _unless_outdated(verdicts: Sequence[Verdict], memories: Mapping[str, Known]) -> list[Verdict]:
    """A memory that says that it is past gives its place to the one that took over, if that one is there."""
    kept = {verdict.file: verdict for verdict in verdicts}
    for old in verdicts:
        if not memories[old.file].traits & OUTDATED:
            continue
        others = [memories[one.file] for one in verdicts if one.score >= TRACE * old.score]
        if heir := successor(memories[old.file], others):
            kept[old.file] = old.left_out(f"outdated: {heir.file} took its place")
            kept[heir.file] = kept[heir.file].scored(max(kept[heir.file].score, old.score))
    return list(kept.values())


def _unless_in_use(verdict: Verdict, memory: Known, tools: Collection[str]) -> Verdict:
    """How to call a tool that is being called right now is left out; warnings about it stay (R5)."""
    tool = tool_in_use(memory, tools, verdict.words)
    return verdict.left_out(f"how to use {tool}, which is in use") if tool else verdict


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
        judged.append(verdict.left_out(why) if why else verdict.chosen_for("bears on the prompt"))
    return judged


def _too_little(score: float, best: float, threshold: float, behind: float) -> str:
    if score < threshold:
        return f"too little in common: {score:.2f} of {threshold:.2f}"
    return "far behind the best" if score < behind * best else ""
