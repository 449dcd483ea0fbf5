"""Memories that were put in order -> what they say that none said before, and is it borne out? (E11) Pure.

Whoever merges and shortens memories writes sentences that nobody wrote. Most of their words stand in one or
two sentences of a memory, or of the person; an order that somebody slipped in has its words from everywhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import nlargest

from memdir.memory.pointer import entry
from memdir.trust.carries import carriers
from memdir.trust.evidence import Evidence
from memdir.trust.hidden import visible
from memdir.trust.judging import instructs, negations
from memdir.trust.permits import permissions
from memdir.trust.sources import addresses, sentences
from memdir.trust.statements import Statement, file_name, is_index, plain, statements
from memdir.trust.terms import (
    Term,
    folded,
    keys,
    loosened,
    meaning_of,
    meanings,
    squashed,
    terms,
    without_dates,
)

NEAREST = 8
"""So many sentences are compared with a new one."""
MOST_PLACES = 400
"""A word that stands in more sentences finds no more."""
RULE, RULE_OF_TWO = 0.7, 0.85
"""The share of an order's words that has to stand in one sentence, or in two of them together."""
FACT, FACT_OF_TWO = 0.34, 0.5
"""The same for what is no order."""
MOST_SPOKEN = 400
"""Of what was said so many sentences are looked at."""
SAYS_MUCH = 2.0
"""The weight of words from which on a sentence needs a source."""


