"""The phrases of one language become one compiled pattern for each cue.

A language is a text file beside this module: `[cue]` opens a section, a `|` or a new line separates
phrases, a line that starts with `# ` is a note. A phrase is written so:

    from now on        these words, whole words only (in Chinese and Japanese: these characters)
    ^use               only at the start of the sentence or of a clause
    ^^why              only at the start of the sentence; fillers may stand before it ("ok so why")
    ignore$            only when nothing follows in the sentence
    keep … like that   up to forty characters may stand at the …

Matching ignores case. Nothing else is special, so that no phrase can make matching slow.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

GAP = 40


class Cue(StrEnum):
    """What a phrase, or the shape of a sentence, tells about it."""

    # rules and wishes about work
    STANDING = "standing"  # the sentence calls itself a rule: from now on, by default
    CASE = "case"  # the cases for which a rule holds: when you …, if a …
    DURABLE = "durable"  # lasting validity, in rules as in plain descriptions: always, never
    DIRECTIVE = "directive"  # it tells the agent what to do
    PROHIBIT = "prohibit"  # and what not to do
    REASON = "reason"  # it gives a reason
    CONNECTIVE = "connective"  # stands between a rule and its reason
    APPROVAL = "approval"  # it agrees with what was just done
    CONTINUE = "continue"  # go on like that
    CORRECTION = "correction"  # it refuses what was just done
    TAKES = "takes"  # it takes over the command that was just run or shown
    EMITS = "emits"  # something of a machine's output
    HARMLESS = "harmless"  # which means nothing
    IGNORE = "ignore"  # and is not to be told
    PRACTICE = "practice"  # how a group works
    TEAM = "team"  # a group speaks
    # the person
    ROLE = "role"  # who they are, what they know
    PREFERENCE = "preference"  # what they like or cannot use
    PREFERS = "prefers"  # the plainest words for it
    FIRST = "first"  # I, we, our
    # the project
    DECISION = "decision"  # something may have been settled
    DECIDED = "decided"  # something was settled, in so many words
    COMMITMENT = "commitment"  # what has a date: launch, freeze, audit
    MAY = "may"  # somebody is allowed something
    GRANTS = "grants"  # by the person
    YOU = "you"  # it is the agent who is
    INCIDENT = "incident"  # something broke
    ORGANISATION = "organisation"  # customers, contracts, teams: what no repository shows
    PEOPLE = "people"  # whom it concerns
    CHANGE = "change"  # an earlier value no longer holds
    PAST = "past"  # it happened already
    # where things are
    PLACE = "place"  # lives in, is documented at
    OUTSIDE = "outside"  # outside systems: wiki, dashboard, channel
    OWNER = "owner"  # who is asked about it
    # remembering and forgetting
    REMEMBER = "remember"  # the explicit wish
    INDEFINITE = "indefinite"  # "remember something": what it is comes next
    BACK = "back"  # a wish about the sentence before it: save that
    ELSEWHERE = "elsewhere"  # to be written down, but in the repository
    FORGET = "forget"  # the explicit wish
    EXPLICIT = "explicit"  # a forget word that needs no word for memories beside it
    NOTE = "note"  # a word for stored memories
    POINTS = "points"  # that one, there
    OLD = "old"  # tells an old thing from a new one
    NEW = "new"
    # what speaks against
    RETRACT = "retract"  # takes back what was said before
    ALL = "all"  # more than one thing is taken back
    LIMITED = "limited"  # only for this task, or only for now
    HYPOTHETICAL = "hypothetical"  # it is not so
    HEDGE = "hedge"  # it may not be so
    SARCASM = "sarcasm"  # it is not meant
    QUOTED = "quoted"  # somebody else says so
    REPORTED = "reported"  # and what they say is an order or a rule (speech.py)
    KNOWN = "known"  # the person says that it is known already
    QUESTION = "question"  # it asks
    TASK = "task"  # it orders one piece of work
    MACHINERY = "machinery"  # errors, tests, branches: what the task at hand is made of
    # for reading the text
    PASTE = "paste"  # before a colon: what follows was copied from elsewhere
    FILLER = "filler"  # an opening without meaning
    SECRET = "secret"  # noqa: S105  words beside which a value is probably a secret
    # found by shape, in every language (shapes.py)
    URL = "url"  # an address
    NAMED = "named"  # a proper name or a code name
    DATED = "dated"  # a day or a period
    AHEAD = "ahead"  # one at least two days away
    DUE = "due"  # by, until, before it
    RECURRING = "recurring"  # every second Tuesday
    STATEMENT = "statement"  # a sentence of some length that neither asks nor orders
    LONG = "long"  # a long one
    TINY = "tiny"  # hardly a sentence
    LENGTHY = "lengthy"  # a very long one
    COMMAS = "commas"  # several clauses
    CODE = "code"  # code, a path, an identifier
    FIGURE = "figure"  # a number
    LOUD = "loud"  # it ends in an exclamation mark
    # found by place (place.py)
    OPENS = "opens"  # of the first thing the person says in the talk
    REPLIES = "replies"  # of an answer to what the assistant asked
    ECHO = "echo"  # half of its words were just said by the assistant or a tool
    ALONE = "alone"  # the only sentence of its turn
    LEADS = "leads"  # the first of several
    CLOSES = "closes"  # the last of several
    UNREAL = "unreal"  # of a turn after one that was not meant, or only supposed
    TERSE = "terse"  # of a turn of few words
    AMPLE = "ample"  # of a turn of many
    # found by comparison (proposals.py)
    TOPIC = "topic"  # it speaks of a known memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The compiled cues of one language."""

    language: str
    patterns: Mapping[Cue, re.Pattern[str]]

    def found(self, text: str) -> frozenset[Cue]:
        """The cues that occur in a sentence."""
        return frozenset(cue for cue, pattern in self.patterns.items() if pattern.search(text))


def table(language: str, text: str, *, spaced: bool) -> Table:
    """Compile the text file of a language; `spaced` = words are separated by spaces."""
    phrases = sections(text)
    fillers = "|".join(_phrase(filler, spaced=spaced) for filler in phrases.get(Cue.FILLER, []))
    opening = rf"\A\W{{0,3}}(?:(?:{fillers})\W{{1,4}}){{0,3}}" if fillers else r"\A\W{0,3}"
    patterns = {cue: _pattern(found, opening, spaced=spaced) for cue, found in phrases.items()}
    return Table(language=language, patterns=patterns)


def sections(text: str) -> dict[Cue, list[str]]:
    """The phrases of each section, longest first so that the longest one matches.

    Raises:
        ValueError: a section is not named after a cue.
    """
    phrases: dict[Cue, list[str]] = {}
    cue: Cue | None = None
    for line in text.splitlines():
        if line.startswith("[") and line.endswith("]"):
            cue = Cue(line[1:-1])
        elif cue and line.strip() and not line.startswith("# "):
            phrases.setdefault(cue, []).extend(part.strip() for part in line.split("|") if part.strip())
    return {cue: sorted(found, key=len, reverse=True) for cue, found in phrases.items()}


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
    gap = f".{{0,{GAP}}}?"
    joined = (rf"(?!\w){gap}" if spaced else gap).join(parts)
    if phrase.endswith("$"):
        return joined[:-2] + r"\W*\Z"
    if not spaced:
        return joined
    start = r"(?<!\w)" if phrase[:1].isalnum() else ""
    end = r"(?!\w)" if phrase[-1:].isalnum() else ""
    return f"{start}{joined}{end}"
