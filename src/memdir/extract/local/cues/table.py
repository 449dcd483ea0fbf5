"""Phrases, one a line, become one compiled pattern for each cue.

How a phrase is written:

    from now on        these words, whole words only (in Chinese and Japanese: these characters)
    ^use               only at the start of the sentence or of a clause
    ^^why              only at the start of the sentence; fillers may stand before it ("ok so why")
    ^^ignore$          only when nothing follows in the sentence
    keep … like that   up to forty characters may stand at the …
    root cause#        a note for readers may follow a `#`

Matching ignores case. Nothing else is special, so a phrase can never make matching slow.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

GAP = 40


class Cue(StrEnum):
    """What a phrase tells about the sentence it stands in."""

    STANDING = "standing"  # the sentence names itself a rule: from now on, by default
    CASE = "case"  # for which cases a rule holds: when you, if it is, 遇到
    ELSEWHERE = "elsewhere"  # to be written down, but in the repository rather than in memory
    DURABLE = "durable"  # words of lasting validity that also stand in plain descriptions: always, never
    DIRECTIVE = "directive"  # it tells the agent what to do
    REASON = "reason"  # it gives a reason
    APPROVAL = "approval"  # it agrees with what was just done
    CONTINUE = "continue"  # go on like that
    CORRECTION = "correction"  # it refuses what was just done
    ROLE = "role"  # who the person is, what they know
    PREFERENCE = "preference"  # what the person likes or cannot use
    PREFERS = "prefers"  # the plainest words of preference
    PEOPLE = "people"  # it is said what it does to people
    FIRST = "first"  # I, we, our
    TEAM = "team"  # a group speaks
    DECISION = "decision"  # something was settled
    DECIDED = "decided"  # the sentence says itself that something was settled
    COMMITMENT = "commitment"  # the things that have dates: launch, freeze, audit
    INCIDENT = "incident"  # something broke
    PLACE = "place"  # lives in, is documented at
    OUTSIDE = "outside"  # nouns of outside systems: wiki, dashboard, channel
    OWNER = "owner"  # who is asked about it
    CHANGE = "change"  # an earlier value no longer holds
    REMEMBER = "remember"  # the explicit wish
    FORGET = "forget"  # the explicit wish
    NOTE = "note"  # words for a stored memory, beside a forget word
    EXPLICIT = "explicit"  # a forget word that needs no word for memories beside it
    RETRACT = "retract"  # takes back what was said before
    LIMITED = "limited"  # only for this task, or only for now
    HYPOTHETICAL = "hypothetical"  # it is not so
    HEDGE = "hedge"  # it may not be so
    SARCASM = "sarcasm"  # it is not meant
    QUOTED = "quoted"  # somebody else says so
    PASTE = "paste"  # what follows the colon was copied from elsewhere
    QUESTION = "question"  # it asks
    TASK = "task"  # it orders one piece of work
    FILLER = "filler"  # an opening without meaning, dropped from titles
    PAST = "past"  # it happened already
    OLD = "old"  # tells an old thing from a new one
    NEW = "new"
    BACK = "back"  # a wish that points at the sentence before it: save that
    PRACTICE = "practice"  # how a group works
    SECRET = "secret"  # noqa: S105  words beside which a value is probably a secret
    KNOWN = "known"  # the person says that it is known already
    POINTS = "points"  # that one, this one
    INDEFINITE = "indefinite"  # "remember something": what it is comes next
    CONNECTIVE = "connective"  # stands between a rule and its reason
    DUE = "due"  # found by shape: by, until, before a date
    ALL = "all"  # a retraction or a forgetting of more than one thing
    URL = "url"  # found by shape, in every language: an address
    DATED = "dated"  # found by shape: a day or a period
    RECURRING = "recurring"  # found by shape: every second Tuesday, 每周三
    AHEAD = "ahead"  # found by shape: a day at least two days away
    LONG = "long"  # found by shape: a long sentence
    CODE = "code"  # found by shape: file names, quoted code
    STATEMENT = "statement"  # found by shape: a sentence of some length that neither asks nor orders
    NAMED = "named"  # found by shape: a proper name or a code name


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The compiled cues of one language."""

    language: str
    patterns: Mapping[Cue, re.Pattern[str]]

    def found(self, text: str) -> frozenset[Cue]:
        """The cues that occur in a sentence."""
        return frozenset(cue for cue, pattern in self.patterns.items() if pattern.search(text))


def table(language: str, phrases: Mapping[Cue, str], *, spaced: bool = True) -> Table:
    """Compile the phrases of a language; `spaced` = words are separated by spaces."""
    fillers = "|".join(_phrase(filler, spaced=spaced) for filler in lines(phrases.get(Cue.FILLER, "")))
    opening = rf"\A\W{{0,3}}(?:(?:{fillers})\W{{1,4}}){{0,3}}" if fillers else r"\A\W{0,3}"
    return Table(
        language=language,
        patterns={cue: _pattern(lines(text), opening, spaced=spaced) for cue, text in phrases.items()},
    )


def lines(text: str) -> list[str]:
    """The phrases of one block, notes removed, longest first so that the longest one matches."""
    phrases = [line.split("#", 1)[0].strip() for line in text.splitlines()]
    return sorted(filter(None, phrases), key=len, reverse=True)


_CLAUSE = r"(?:\A|[,;:.!?()\n，；：。！？（、—–]\s*|\s[-–—]\s)"


def _pattern(phrases: list[str], opening: str, *, spaced: bool) -> re.Pattern[str]:
    starts: dict[str, list[str]] = {"": [], _CLAUSE: [], opening: []}
    for phrase in phrases:
        start = opening if phrase.startswith("^^") else _CLAUSE if phrase.startswith("^") else ""
        starts[start].append(_phrase(phrase.lstrip("^"), spaced=spaced))
    branches = [f"{start}(?:{'|'.join(found)})" for start, found in starts.items() if found]
    return re.compile("|".join(branches) if branches else r"(?!)", re.IGNORECASE)


def _phrase(phrase: str, *, spaced: bool) -> str:
    parts = [re.sub(r"\\? +", r"\\s+", re.escape(p.strip())) for p in phrase.split("…")]
    joined = f".{{0,{GAP}}}?".join(parts)
    if phrase.endswith("$"):
        return joined[:-2] + r"\W*\Z"
    if not spaced:
        return joined
    start = r"(?<!\w)" if phrase[:1].isalnum() else ""
    end = r"(?!\w)" if phrase[-1:].isalnum() else ""
    return f"{start}{joined}{end}"