# ---------------------------------------------------------------------------------- what was said before


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence that stands somewhere, by its words."""

    text: str
    keys: frozenset[str]
    meanings: frozenset[str]

    @classmethod
    def of(cls, text: str) -> _Sentence:
        return cls(text, frozenset(keys(text)), meanings(text))

    def covers(self, words: Iterable[Term]) -> set[str]:
        """The keys of those words that it has in some form."""
        return {
            term.key
            for term in words
            if term.key in self.keys
            or loosened(term.key) in self.keys
            or not (term.cjk or self.meanings.isdisjoint(meaning_of(term.key, term.shown)))
        }


class Known:
    """Sentences that stand in memories, or that the person said; ready to be asked about a new one.

    Each has the names of its places: the files it stands in, or the turn in which it was said.
    """

    def __init__(self, found: Iterable[tuple[str, str]]) -> None:
        places: dict[str, set[str]] = {}
        for text, place in found:
            places.setdefault(text, set()).add(place)
        self.texts = list(places)
        self._places = places
        self._read: dict[int, _Sentence] = {}

    @cached_property
    def words(self) -> Mapping[str, Sequence[int]]:
        """Each word, and the numbers of the sentences that have it."""
        found: dict[str, list[int]] = {}
        for at, text in enumerate(self.texts):
            for key in keys(text):
                found.setdefault(key, []).append(at)
        return found

    def nearest(self, text: str) -> list[_Sentence]:
        """The sentences that share most with a text, the nearest first; rare words count for more."""
        shared: Counter[int] = Counter()
        for key in keys(without_dates(text)):
            found = self.words.get(key, ())
            weight = max(1, round(100 / (1 + len(found))))
            for at in found[:MOST_PLACES]:
                shared[at] += 100 + weight
        return [self._sentence(at) for at, _ in shared.most_common(NEAREST)]

    def _sentence(self, at: int) -> _Sentence:
        if at not in self._read:
            self._read[at] = _Sentence.of(self.texts[at])
        return self._read[at]

    def bears_out(self, text: str, *, order: bool, together: Collection[str] = ()) -> bool:
        """Whether enough of a text stands in one sentence, or in two of one place; of an order none of it
        turned around, and what it permits permitted. `together`: places that count as one, being merged.
        """
        one, two = (RULE, RULE_OF_TWO) if order else (FACT, FACT_OF_TWO)
        mine = {term.key: term for term in terms(without_dates(text))}
        size = sum(term.weight for term in mine.values())
        if not size:
            return True
        if any(term.cjk for term in mine.values()):
            one, two = one * 0.7, two * 0.7  # half of the pairs of letters are no words
        near = self.nearest(text)
        covers = [(old.covers(mine.values()), self._at(old, together)) for old in near]
        shares = [sum(mine[key].weight for key in cover) for cover, _ in covers]
        shares += [
            sum(mine[key].weight for key in cover | other) * one / two
            for at, (cover, place) in enumerate(covers)
            for other, there in covers[at + 1 :]
            if place & there
        ]
        if max(shares, default=0) < one * size - 1e-9:
            return False
        for speaks in (permissions, _TO_AGENTS.search) if order else ():
            if speaks(text) and not any(speaks(old.text) for old in near):
                return False
        return not order or not _is_turned(text, near)

    def _at(self, sentence: _Sentence, together: Collection[str]) -> set[str]:
        places = self._places[sentence.text]
        return places | {""} if places.intersection(together) else places

    def alike(self, text: str) -> list[tuple[str, float]]:
        """Sentences that share words with a text, dates apart, and the share of its words that each has."""
        mine = {term.key: term for term in terms(without_dates(text))}
        size = sum(term.weight for term in mine.values())
        if not size:
            return []
        shares = [
            (old.text, sum(mine[key].weight for key in old.covers(mine.values())) / size)
            for old in self.nearest(text)
        ]
        return sorted(shares, key=lambda one: -one[1])


def _is_turned(text: str, near: Sequence[_Sentence]) -> bool:
    """Whether a clause says no where the clauses likest to it say yes, or the other way round."""
    old = [
        (words, _says_no(clause)) for one in near for clause in clauses(one.text) if (words := keys(clause))
    ]
    for clause in clauses(text):
        found = [term for term in terms(clause) if not term.figure]
        mine = {term.key: term.weight for term in found}
        enough = 0.35 if any(term.cjk for term in found) else 0.6
        size, no = sum(mine.values()), _says_no(clause)
        shares = [(sum(mine[key] for key in mine if key in words), said_no) for words, said_no in old]
        most = max((share for share, _ in shares), default=0)
        alike = [said_no == no for share, said_no in shares if share >= most - 0.05]
        if size and most > enough * size and not any(alike):
            return True
    return False


def clauses(text: str) -> list[str]:
    """The parts of a sentence, each of which says yes or no to something."""
    return [part for part in _CLAUSES.split(text) if part and part.strip()]


def _says_no(clause: str) -> bool:
    return (negations(clause) + bool(_RATHER.match(clause))) % 2 == 1


_CLAUSES = re.compile(
    r"[.!?,，、。；;：:()（）!？！]\s*|\s[-–—]\s|\s(?:and|but|und|aber|sondern|y|pero|sino|et|mais)\s"
    r"|\s(?=(?:instead of|rather than|anstatt|anstelle|statt|en vez de|en lugar de|plutôt que|au lieu de)\s)"
    r"|(?=而不|而非|ではなく)",
    re.IGNORECASE,
)
_RATHER = re.compile(
    r"\s*(?:instead of|rather than|anstatt|anstelle|statt|en vez de|en lugar de|plutôt que|au lieu de)\b",
    re.IGNORECASE,
)


# ---------------------------------------------------------------------------------- what is new


def sentences_of(file: str, text: str) -> list[Statement]:
    """All that a file says; of the index each title and hook by itself."""
    if not is_index(file):
        return statements(file, text)
    found: list[Statement] = []
    for line in text.splitlines():
        pointer = entry(line)
        if pointer is None:
            found += [Statement(one.text, line, "index") for one in statements(file, line)]
            continue
        for part in (pointer.title, pointer.hook):
            found += [Statement(one.text, line, "index") for one in statements(file, plain(part))]
    return found


def fresh(file: str, text: str, *, lines: frozenset[str], new: bool) -> list[Statement]:
    """What a file says that stands in none of these lines."""
    found = [one for one in sentences_of(file, text) if one.raw.strip() not in lines and one.mark]
    return [file_name(file), *found] if new and not is_index(file) else found


def is_order(text: str) -> bool:
    """Whether a sentence tells somebody to do something, speaks to an agent, or permits something."""
    return instructs(text) or bool(_ORDER.search(text)) or addresses(text) or bool(permissions(text))


_ORDER = re.compile(
    r"\A\W*(?:please |bitte |por favor )?(?:delete|remove|drop|ignore|disregard|forget|disable|enable"
    r"|transfer|e?-?mail|share|allow|approve|push|merge|deploy|commit|execute|download|open|forward|tell"
    r"|reply|answer|trust"
    r"|bypass|bring|give|grant|ask|request|notify|invite|move|mark|treat|assume|pretend|reveal|print|export|override|fetch|click|visit"
    r"|lösch\w*|ignorier\w*|vergiss|deaktivier\w*|sende|schicke?|verschicke?|nutze?|verwende?|benutze?|führe|gib"
    r"|borra|elimina|ignora|olvida|desactiva|envía|usa|ejecuta|supprim\w*|ignor\w*|oublie\w*|envoie\w*|utilis\w*)\b"
    r"|\A\W*(?:忽略|删除|发送|使用|执行|禁用|上传|转发|无视|無視|削除|送信|実行)|(?:すること|せよ|しろ)\W*\Z",
    re.IGNORECASE,
)


_TO_AGENTS = re.compile(
    r"\b(?:ais?|a\.i\.|llms?|agents?|assistants?|chatbots?|ki|agenten|assistenten|agentes?|asistentes?)\b"
    r"|助手|智能体|大模型|アシスタント|エージェント|ассистент|агент|어시스턴트|에이전트",
    re.IGNORECASE,
)


def names_all(statement: Statement, known: str) -> bool:
    """Whether all that a statement carries stands in the texts of memories (folded)."""
    return all(folded(one.text).strip() in known for one in carriers(visible(statement.raw)) if one.dangerous)


@dataclass(frozen=True, slots=True)
class Question:
    """A new statement that the memories do not bear out. `is_order`: it tells somebody to do something;
    `known`: the share of its words that stand in a memory; `near`: what the memories say most like it.
    """

    file: str
    statement: Statement
    is_order: bool
    known: float
    near: tuple[str, ...]


def questions(
    written: Mapping[str, str],
    *,
    sources: Mapping[str, str],
    vouched: Mapping[str, str],
    origins: Mapping[str, Collection[str]],
) -> Iterator[Question]:
    """What is said in files that were written anew, and that no memory bears out.

    `sources`: the memories as they were; `vouched`: texts by which the index alone is judged, too; `origins`:
    the files of which each was made, if it is not the file itself.
    """
    lines = frozenset(line.strip() for text in sources.values() for line in text.splitlines())
    asked = {
        file: found
        for file, text in written.items()
        if (found := fresh(file, text, lines=lines, new=file not in sources))
    }
    if not asked:
        return
    known, texts = _known(sources), folded("\n".join(sources.values()))
    marks = frozenset(map(squashed, known.texts))
    of_index: Known | None = None
    for file, found in asked.items():
        sides = [known]
        if is_index(file):
            sides.append(of_index := of_index or _known(vouched))
        for one in found:
            if one.mark in marks:
                continue
            order = is_order(one.text)
            pointer = entry(one.raw) if is_index(file) else None
            together = {pointer.file} if pointer else {file, *origins.get(file, ())}
            if names_all(one, texts) and _is_borne_out(one, order, sides, together):
                continue
            near = tuple(old.text for old in known.nearest(one.text))
            yield Question(file, one, order, _share_known(one.text, known), near)


def _known(texts: Mapping[str, str]) -> Known:
    said = [(one.text, file) for file, text in texts.items() for one in sentences_of(file, text)]
    return Known([*said, *((file_name(file).text, file) for file in texts)])


def _is_borne_out(one: Statement, order: bool, known: Sequence[Known], together: Collection[str]) -> bool:
    if not order and (one.part in ("name", "file") or not says_much(one.text)):
        return True
    return any(some.bears_out(one.text, order=order, together=together) for some in known)


def _share_known(text: str, known: Known) -> float:
    """The share of a text's words that stand in some memory."""
    found = terms(without_dates(text))
    size = sum(term.weight for term in found)
    there = sum(
        term.weight for term in found if term.key in known.words or (loosened(term.key) or "") in known.words
    )
    return there / size if size else 1.0


def says_much(text: str) -> bool:
    """Whether a sentence has so many words that somebody should have said it."""
    return sum(term.weight for term in terms(without_dates(text))) >= SAYS_MUCH


# ---------------------------------------------------------------------------------- what was said since


def bearing_on(asked: Sequence[Question], evidence: Evidence) -> Evidence:
    """The evidence, of the person's words only what has to do with the questions, and the memories nearest to
    them as the person's: a memory may say what a memory said.
    """
    wanted = {key for one in asked for key in keys(without_dates(one.statement.text))}
    near = tuple(dict.fromkeys(text for one in asked for text in one.near))
    return replace(
        evidence,
        person=(*near, *_bearing(evidence.person, wanted)),
        agreed=_bearing(evidence.agreed, wanted),
    )


def _bearing(texts: Iterable[str], wanted: set[str]) -> tuple[str, ...]:
    """The sentences with most of the wanted words, each with those of its text."""
    found = [
        (len(wanted & words), number, one)
        for number, text in enumerate(texts)
        for one in sentences(text)
        if len(wanted & (words := keys(one))) >= min(2, len(words)) > 0
    ]
    kept: dict[int, list[str]] = {}
    for _, number, one in sorted(nlargest(MOST_SPOKEN, found), key=lambda one: one[1]):
        kept.setdefault(number, []).append(one)
    return tuple("\n".join(some) for some in kept.values())


def spoken(evidence: Evidence) -> Known:
    """What was told that may become a memory."""
    return Known((one.text, str(one.turn)) for one in evidence.said.spoken if one.told)
